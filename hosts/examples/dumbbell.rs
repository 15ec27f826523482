//! The behaviour of senders on a path, event by event: the runs that `make validate` compares with
//! ns-2.
//!
//! Reads a list of cases (JSON) from standard input and writes a list of events to standard output.
//! The path is the tests': an access link, a bottleneck with a queue in packets, chosen losses.
//! Times are in seconds, windows in segments.

#[path = "../tests/net/mod.rs"]
mod net;

use narrows_common::{Duration, Packet, Rng, Time};
use narrows_hosts::FlowConfig;
use narrows_hosts::report::SenderCounters;
use narrows_hosts::wire::segment;
use narrows_queueing::{Link, LinkConfig};
use net::{Net, Path};
use serde::{Deserialize, Serialize};
use std::io::Read;

#[derive(Deserialize)]
struct Case {
    rate_bps: u64,
    delay_ps: Duration,
    queue_packets: usize,
    arrivals_first: bool,
    access: Option<LinkConfig>,
    duration_ps: Duration,
    /// Numbers of the packets to lose, counting data packets and SYNs from 0.
    lost: Vec<u64>,
    flows: Vec<FlowConfig>,
}

/// The events of one flow.
#[derive(Default, Serialize)]
struct Events {
    acked_segments: u64,
    /// The times of window cuts without a time-out, and the windows then.
    cuts: Vec<(f64, f64)>,
    timeouts: Vec<f64>,
    retransmits: Vec<f64>,
    /// The threshold at the end.
    ssthresh: f64,
}

impl Events {
    /// Derives the events at `at_s` from the counters.
    fn note(&mut self, at_s: f64, before: &SenderCounters, after: &SenderCounters, cwnd: f64) {
        if after.fast_recoveries > before.fast_recoveries {
            self.cuts.push((at_s, cwnd));
        }
        if after.timeouts > before.timeouts {
            self.timeouts.push(at_s);
        }
        for _ in before.retransmits..after.retransmits {
            self.retransmits.push(at_s);
        }
    }
}

/// Payload bytes of a full segment; ns-2's if the flow gives none.
fn mss(flow: &FlowConfig) -> f64 {
    f64::from(flow.segment_bytes.unwrap_or(1000))
}

fn main() {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).expect("standard input is text");
    let cases: Vec<Case> = serde_json::from_str(&text).expect("a list of cases");
    let all: Vec<Vec<Events>> = cases.into_iter().map(run).collect();
    println!("{}", serde_json::to_string(&all).expect("plain numbers"));
}

fn run(case: Case) -> Vec<Events> {
    let path = Path::clean(case.rate_bps, case.delay_ps);
    let Case { queue_packets, arrivals_first, .. } = case;
    let mut net = Net::new(Path { queue_packets, arrivals_first, ..path }, 1);
    net.access = case.access.map(|access| Link::new(&access, Rng::from_seed(1)));
    let mut number = 0;
    net.dropper = Box::new(move |direction, _, packet: &Packet| {
        let is_counted = direction == 0
            && segment::parse(packet)
                .is_ok_and(|s| !s.payload.is_empty() || s.flags.has(segment::Flags::SYN));
        number += u64::from(is_counted);
        is_counted && case.lost.contains(&(number - 1))
    });
    for flow in &case.flows {
        net.open(flow);
    }
    let mut events: Vec<Events> = case.flows.iter().map(|_| Events::default()).collect();
    let mut last = vec![SenderCounters::default(); case.flows.len()];
    net.run_while(Time::ZERO + case.duration_ps, |net| {
        for (index, flow) in case.flows.iter().enumerate() {
            let sent = net.hosts[0].sender_counters(flow.id).expect("it is open");
            if sent != last[index] {
                let rows = net.hosts[0].flow_records();
                let cwnd = rows.last().map_or(0.0, |row| row.cwnd_bytes as f64 / mss(flow));
                events[index].note(net.now.as_secs_f64(), &last[index], &sent, cwnd);
                last[index] = sent;
            }
        }
        true
    });
    for (index, flow) in case.flows.iter().enumerate() {
        let mss = mss(flow);
        let report = net.hosts[0].flow_report(flow.id).expect("it is open");
        events[index].acked_segments = (report.acked_bytes as f64 / mss) as u64;
        let rows = net.hosts[0].flow_records();
        let row = rows.iter().rev().find(|record| record.flow == flow.id);
        events[index].ssthresh = row.map_or(0.0, |row| row.ssthresh_bytes as f64 / mss);
    }
    events
}
