//! Action profiles and selectors, idle time-outs and a direct meter (`programs/profiles.p4`).

use crate::common::*;
use narrows_common::{Duration, Packet, Rng, Time, budgets};
use narrows_queueing::QueueLimit;
use narrows_switch::{
    Colour, ControlError, DefaultAction, Match, MeterConfig, ProfileGroup, ProfileMember, Program,
    Switch, SwitchConfig, TableEntry,
};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Instant;

fn switch() -> Switch {
    let program = Program::from_json(include_str!("programs/profiles.json")).unwrap();
    let ports = (1..=9).map(|number| port(number, None, QueueLimit::Packets(0))).collect();
    let config = SwitchConfig { flow_field: None, record_queue: false, ..config(ports) };
    Switch::new(Arc::new(program), config, Rng::from_seed(1)).unwrap()
}

/// The output port and the bytes of a packet with these fields.
fn send(switch: &mut Switch, at: Time, kind: u8, a: u8, b: u16, c: u32) -> Option<(u16, Vec<u8>)> {
    let mut bytes = vec![kind, a];
    bytes.extend(b.to_be_bytes());
    bytes.extend(c.to_be_bytes());
    switch.handle_packet(at, 1, Packet::from_bytes(&bytes).into());
    switch.poll_transmit().map(|sent| (sent.port, sent.packet.to_bytes()))
}

fn member(profile: &str, id: u64, port: &str) -> ProfileMember {
    let (action, params) = ("out_by".into(), strings([("port", port)]));
    ProfileMember { profile: profile.into(), id, action, params }
}

fn choice(table: &str, field: &'static str, value: &str, kind: &str, id: &str) -> TableEntry {
    entry(table, [(field, Match::Exact(value.into()))], kind, [("id", id)])
}

#[test]
fn entries_share_a_member() {
    let mut switch = switch();
    let tag = strings([("port", "3"), ("tag", "0xbeef")]);
    let tagged =
        ProfileMember { action: "tag_and_out".into(), params: tag, ..member("plain", 7, "") };
    switch.insert_member(&member("plain", 5, "2")).unwrap();
    switch.insert_member(&tagged).unwrap();
    switch.insert_entry(&choice("by_member", "hdr.h.a", "1", "$member", "5")).unwrap();
    switch.insert_entry(&choice("by_member", "hdr.h.a", "2", "$member", "5")).unwrap();
    switch.insert_entry(&choice("again", "hdr.h.b", "9", "$member", "7")).unwrap();
    let mut send = |a, b| send(&mut switch, Time::ZERO, 0, a, b, 0);
    assert_eq!(send(1, 0), Some((2, vec![0, 1, 0, 0, 0, 0, 0, 0])));
    assert_eq!(send(2, 0), Some((2, vec![0, 2, 0, 0, 0, 0, 0, 0])));
    // The name of a member's action selects the next node: tag_and_out sets the kind to 0x58.
    assert_eq!(send(3, 9), Some((3, vec![0x58, 3, 0xbe, 0xef, 0, 0, 0, 0])));
    let missed = send(3, 8);
    assert_eq!(missed.map(|(port, _)| port), None, "port 0 does not exist");

    switch.modify_member(&member("plain", 5, "4")).unwrap();
    for a in [1, 2] {
        assert_eq!(self::send(&mut switch, Time::ZERO, 0, a, 0, 0).unwrap().0, 4);
    }
    assert!(matches!(switch.delete_member("plain", 5), Err(ControlError::InUse { .. })));
    switch.delete_entry(&choice("by_member", "hdr.h.a", "1", "$member", "5")).unwrap();
    switch.modify_entry(&choice("by_member", "hdr.h.a", "2", "$member", "7")).unwrap();
    switch.delete_member("plain", 5).unwrap();
    assert_eq!(
        switch.members("plain").unwrap(),
        [ProfileMember {
            profile: "I.plain".into(),
            action: "I.tag_and_out".into(),
            params: strings([("port", "0x3"), ("tag", "0xbeef")]),
            ..tagged
        }]
    );
    assert_eq!(self::send(&mut switch, Time::ZERO, 0, 2, 0, 0).unwrap().0, 3);
}

/// CRC-16/ARC bit by bit (polynomial 0x8005, reflected: 0xa001), like bmv2's crc16.
fn crc16(bytes: &[u8]) -> u64 {
    let mut sum = 0u16;
    for &byte in bytes {
        sum ^= u16::from(byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 { sum >> 1 ^ 0xa001 } else { sum >> 1 };
        }
    }
    u64::from(sum)
}

#[test]
fn a_group_is_chosen_from_by_hash_and_weight() {
    assert_eq!(crc16(b"123456789"), 0xbb3d, "the catalogue's check value");
    let mut switch = switch();
    for (id, port) in [(30, "3"), (10, "1"), (20, "2")] {
        switch.insert_member(&member("chosen", id, port)).unwrap();
    }
    let group = |members: &[(u64, u32)]| ProfileGroup {
        profile: "I.chosen".into(),
        id: 1,
        members: members.to_vec(),
    };
    switch.insert_group(&group(&[])).unwrap();
    switch.insert_entry(&choice("by_group", "hdr.h.a", "6", "$group", "1")).unwrap();
    assert_eq!(send(&mut switch, Time::ZERO, 1, 6, 1, 1), None, "an empty group does nothing");
    // In number order, each as often as its weight.
    let row = [1u16, 2, 2, 2, 3];
    switch.modify_group(&group(&[(30, 1), (20, 3), (10, 1)])).unwrap();
    assert_eq!(switch.groups("chosen").unwrap(), [group(&[(10, 1), (20, 3), (30, 1)])]);
    let mut seen = [0; 4];
    for i in 0..500u32 {
        let (b, c) = (i as u16 * 7, i.wrapping_mul(0x9e37_79b9));
        let mut hashed = b.to_be_bytes().to_vec();
        hashed.extend(c.to_be_bytes());
        let expected = row[(crc16(&hashed) % 5) as usize];
        let (port, bytes) = send(&mut switch, Time::ZERO, 1, 6, b, c).unwrap();
        assert_eq!((port, bytes[0]), (expected, 0x56), "packet {i}; 0x56 follows out_by");
        seen[port as usize] += 1;
    }
    assert!(seen[1..].iter().all(|&count| count > 50), "{seen:?}");
    assert!(matches!(switch.delete_group("chosen", 1), Err(ControlError::InUse { .. })));
    assert!(matches!(switch.delete_member("chosen", 20), Err(ControlError::InUse { .. })));
    // A table with a selector also accepts members.
    switch.modify_entry(&choice("by_group", "hdr.h.a", "6", "$member", "30")).unwrap();
    assert_eq!(send(&mut switch, Time::ZERO, 1, 6, 1, 1).unwrap().0, 3);
    switch.delete_group("chosen", 1).unwrap();
    switch.delete_member("chosen", 20).unwrap();
}

#[test]
fn what_does_not_fit_a_profile_is_refused_by_name() {
    let mut switch = switch();
    let says = |result: Result<(), ControlError>| result.unwrap_err().to_string();
    switch.insert_member(&member("plain", 1, "1")).unwrap();
    assert_eq!(
        says(switch.insert_member(&member("plain", 1, "1"))),
        "member 1 of action profile 'I.plain' exists already"
    );
    assert_eq!(
        says(switch.insert_member(&member("none", 1, "1"))),
        "there is no action profile 'none'"
    );
    assert_eq!(
        says(switch.modify_member(&member("plain", 2, "1"))),
        "there is no member of action profile 'I.plain' '2'"
    );
    let none = ProfileMember { action: "marked".into(), ..member("plain", 2, "1") };
    assert_eq!(
        says(switch.insert_member(&none)),
        "there is no action of action profile 'I.plain' 'marked'"
    );
    for id in 2..=8 {
        switch.insert_member(&member("plain", id, "1")).unwrap();
    }
    assert_eq!(
        says(switch.insert_member(&member("plain", 9, "1"))),
        "action profile 'I.plain': full: its size is 8"
    );
    let group = |profile: &str, members: Vec<(u64, u32)>| ProfileGroup {
        profile: profile.into(),
        id: 1,
        members,
    };
    assert_eq!(
        says(switch.insert_group(&group("plain", vec![]))),
        "there is no action selector 'I.plain'"
    );
    assert_eq!(
        says(switch.insert_group(&group("chosen", vec![(1, 1)]))),
        "there is no member of action profile 'I.chosen' '1'"
    );
    switch.insert_member(&member("chosen", 1, "1")).unwrap();
    assert_eq!(
        says(switch.insert_group(&group("chosen", vec![(1, 65)]))),
        "action profile 'I.chosen': full: its size is 64"
    );
    assert!(says(switch.insert_group(&group("chosen", vec![(1, 0)]))).contains("a weight from 1"));
    assert!(says(switch.insert_group(&group("chosen", vec![(1, 1), (1, 1)]))).contains("once"));
    let absent = choice("by_member", "hdr.h.a", "1", "$member", "77");
    assert_eq!(
        says(switch.insert_entry(&absent)),
        "there is no member of action profile 'I.plain' '77'"
    );
    let direct =
        entry("by_member", [("hdr.h.a", Match::Exact("1".into()))], "out_by", [("port", "1")]);
    assert!(says(switch.insert_entry(&direct)).contains("expected a $member or $group"));
    let default = DefaultAction {
        table: "by_member".into(),
        action: "$member".into(),
        params: strings([("id", "1")]),
    };
    assert!(says(switch.set_default_action(&default)).contains("an action with its parameters"));
    let grouped = choice("by_member", "hdr.h.a", "1", "$group", "1");
    assert!(says(switch.insert_entry(&grouped)).contains("$group"));
}

#[test]
fn an_idle_entry_is_told_once_until_it_is_hit_again() {
    let mut switch = switch();
    let at = |ms: u64| Time::ZERO + Duration::from_ms(ms);
    let row = |a: &str| {
        let all = [("hdr.h.a", Match::Exact(a.into()))];
        TableEntry { priority: 0, ..entry("I.idle", all, "I.out_by", [("port", "0x2")]) }
    };
    for a in ["0x1", "0x2", "0x3"] {
        switch.insert_entry(&row(a)).unwrap();
    }
    switch.set_idle_timeout(at(0), &row("1"), Some(Duration::from_ms(10))).unwrap();
    switch.set_idle_timeout(at(0), &row("2"), Some(Duration::from_ms(10))).unwrap();
    assert_eq!(switch.idle_timeout(&row("3")), Ok(None));
    assert!(send(&mut switch, at(6), 2, 2, 0, 0).is_some());
    assert_eq!(switch.next_expiry(), Some(at(10)));
    assert_eq!(switch.take_expired(at(9)), []);
    assert_eq!(switch.take_expired(at(10)), [row("0x1")]);
    assert_eq!(switch.next_expiry(), Some(at(16)));
    assert_eq!(switch.since_hit(at(15), &row("2")), Ok(Duration::from_ms(9)));
    assert_eq!(switch.take_expired(at(16)), [row("0x2")]);
    assert_eq!((switch.take_expired(at(100)), switch.next_expiry()), (vec![], None));
    assert!(send(&mut switch, at(100), 2, 1, 0, 0).is_some());
    assert_eq!(switch.take_expired(at(110)), [row("0x1")], "once more, since it was hit");
    switch.set_idle_timeout(at(110), &row("2"), None).unwrap();
    switch.delete_entry(&row("1")).unwrap();
    assert_eq!((switch.take_expired(at(1000)), switch.next_expiry()), (vec![], None));
    let other = entry("metered", [("hdr.h.c", Match::Exact("1".into()))], "marked", []);
    let error = switch.set_idle_timeout(at(0), &other, None).unwrap_err();
    assert_eq!(error.to_string(), "there is no idle time-out of table 'I.metered'");
}

/// 1 packet/s with a burst of 2, 2 packets/s with a burst of 3: two packets are green, one yellow,
/// then red. A miss is not metered, and an entry without rates is always green.
#[test]
fn a_direct_meter_colours_the_packets_of_its_entry() {
    let mut switch = switch();
    let row = |c: &str| entry("metered", [("hdr.h.c", Match::Exact(c.into()))], "marked", []);
    switch.insert_entry(&row("1")).unwrap();
    switch.insert_entry(&row("2")).unwrap();
    let rates = MeterConfig::TwoRate { cir: 1, cburst: 2, pir: 2, pburst: 3 };
    switch.configure_entry_meter(Time::ZERO, &row("1"), Some(rates)).unwrap();
    let mut colour = |c| send(&mut switch, Time::ZERO, 3, 0, 0, c).unwrap().1[1];
    let [green, yellow, red] = [Colour::Green, Colour::Yellow, Colour::Red].map(|c| c as u8);
    assert_eq!([1; 5].map(&mut colour), [green, green, yellow, red, red]);
    assert_eq!([2; 5].map(&mut colour), [green; 5]);
    assert!(switch.configure_entry_meter(Time::ZERO, &row("3"), None).is_err());
}

/// The program with tables and profiles of any size, as a hostile one declares.
fn endless() -> Switch {
    let mut root: Value = serde_json::from_str(include_str!("programs/profiles.json")).unwrap();
    // Both profiles have groups.
    let selector = root["pipelines"][0]["action_profiles"][1]["selector"].clone();
    root["pipelines"][0]["action_profiles"][0]["selector"] = selector;
    for pipeline in root["pipelines"].as_array_mut().unwrap() {
        for part in ["tables", "action_profiles"] {
            for object in pipeline[part].as_array_mut().unwrap() {
                object["max_size"] = json!(1u64 << 40);
            }
        }
    }
    let program = Program::from_json(&root.to_string()).unwrap();
    let config = SwitchConfig { flow_field: None, record_queue: false, ..config(vec![]) };
    Switch::new(Arc::new(program), config, Rng::from_seed(1)).unwrap()
}

#[test]
fn a_groups_weight_has_a_limit_whatever_the_program_says() {
    let mut switch = endless();
    switch.insert_member(&member("chosen", 1, "2")).unwrap();
    let group =
        |weight| ProfileGroup { profile: "chosen".into(), id: 1, members: vec![(1, weight)] };
    let refused = switch.insert_group(&group(u32::MAX)).unwrap_err();
    assert!(matches!(refused, ControlError::NoRoom { size: 1_048_576, .. }), "{refused}");
    switch.insert_group(&group(1 << 20)).unwrap();
}

/// A batch of them holds all controllers up; with a visit of every entry it took minutes.
#[test]
fn members_and_groups_go_without_a_visit_of_every_entry() {
    const MANY: u64 = 20_000;
    let mut switch = endless();
    let begin = Instant::now();
    switch.insert_member(&member("plain", 0, "2")).unwrap();
    for id in 1..=MANY {
        switch.insert_member(&member("plain", id, "2")).unwrap();
        switch.insert_member(&member("chosen", id, "2")).unwrap();
        let group = ProfileGroup { profile: "chosen".into(), id, members: vec![(id, 1)] };
        switch.insert_group(&group).unwrap();
        let value = format!("{id}");
        switch.insert_entry(&choice("again", "hdr.h.b", &value, "$member", "0")).unwrap();
    }
    let used = switch.delete_member("plain", 0).unwrap_err();
    assert!(matches!(used, ControlError::InUse { .. }), "{used}");
    let used = switch.delete_member("chosen", 1).unwrap_err();
    assert!(matches!(used, ControlError::InUse { .. }), "{used}");
    for id in 1..=MANY {
        switch.delete_member("plain", id).unwrap();
        switch.delete_group("chosen", id).unwrap();
        switch.delete_member("chosen", id).unwrap();
        let value = format!("{id}");
        switch.delete_entry(&choice("again", "hdr.h.b", &value, "", "0")).unwrap();
    }
    switch.delete_member("plain", 0).unwrap();
    assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
}

#[test]
fn entries_have_a_budget_whatever_the_program_says() {
    const MEMBERS: u64 = 1000;
    let mut switch = endless();
    let mut taken = 0;
    let mut room = Ok(());
    for profile in ["plain", "chosen"] {
        for id in 0..MEMBERS {
            switch.insert_member(&member(profile, id, "2")).unwrap();
        }
        taken += MEMBERS;
        let members: Vec<_> = (0..MEMBERS).map(|id| (id, 1)).collect();
        for id in 0..(1 << 20) / MEMBERS - 1 {
            let group = ProfileGroup { profile: profile.into(), id, members: members.clone() };
            room = switch.insert_group(&group);
            if room.is_err() {
                break;
            }
            taken += MEMBERS + 1;
        }
    }
    let size = budgets::ENTRIES_OF_A_SWITCH;
    assert!((size - MEMBERS..=size).contains(&taken), "{taken}");
    assert!(matches!(room, Err(ControlError::NoRoom { size: most, .. }) if most == size));
    for id in 0..size - taken {
        switch.insert_member(&member("plain", MEMBERS + id, "2")).unwrap();
    }
    let entry = choice("again", "hdr.h.b", "1", "$member", "0");
    let refused = switch.insert_entry(&entry).unwrap_err();
    assert!(matches!(refused, ControlError::NoRoom { .. }), "{refused}");
    switch.delete_group("plain", 1).unwrap();
    switch.insert_entry(&entry).unwrap();
}
