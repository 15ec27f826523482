//! `summary.json`: what a run comes to. Nothing in it depends on the wall clock.

use std::collections::BTreeMap;

use narrows_common::record::DropReason;
use narrows_common::{Duration, Time};
use serde::Serialize;

use crate::EngineError;
use crate::network::{FlowNode, HostStack, MonitoredPort, Network, SwitchNode};
use crate::real_time::Instrument;
use crate::record::queue_figures::{Quantiles, QueueSummary};

/// What stands for a flow's recovery and profile where they are the kernel's.
const KERNEL: &str = "kernel";

/// A run's figures, or those of the part of it that was in this process. A flow of which only one
/// end was has the other's figures as zero or null; one of which neither was is left out.
#[derive(Debug, Serialize)]
pub struct Summary {
    schema: u32,
    /// False when the figures are not to be used; `invalid_reason` says why.
    pub valid: bool,
    invalid_reason: Option<String>,
    /// How long the run lasted in virtual time.
    pub duration_s: f64,
    /// Absent where the switches are in another process, as are `reverse` and `switches`.
    #[serde(skip_serializing_if = "Option::is_none")]
    bottleneck: Option<BottleneckSummary>,
    /// The other direction of the bottleneck's cable, where the plan asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    reverse: Option<BottleneckSummary>,
    flows: Vec<FlowSummary>,
    /// Jain's index of the flows' goodputs (Jain, Chiu and Hawe 1984), 1/n to 1.
    pub jain: f64,
    /// Payload bytes delivered by all flows together, over the whole run.
    pub aggregate_goodput_bps: f64,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    switches: BTreeMap<String, SwitchSummary>,
    access_drops: u64,
    bad_reports: u64,
    misdelivered: u64,
    engine: EngineSummary,
    /// The least time from a report's egress stamp to its coming to the collector, each by its own
    /// clock; absent in virtual time and without reports.
    #[serde(skip_serializing_if = "Option::is_none")]
    report_lag_ns: Option<i64>,
    /// The instrument's own error; absent in virtual time, where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    instrument: Option<Instrument>,
}

#[derive(Debug, Serialize)]
struct BottleneckSummary {
    switch: String,
    port: u16,
    #[serde(flatten)]
    figures: QueueSummary,
    arrived: u64,
    enqueued: u64,
    dequeued: u64,
    queued: u64,
    dropped: u64,
    drops: BTreeMap<&'static str, u64>,
}

#[derive(Debug, Serialize)]
struct FlowSummary {
    id: u32,
    variant: String,
    recovery: String,
    profile: String,
    /// Payload bytes readable in order at the receiver, over UDP all that arrived, per second from the flow's start to its
    /// completion or the end of the run.
    goodput_bps: f64,
    /// Payload bytes sent, retransmissions included, over the same time.
    throughput_bps: f64,
    delivered_bytes: u64,
    sent_segments: u64,
    retransmits: u64,
    timeouts: u64,
    fast_recoveries: u64,
    was_reset: bool,
    rtt_ms: Option<Quantiles>,
    one_way_delay_ms: Option<Quantiles>,
    /// Absent over TCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    datagrams: Option<DatagramsSummary>,
    /// Absent where the application has no messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<MessagesSummary>,
    start_s: f64,
    /// From the flow's start to the acknowledgement of its last byte, or until its last datagram
    /// left.
    completion_s: Option<f64>,
}

/// Datagrams at their receiver.
#[derive(Debug, Serialize)]
struct DatagramsSummary {
    /// Arrived, copies not counted.
    received: u64,
    /// Did not come, of those before the last that came.
    lost: u64,
    duplicates: u64,
    /// Came after a later one.
    reordered: u64,
    /// RFC 3550's estimate at the end.
    jitter_ms: f64,
    /// Between successive arrivals, without its sign (RFC 3393).
    delay_variation_ms: Option<Quantiles>,
}

#[derive(Debug, Serialize)]
struct MessagesSummary {
    /// Read to their end.
    read: u64,
    /// Left out because the send buffer had no room for them.
    skipped: u64,
    /// Of these, states that a newer one replaced at the instant at which they could be read; absent
    /// where messages replace nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded: Option<u64>,
    /// The stream had something else where a message should begin.
    garbled: bool,
}

#[derive(Debug, Serialize)]
struct SwitchSummary {
    received: u64,
    parser_errors: u64,
    checksum_errors: u64,
    dropped_ingress: u64,
    dropped_egress: u64,
    no_such_port: u64,
    aborted: u64,
}

#[derive(Debug, Serialize)]
struct EngineSummary {
    events: u64,
    packets: u64,
}

impl Summary {
    /// Closes a network's tables and sums it up, `end` being when it stopped.
    pub(crate) fn of(
        network: Network,
        end: Time,
        until_complete: bool,
        instrument: Option<Instrument>,
    ) -> Result<Summary, EngineError> {
        let is_here = |flow: &&FlowNode| network.has_host(flow.from) || network.has_host(flow.to);
        let here = network.flows.iter().filter(is_here);
        let flows: Vec<FlowSummary> =
            here.map(|flow| FlowSummary::of(&network, flow, end)).collect();
        let unfinished =
            network.finite_flows - network.progress.completed_flows.min(network.finite_flows);
        let unfinished = (until_complete && unfinished > 0).then(|| {
            format!(
                "{unfinished} of {} transfers had not finished at the limit of {end}",
                network.finite_flows
            )
        });
        let errors = instrument.iter().flat_map(|measured| measured.excesses(&network.limits));
        let reasons: Vec<String> = unfinished.into_iter().chain(errors).collect();
        let invalid_reason = (!reasons.is_empty()).then(|| reasons.join("; "));
        let goodputs = || flows.iter().map(|flow| flow.goodput_bps);
        let sum: f64 = goodputs().sum();
        let squares: f64 = goodputs().map(|goodput| goodput * goodput).sum();
        let jain = match squares > 0.0 {
            true => sum * sum / (squares * flows.len() as f64),
            false => 1.0,
        };
        let delivered_bytes: u64 = flows.iter().map(|flow| flow.delivered_bytes).sum();
        let aggregate_goodput_bps = match end {
            Time::ZERO => 0.0,
            end => delivered_bytes as f64 * 8.0 / end.as_secs_f64(),
        };
        let has_switches = network.has_switches();
        let switches = network.switches.iter().filter(|_| has_switches).map(|node| {
            let counts = node.switch.statistics();
            let summary = SwitchSummary {
                received: counts.received,
                parser_errors: counts.parser_errors,
                checksum_errors: counts.checksum_errors,
                dropped_ingress: counts.dropped_ingress,
                dropped_egress: counts.dropped_egress,
                no_such_port: counts.no_such_port,
                aborted: counts.aborted + counts.endless,
            };
            (node.name.to_string(), summary)
        });
        let switches = switches.collect();
        let access_drops = network
            .hosts
            .iter()
            .map(|node| node.access.up().drops() + node.access.down().drops())
            .sum();
        let engine =
            EngineSummary { events: network.progress.events, packets: network.progress.packets };
        let (bad_reports, misdelivered) = (network.bad_reports, network.misdelivered);
        let report_lag_ns = network.report_lag_ns.filter(|_| instrument.is_some());

        let nodes = &network.switches;
        let monitored = network.monitored.into_iter().filter(|_| has_switches);
        let mut monitored =
            monitored.map(|port| BottleneckSummary::of(&nodes[port.switch], port, end));
        let bottleneck = monitored.next();
        let reverse = monitored.next();
        network.recorder.close()?;
        Ok(Summary {
            schema: 1,
            valid: invalid_reason.is_none(),
            invalid_reason,
            duration_s: end.as_secs_f64(),
            bottleneck,
            reverse,
            flows,
            jain,
            aggregate_goodput_bps,
            switches,
            access_drops,
            bad_reports,
            misdelivered,
            engine,
            report_lag_ns,
            instrument,
        })
    }
}

impl BottleneckSummary {
    fn of(node: &SwitchNode, monitored: MonitoredPort, end: Time) -> Self {
        let counts =
            node.switch.port_statistics(monitored.port).expect("the builder checked the port");
        BottleneckSummary {
            switch: node.name.to_string(),
            port: monitored.port,
            figures: monitored.figures.finish(end),
            arrived: counts.enqueued + counts.dropped_queue_full,
            enqueued: counts.enqueued,
            dequeued: counts.dequeued,
            queued: counts.waiting_packets,
            dropped: counts.dropped_queue_full + counts.dropped_egress + counts.dropped_ack_filter,
            drops: named(&[
                (DropReason::QueueFull, counts.dropped_queue_full),
                (DropReason::AckFilter, counts.dropped_ack_filter),
                (DropReason::EgressProgram, counts.dropped_egress),
            ]),
        }
    }
}

/// Counts by reason, those of zero left out.
fn named(counts: &[(DropReason, u64)]) -> BTreeMap<&'static str, u64> {
    let counts = counts.iter().filter(|&&(_, count)| count > 0);
    counts.map(|&(reason, count)| (reason.name(), count)).collect()
}

impl FlowSummary {
    fn of(network: &Network, flow: &FlowNode, end: Time) -> Self {
        let config = &flow.config;
        let sender = network.flow_report(flow.from, config.id);
        let receiver = network.flow_report(flow.to, config.id);
        let active = sender.completed_at.unwrap_or(end).saturating_since(config.start);
        let per_second = |bytes: u64| match active {
            Duration::ZERO => 0.0,
            active => bytes as f64 * 8.0 / active.as_secs_f64(),
        };
        // Recovery and profile say how our TCP does it.
        let is_ours = matches!(network.hosts[flow.from].stack, HostStack::Narrows(_));
        let how = |name: &str| if is_ours { name } else { KERNEL }.to_owned();
        FlowSummary {
            id: config.id,
            variant: config.variant.clone(),
            recovery: how(&config.recovery),
            profile: how(&config.profile),
            goodput_bps: per_second(receiver.received.delivered_bytes),
            throughput_bps: per_second(sender.sent.bytes_sent),
            delivered_bytes: receiver.received.delivered_bytes,
            sent_segments: sender.sent.segments_sent,
            retransmits: sender.sent.retransmits,
            timeouts: sender.sent.timeouts,
            fast_recoveries: sender.sent.fast_recoveries,
            was_reset: sender.was_reset,
            rtt_ms: Quantiles::of(&sender.rtt),
            one_way_delay_ms: Quantiles::of(&receiver.one_way_delay),
            datagrams: receiver.datagrams.map(|counted| DatagramsSummary {
                received: counted.received,
                lost: counted.lost,
                duplicates: counted.duplicates,
                reordered: counted.reordered,
                jitter_ms: counted.jitter.as_ps() as f64 / 1e9,
                delay_variation_ms: Quantiles::of(&counted.delay_variation),
            }),
            // Where both ends write, the latencies are of what the sender's end reads.
            messages: sender.messages.or(receiver.messages).map(|messages| MessagesSummary {
                read: messages.read,
                skipped: sender.skipped_messages + receiver.skipped_messages,
                superseded: messages.superseded,
                garbled: messages.is_garbled,
            }),
            start_s: config.start.as_secs_f64(),
            completion_s: sender.completed_at.map(|at| at.since(config.start).as_secs_f64()),
        }
    }
}
