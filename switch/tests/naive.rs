//! Compares range tables and meters with naive models: a comparison of every entry with every key,
//! and RFC 2698 as written.

use crate::common::*;
use narrows_common::{Duration, Packet, Rng, Time};
use narrows_queueing::QueueLimit;
use narrows_switch::{Match, MeterConfig, Program, Switch, SwitchConfig, TableEntry};
use proptest::prelude::*;
use std::sync::{Arc, OnceLock};

fn switch(json: &'static str, program: &OnceLock<Arc<Program>>) -> Switch {
    let program = program.get_or_init(|| Arc::new(Program::from_json(json).unwrap())).clone();
    let ports = [1, 2].map(|number| port(number, None, QueueLimit::Packets(0)));
    let config = SwitchConfig { flow_field: None, record_queue: false, ..config(ports.to_vec()) };
    Switch::new(program, config, Rng::from_seed(1)).unwrap()
}

fn tables() -> Switch {
    static PROGRAM: OnceLock<Arc<Program>> = OnceLock::new();
    switch(include_str!("programs/tables.json"), &PROGRAM)
}

fn externs() -> Switch {
    static PROGRAM: OnceLock<Arc<Program>> = OnceLock::new();
    switch(include_str!("programs/externs.json"), &PROGRAM)
}

/// The result of `by_range` in tables.p4 for a packet.
fn look_up(switch: &mut Switch, a: u8, b: u16, c: u32) -> u16 {
    let mut bytes = vec![4, a];
    bytes.extend(b.to_be_bytes());
    bytes.extend(c.to_be_bytes());
    bytes.extend([0; 18]);
    switch.handle_packet(Time::ZERO, 1, Packet::from_bytes(&bytes).into());
    let sent = switch.poll_transmit().unwrap().packet.to_bytes();
    u16::from_be_bytes([sent[24], sent[25]])
}

#[derive(Clone, Debug)]
struct Row {
    a: (u8, u8),
    b: (u16, u16),
    c: (u32, u32),
}

impl Row {
    fn holds(&self, a: u8, b: u16, c: u32) -> bool {
        self.a.0 <= a
            && a <= self.a.1
            && self.b.0 <= b
            && b <= self.b.1
            && c & self.c.1 == self.c.0 & self.c.1
    }

    fn entry(&self, number: usize) -> TableEntry {
        let range = |from: u32, to: u32| Match::Range(from.to_string(), to.to_string());
        let value = number.to_string();
        let mut entry = entry(
            "by_range",
            [
                ("hdr.h.a", range(self.a.0.into(), self.a.1.into())),
                ("hdr.h.b", range(self.b.0.into(), self.b.1.into())),
                ("hdr.h.c", Match::Ternary(self.c.0.to_string(), self.c.1.to_string())),
            ],
            "say",
            [("value", value.as_str())],
        );
        entry.priority = number as i32;
        entry
    }
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let bounds8 = (0u8..40, 0u8..40).prop_map(|(a, b)| (a.min(b), a.max(b)));
    let bounds16 = (0u16..40, prop_oneof![0u16..40, Just(u16::MAX)]);
    let bounds16 = bounds16.prop_map(|(a, b)| (a.min(b), a.max(b)));
    let masked = (0u32..4, prop::sample::select(vec![0u32, 1, 2, 3]));
    let row = (bounds8, bounds16, masked).prop_map(|(a, b, c)| Row { a, b, c });
    prop::collection::vec(row, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]

    /// The matching entry with the largest priority wins, also after some were removed.
    #[test]
    fn range_tables(
        rows in rows(),
        keys in prop::collection::vec((0u8..42, 0u16..42, 0u32..4), 100),
        removed in any::<u64>(),
    ) {
        let mut switch = tables();
        for (i, row) in rows.iter().enumerate() {
            switch.insert_entry(&row.entry(i + 1)).unwrap();
        }
        let mut there = vec![true; rows.len()];
        for round in 0..2 {
            for (i, row) in rows.iter().enumerate().filter(|(i, _)| round == 1 && removed >> (i % 64) & 1 == 1) {
                switch.delete_entry(&row.entry(i + 1)).unwrap();
                there[i] = false;
            }
            for &(a, b, c) in &keys {
                let last = (0..rows.len()).rev().find(|&i| there[i] && rows[i].holds(a, b, c));
                let expected = last.map_or(0xe4, |i| i as u16 + 1);
                prop_assert_eq!(look_up(&mut switch, a, b, c), expected, "{:?}", (round, a, b, c));
            }
        }
    }

    /// RFC 2698 section 3, colour-blind, in packets and seconds as `f64`. Times are multiples of
    /// 1/64 s and rates are whole numbers, so every sum is exact.
    #[test]
    fn meters(
        (cir, pir) in (1u32..20, 1u32..40),
        (cbs, pbs) in (1u32..10, 1u32..20),
        steps in prop::collection::vec(0u32..40, 1..200),
    ) {
        let mut switch = externs();
        let config = MeterConfig::TwoRate { cir: cir.into(), cburst: cbs.into(), pir: pir.into(), pburst: pbs.into() };
        switch.configure_meter(Time::ZERO, "pace", 2, Some(config)).unwrap();
        // "The token buckets P and C are initially full."
        let (mut tc, mut tp, mut now) = (f64::from(cbs), f64::from(pbs), 0u32);
        for (i, &step) in steps.iter().enumerate() {
            now += step;
            let seconds = f64::from(step) / 64.0;
            tp = (tp + f64::from(pir) * seconds).min(f64::from(pbs));
            tc = (tc + f64::from(cir) * seconds).min(f64::from(cbs));
            let expected = if tp - 1.0 < 0.0 {
                2
            } else if tc - 1.0 < 0.0 {
                tp -= 1.0;
                1
            } else {
                tp -= 1.0;
                tc -= 1.0;
                0
            };
            let mut bytes = vec![3, 2];
            bytes.extend([0; 24]);
            let at = Time::ZERO + Duration::from_us(15_625 * u64::from(now));
            switch.handle_packet(at, 1, Packet::from_bytes(&bytes).into());
            let sent = switch.poll_transmit().unwrap().packet.to_bytes();
            prop_assert_eq!(sent[25], expected, "packet {}", i);
        }
    }
}
