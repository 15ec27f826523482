//! Programs that copy packets for ever: they end, and memory stays bounded.

use crate::common::*;
use narrows_common::{Packet, Rng, Time, budgets};
use narrows_queueing::QueueLimit;
use narrows_switch::{CloneSession, LoadError, Program, Replica, Switch, SwitchConfig};
use serde_json::{Value, json};
use std::sync::Arc;

/// The first byte of a packet that the program clones at egress.
const CLONED: u8 = 6;

/// `replicate.p4`, whose egress clones also what is a clone.
fn cloning_clones() -> Arc<Program> {
    let mut root: Value = serde_json::from_str(include_str!("programs/replicate.json")).unwrap();
    let conditionals = root["pipelines"][1]["conditionals"].as_array_mut().unwrap();
    let is_clone = &mut conditionals[0]["expression"]["value"];
    assert_eq!(is_clone["op"], "or", "egress asks first whether the packet is a clone");
    for side in ["left", "right"] {
        is_clone[side]["value"]["right"]["value"] = json!("0x63");
    }
    Arc::new(Program::from_json(&root.to_string()).unwrap())
}

fn switch(rate_bps: Option<u64>, replicas: usize) -> Switch {
    let ports = vec![port(1, rate_bps, QueueLimit::Packets(8))];
    let config = SwitchConfig { flow_field: None, record_queue: false, ..config(ports) };
    let mut switch = Switch::new(cloning_clones(), config, Rng::from_seed(1)).unwrap();
    let replicas = (0..replicas).map(|rid| Replica { port: 1, rid: rid as u16 }).collect();
    switch.set_clone_session(CloneSession { id: 7, replicas, truncate_bytes: None });
    let mut frame = vec![0; 61];
    frame[0] = CLONED;
    switch.handle_packet(Time::ZERO, 1, Packet::from_bytes(&frame).into());
    switch
}

fn sent(switch: &mut Switch) -> usize {
    std::iter::from_fn(|| switch.poll_transmit()).count()
}

#[test]
fn clones_of_clones_without_a_rate_end() {
    let mut switch = switch(None, 1);
    assert_eq!(sent(&mut switch), 1 + budgets::ROUNDS_OF_A_PACKET as usize);
    assert_eq!(switch.statistics().endless, 1);
}

#[test]
fn clones_that_multiply_end() {
    let mut switch = switch(None, 3);
    let sent = sent(&mut switch);
    assert!((1000..=1 + budgets::COPIES_OF_A_PACKET as usize).contains(&sent), "{sent}");
    assert!(switch.statistics().endless > 0);
}

#[test]
fn clones_of_clones_with_a_rate_end() {
    let mut switch = switch(Some(1_000_000), 1);
    let mut all = sent(&mut switch);
    while let Some(due) = switch.poll_timeout() {
        switch.handle_timeout(due);
        all += sent(&mut switch);
        assert!(all < 10_000, "it goes on for ever");
    }
    assert_eq!(all, 1 + budgets::ROUNDS_OF_A_PACKET as usize);
    assert_eq!(switch.statistics().endless, 1);
}

#[test]
fn arrays_that_take_too_much_together_are_refused() {
    let mut root: Value = serde_json::from_str(include_str!("programs/replicate.json")).unwrap();
    let array =
        |id: u64| json!({"name": format!("r{id}"), "id": id, "bitwidth": 64, "size": 1 << 25});
    root["register_arrays"] = json!([array(0)]);
    assert!(Program::from_json(&root.to_string()).is_ok());
    root["register_arrays"] = json!([array(0), array(1), array(2)]);
    let error = Program::from_json(&root.to_string()).unwrap_err();
    assert!(matches!(error, LoadError::TooBig { .. }), "{error}");
    assert!(error.to_string().contains("register array 'r2'"), "{error}");
}
