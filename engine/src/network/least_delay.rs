//! The lower bound of the delay from one host of a plan to another.
//!
//! The bound is the propagation delay of the shortest path plus the transmission of the shortest
//! frame on both access links. It excludes the switch's own transmission, because some targets send
//! a frame at once when the port is idle.

use std::collections::BTreeMap;

use narrows_common::{Duration, Rate, Serializer, Time};

use crate::plan::{EndPlan, FlowPlan, Plan};

/// Ethernet, IPv4 and UDP headers.
const SHORTEST_FRAME_BYTES: u64 = 14 + 20 + 8;

/// The lower bound for a flow's packets; zero if its hosts are not connected.
pub(crate) fn of_flow(plan: &Plan, flow: &FlowPlan) -> Duration {
    of_hosts(plan, &flow.from, &flow.to)
}

fn of_hosts(plan: &Plan, from: &str, to: &str) -> Duration {
    let ends = [from, to].map(|name| end_of(plan, name));
    let [Some(from), Some(to)] = ends else { return Duration::ZERO };
    match between(plan, from.switch, to.switch) {
        Some(between) => from.delay + between + to.delay,
        None => Duration::ZERO,
    }
}

/// A host's position: the switch of its group, and the lower bound between the two.
struct HostEnd<'a> {
    switch: &'a str,
    delay: Duration,
}

fn end_of<'a>(plan: &'a Plan, name: &str) -> Option<HostEnd<'a>> {
    let host = plan.hosts.iter().find(|host| host.config.name == name)?;
    let is_its = |end: &EndPlan| matches!(end, EndPlan::Group(end) if end.group == host.group);
    let cable = plan.cables.iter().find(|cable| is_its(&cable.b))?;
    let access = &host.config.access;
    let bits = access.counts.bytes(SHORTEST_FRAME_BYTES).bits();
    let (start, end) = Serializer::new(Rate::from_bps(access.rate_bps)).send(Time::ZERO, bits);
    Some(HostEnd {
        switch: &cable.a.switch,
        delay: access.delay + end.since(start) + cable.least_delay(),
    })
}

/// Propagation delay of the shortest path between two switches (Bellman and Ford).
fn between(plan: &Plan, from: &str, to: &str) -> Option<Duration> {
    let mut least = BTreeMap::from([(from, Duration::ZERO)]);
    for _ in &plan.cables {
        for cable in &plan.cables {
            let EndPlan::Switch(far) = &cable.b else { continue };
            let (a, b) = (cable.a.switch.as_str(), far.switch.as_str());
            for (near, far) in [(a, b), (b, a)] {
                let Some(&here) = least.get(near) else { continue };
                let there = here + cable.least_delay();
                least.entry(far).and_modify(|known| *known = there.min(*known)).or_insert(there);
            }
        }
    }
    least.get(to).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000_000;

    /// Two switches connected by a cable of 30 ms, and by 10 ms through a third switch; one host at
    /// each end.
    fn plan() -> Plan {
        let cable = |a: &str, port: u16, b: serde_json::Value, delay_ms: u64| {
            let a = serde_json::json!({ "switch": a, "port": port });
            serde_json::json!({ "a": a, "b": b, "delay_ps": delay_ms * MS })
        };
        let far = |switch: &str, port: u16| serde_json::json!({ "switch": switch, "port": port });
        let group = |name: &str| serde_json::json!({ "group": name });
        let host = |name: &str, last: u8| {
            serde_json::json!({
                "group": format!("{name}s"),
                "config": {
                    "name": name,
                    "mac": format!("02:00:00:00:00:0{last}"),
                    "ip": format!("10.0.0.{last}"),
                    "gateway_mac": "02:00:00:00:00:09",
                    "access": { "rate_bps": 1_000_000, "delay_ps": 2 * MS },
                },
            })
        };
        let plan = serde_json::json!({
            "schema": 1, "seed": 1, "duration_ps": null, "limit_ps": MS, "switches": [],
            "groups": ["senders", "receivers"],
            "cables": [
                cable("s3", 2, far("s2", 3), 4),
                cable("s1", 1, group("senders"), 1),
                cable("s2", 1, group("receivers"), 0),
                cable("s1", 2, far("s2", 2), 30),
                cable("s1", 3, far("s3", 1), 6),
            ],
            "hosts": [host("sender", 1), host("receiver", 2)],
            "flows": [], "events": [],
            "bottleneck": { "switch": "s1", "port": 2 },
            "reverse": null,
            "record": {
                "queue": false, "packets": false, "flows": false, "messages": false,
                "capture": false,
            },
            "instrument": {
                "departure_error_ps": 0, "rate_error": 0.0, "poll_gap_ps": 0, "lost_packets": 0,
            },
        });
        serde_json::from_value(plan).expect("a plan")
    }

    /// Cables of 2 ms and 1 ms, 6 and 4 ms, 0 and 2 ms, plus twice the shortest frame, 42 bytes at
    /// 1 Mb/s.
    #[test]
    fn the_shortest_path_and_two_short_frames() {
        let expected = Duration::from_ms(15) + Duration::from_us(2 * 42 * 8);
        assert_eq!(of_hosts(&plan(), "sender", "receiver"), expected);
        assert_eq!(of_hosts(&plan(), "receiver", "sender"), expected);
    }

    #[test]
    fn a_host_that_is_not_there_has_no_least_delay() {
        assert_eq!(of_hosts(&plan(), "sender", "nobody"), Duration::ZERO);
    }
}
