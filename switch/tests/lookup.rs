//! The control-plane operations of a P4Runtime server, on the bottleneck program.

use crate::common::*;
use narrows_common::{Packet, Time};
use narrows_queueing::QueueLimit;
use narrows_switch::{Engine, LookUps, Match, Switch, TableEntry};

fn route(prefix: &str, length: u32) -> TableEntry {
    let matches = [("hdr.ipv4.dst_addr", Match::Lpm(prefix.into(), length))];
    TableEntry { priority: 0, ..entry("ipv4_lpm", matches, "", []) }
}

#[test]
fn one_entry_is_found_by_its_matches() {
    let switch = bottleneck(None, QueueLimit::Packets(1));
    // The bits below the prefix are ignored; so is the priority in an LPM table.
    let (found, _) = switch.find_entry(&route("0x0a0002ff", 24)).unwrap().unwrap();
    assert_eq!(found.table, "NarrowsIngress.forward.ipv4_lpm");
    assert_eq!(found.action, "NarrowsIngress.forward.route");
    assert_eq!(found.params["port"], "0x2");
    assert_eq!(found.matches["hdr.ipv4.dst_addr"], Match::Lpm("0xa000200".into(), 24));
    assert_eq!(switch.find_entry(&route("0x0a000200", 25)).unwrap(), None);
    let error = switch.find_entry(&route("0x0a000200", 33)).unwrap_err();
    assert!(error.to_string().contains("hdr.ipv4.dst_addr"), "{error}");
}

/// The flow number in the ledger for two packets of the client, one after the other.
fn flow_found(switch: &mut Switch) -> u32 {
    let flows = [1, 2].map(|sequence| {
        switch.handle_packet(Time::ZERO, 1, packet(100, sequence).into());
        switch.queue_records().pop().map(|record| record.flow)
    });
    assert_eq!(flows[0], flows[1]);
    flows[0].expect("a row")
}

#[test]
fn a_key_that_was_looked_for_finds_the_entries_of_now() {
    let mut switch = bottleneck(None, QueueLimit::Packets(1));
    let hashed = flow_found(&mut switch);
    assert_eq!(hashed >> 31, 1, "no entry names it: a hash does, with its top bit set");
    flow(&mut switch);
    assert_eq!(flow_found(&mut switch), 1);
    let from_client = [("hdr.ipv4.src_addr", Match::Exact("0x0a000101".into()))];
    let before_it = entry("flow", from_client, "set_flow", [("flow_id", "2")]);
    let before_it = TableEntry { priority: 2, ..before_it };
    switch.insert_entry(&before_it).unwrap();
    assert_eq!(flow_found(&mut switch), 2);
    let changed = TableEntry { params: strings([("flow_id", "3")]), ..before_it };
    switch.modify_entry(&changed).unwrap();
    assert_eq!(flow_found(&mut switch), 3);
    switch.delete_entry(&changed).unwrap();
    assert_eq!(flow_found(&mut switch), 1);
}

/// As many entries as machine code's look-up cache grows for, twice.
#[test]
fn each_of_many_entries_is_found_after_more_are_added() {
    let mut switch = bottleneck(None, QueueLimit::Packets(1));
    let found = |switch: &mut Switch, port: u16| {
        let mut bytes = frame(100, 1);
        bytes[34..36].copy_from_slice(&port.to_be_bytes());
        switch.handle_packet(Time::ZERO, 1, Packet::from_bytes(&bytes).into());
        switch.queue_records().pop().map(|record| record.flow)
    };
    for ports in [1..=300u16, 301..=900] {
        for port in ports.clone() {
            let from_port = [("src_port", Match::Exact(port.to_string()))];
            let number = port.to_string();
            let flow = entry("flow", from_port, "set_flow", [("flow_id", number.as_str())]);
            switch.insert_entry(&flow).expect("a flow");
        }
        for port in (1..=*ports.end()).chain(1..=*ports.end()) {
            assert_eq!(found(&mut switch, port), Some(port.into()));
        }
        assert_eq!(found(&mut switch, 1000).map(|hash| hash >> 31), Some(1), "no entry");
    }
}

#[test]
fn machine_code_notes_where_the_look_ups_of_a_flow_end() {
    let noted = |engine: Engine| {
        let mut switch = bottleneck_on(engine, None, QueueLimit::Packets(1));
        flow(&mut switch);
        [5001u16, 5001, 5002].map(|port| {
            let mut bytes = frame(100, 1);
            bytes[34..36].copy_from_slice(&port.to_be_bytes());
            switch.handle_packet(Time::ZERO, 1, Packet::from_bytes(&bytes).into());
            switch.look_ups()
        })
    };
    let [first, again, other] = noted(Engine::Native);
    first.prefetch();
    assert_ne!(first, LookUps::default());
    assert_eq!(first, again);
    assert_ne!(first, other);
    assert_eq!(noted(Engine::Interpreter), [LookUps::default(); 3]);
}

#[test]
fn a_default_action_becomes_the_programs_again() {
    let mut switch = bottleneck(None, QueueLimit::Packets(1));
    let programs = switch.default_action("ipv4_lpm").unwrap();
    let route = narrows_switch::DefaultAction {
        table: "ipv4_lpm".into(),
        action: "route".into(),
        params: strings([("port", "1"), ("src_mac", "2"), ("dst_mac", "3")]),
    };
    switch.set_default_action(&route).unwrap();
    assert_ne!(switch.default_action("ipv4_lpm").unwrap(), programs);
    switch.reset_default_action("ipv4_lpm").unwrap();
    assert_eq!(switch.default_action("ipv4_lpm").unwrap(), programs);
}

#[test]
fn cells_are_read_in_ranges_within_the_array() {
    let mut switch = bottleneck(None, QueueLimit::Packets(1));
    switch.write_register("delay_count", 3, "0xfedcba9876543210").unwrap();
    let read = switch.read_registers("delay_count", 2, 3).unwrap();
    assert_eq!(read, ["0x0", "0xfedcba9876543210", "0x0"]);
    assert_eq!(switch.read_registers("delay_count", 0, 512).unwrap().len(), 512);
    for (first, count) in [(0, 513), (512, 1), (u64::MAX, 2)] {
        let error = switch.read_registers("delay_count", first, count).unwrap_err();
        assert!(error.to_string().contains("expected below 512"), "{error}");
    }
    // The program drops a packet without a route: reason 0 of its 6.
    let mut lost = frame(100, 1);
    lost[32] = 77;
    switch.handle_packet(Time::ZERO, 1, Packet::from_bytes(&lost).into());
    let drops = switch.read_counters("drops", 0, 6).unwrap();
    assert_eq!(drops.iter().map(|count| count.packets).sum::<u64>(), 1);
    assert_eq!(drops.iter().map(|count| count.bytes).sum::<u64>(), 100);
    assert!(switch.read_counters("drops", 0, 7).is_err());
    assert!(switch.read_counters("drops", u64::MAX, 1).is_err());
}

#[test]
fn a_value_set_that_is_not_there_is_named() {
    let mut switch = bottleneck(None, QueueLimit::Packets(1));
    let error = switch.set_value_set("tunnels", &[]).unwrap_err();
    assert_eq!(error.to_string(), "there is no value set 'tunnels'");
}
