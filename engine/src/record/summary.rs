//! `summary.json`: the figures of a run. Nothing in it depends on the wall clock.

use std::collections::BTreeMap;

use narrows_common::Time;
use narrows_queueing::{DropCounts, PortStatistics};
use narrows_switch::Statistics;
use schemars::JsonSchema;
use serde::Serialize;

use super::flow_summary::FlowSummary;
use super::instrument::Instrument;
use super::link_rows::LinkSummary;
use super::queue_figures::{OneQueueSummary, QueueSummary};
use crate::plan::Limits;

/// A run's figures, or those of the part in this process. If only one end of a flow is in this
/// process, the other end's figures are zero or null. Flows with no end in this process are
/// omitted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Summary {
    /// The schema's version, 1.
    schema: u32,
    /// False if the figures must not be used; `invalid_reason` says why.
    pub valid: bool,
    /// The reason, as text; null for a valid run.
    invalid_reason: Option<String>,
    /// How long the run lasted, in seconds of its own clock.
    pub duration_s: f64,
    /// Absent if the switches are in another process, as are `reverse` and `switches`.
    #[serde(skip_serializing_if = "Option::is_none")]
    bottleneck: Option<BottleneckSummary>,
    /// The other direction of the bottleneck's cable, if the plan asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    reverse: Option<BottleneckSummary>,
    /// The flows, in the plan's order.
    flows: Vec<FlowSummary>,
    /// Jain's fairness index of the flows' goodputs (Jain, Chiu and Hawe 1984), from 1/n to 1.
    pub jain: f64,
    /// Payload bits per second that all flows together delivered over the whole run.
    pub aggregate_goodput_bps: f64,
    /// The counts of each switch, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    switches: BTreeMap<String, SwitchSummary>,
    /// The packets of each link direction with impairments; absent if there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    links: Vec<LinkSummary>,
    /// Packets that the hosts' access links dropped, both directions.
    access_drops: u64,
    /// Packets at a collector that are not telemetry reports.
    bad_reports: u64,
    /// Packets on a cable to a group of hosts that were for none of them.
    misdelivered: u64,
    /// The amount of work that the engine did.
    engine: EngineSummary,
    /// The smallest difference between a report's egress stamp and its arrival at the collector,
    /// each by its own clock. Absent in virtual time and without reports.
    #[serde(skip_serializing_if = "Option::is_none")]
    report_lag_ns: Option<i64>,
    /// The instrument's error; absent in virtual time, which has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    instrument: Option<Instrument>,
}

/// A port's queue.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BottleneckSummary {
    /// The switch's name.
    switch: String,
    /// The port's number.
    port: u16,
    #[serde(flatten)]
    figures: QueueSummary,
    /// Packets for the port, including those that its queue refused.
    arrived: u64,
    /// Packets that entered the queue.
    enqueued: u64,
    /// Packets that left the queue.
    dequeued: u64,
    /// Packets queued at the end of the run.
    queued: u64,
    /// Packets dropped at the port for any reason.
    dropped: u64,
    /// Packets dropped by reason; reasons without a drop are omitted.
    drops: BTreeMap<&'static str, u64>,
    /// Packets that its queues marked, by reason; left out where there are none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    marks: BTreeMap<&'static str, u64>,
    /// The same of each of its queues, the first served first; left out where there is one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    queues: Vec<OneQueueSummary>,
}

/// A switch's packet counts. A target omits what its switch does not count.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SwitchSummary {
    /// Packets received at any port.
    received: u64,
    /// Packets that the parser rejected.
    #[schemars(with = "Option<u64>", skip_serializing_if = "Option::is_none")]
    parser_errors: u64,
    /// Packets with a wrong checksum.
    #[schemars(with = "Option<u64>", skip_serializing_if = "Option::is_none")]
    checksum_errors: u64,
    /// Packets that the ingress program dropped.
    dropped_ingress: u64,
    /// Packets that the egress program dropped.
    #[schemars(with = "Option<u64>", skip_serializing_if = "Option::is_none")]
    dropped_egress: u64,
    /// Packets sent to a port that does not exist.
    #[schemars(with = "Option<u64>", skip_serializing_if = "Option::is_none")]
    no_such_port: u64,
    /// Second copies of packets for the same port; left out where there are none.
    #[serde(skip_serializing_if = "is_zero")]
    duplicated: u64,
    /// Packets on which the program was aborted.
    #[schemars(with = "Option<u64>", skip_serializing_if = "Option::is_none")]
    aborted: u64,
}

/// The amount of work that the engine did.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EngineSummary {
    /// Events handled.
    pub events: u64,
    /// Packets that a switch received.
    pub packets: u64,
}

/// The figures of a stopped run.
pub(crate) struct RunFigures {
    /// When the run stopped.
    pub end: Time,
    /// Finite flows that did not finish, and all finite flows; `None` if the run had a fixed
    /// length.
    pub unfinished: Option<(usize, usize)>,
    /// The monitored ports: the bottleneck, and the other direction if the plan asks for it.
    pub ports: Vec<BottleneckSummary>,
    pub flows: Vec<FlowSummary>,
    pub switches: BTreeMap<String, SwitchSummary>,
    pub links: Vec<LinkSummary>,
    pub access_drops: u64,
    pub bad_reports: u64,
    pub misdelivered: u64,
    pub engine: EngineSummary,
    pub report_lag_ns: Option<i64>,
}

impl Summary {
    /// Summarises a run. It is valid if every finite flow has finished, the instrument was within
    /// `limits`, and no delay was below the lower bound of its path.
    pub(crate) fn new(run: RunFigures, limits: &Limits, instrument: Option<Instrument>) -> Summary {
        let end = run.end;
        let unfinished = run.unfinished.filter(|&(unfinished, _)| unfinished > 0);
        let unfinished = unfinished.map(|(unfinished, all)| {
            format!("{unfinished} of {all} transfers had not finished at the limit of {end}")
        });
        let errors = instrument.iter().flat_map(|measured| measured.excesses(limits));
        let impossible = run.flows.iter().filter_map(FlowSummary::excess);
        let reasons: Vec<String> = unfinished.into_iter().chain(errors).chain(impossible).collect();
        let invalid_reason = (!reasons.is_empty()).then(|| reasons.join("; "));
        let delivered_bytes: u64 = run.flows.iter().map(|flow| flow.delivered_bytes).sum();
        let aggregate_goodput_bps = match end {
            Time::ZERO => 0.0,
            end => delivered_bytes as f64 * 8.0 / end.as_secs_f64(),
        };
        let mut ports = run.ports.into_iter();
        Summary {
            schema: 1,
            valid: invalid_reason.is_none(),
            invalid_reason,
            duration_s: end.as_secs_f64(),
            bottleneck: ports.next(),
            reverse: ports.next(),
            jain: jain(&run.flows),
            flows: run.flows,
            aggregate_goodput_bps,
            switches: run.switches,
            links: run.links,
            access_drops: run.access_drops,
            bad_reports: run.bad_reports,
            misdelivered: run.misdelivered,
            engine: run.engine,
            report_lag_ns: run.report_lag_ns.filter(|_| instrument.is_some()),
            instrument,
        }
    }
}

/// Jain's fairness index of the flows' goodputs; 1 if none delivered anything.
fn jain(flows: &[FlowSummary]) -> f64 {
    let goodputs = || flows.iter().map(|flow| flow.goodput_bps);
    let sum: f64 = goodputs().sum();
    let squares: f64 = goodputs().map(|goodput| goodput * goodput).sum();
    match squares > 0.0 {
        true => sum * sum / (squares * flows.len() as f64),
        false => 1.0,
    }
}

impl BottleneckSummary {
    /// A switch's port with its queue's figures and counts.
    pub(crate) fn new(
        switch: String,
        port: u16,
        (figures, queues): (QueueSummary, Vec<OneQueueSummary>),
        counts: &PortStatistics,
    ) -> Self {
        let marks = counts.marks.iter().filter(|&(_, count)| count > 0);
        BottleneckSummary {
            switch,
            port,
            figures,
            arrived: counts.enqueued + counts.refused,
            enqueued: counts.enqueued,
            dequeued: counts.dequeued,
            queued: counts.waiting_packets,
            dropped: counts.drops.total(),
            drops: nonzero(&counts.drops),
            marks: marks.map(|(reason, count)| (reason.name(), count)).collect(),
            queues,
        }
    }
}

impl From<Statistics> for SwitchSummary {
    fn from(counts: Statistics) -> Self {
        SwitchSummary {
            received: counts.received,
            parser_errors: counts.parser_errors,
            checksum_errors: counts.checksum_errors,
            dropped_ingress: counts.dropped_ingress,
            dropped_egress: counts.dropped_egress,
            no_such_port: counts.no_such_port,
            duplicated: counts.duplicated,
            aborted: counts.aborted + counts.endless,
        }
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Nonzero counts by reason.
fn nonzero(counts: &DropCounts) -> BTreeMap<&'static str, u64> {
    let counts = counts.iter().filter(|&(_, count)| count > 0);
    counts.map(|(reason, count)| (reason.name(), count)).collect()
}
