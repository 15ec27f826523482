//! A flow in `summary.json`.

use narrows_common::{Duration, Time};
use narrows_hosts::{FlowConfig, FlowReport};
use schemars::JsonSchema;
use serde::Serialize;

use super::queue_figures::Quantiles;

/// The recovery and profile of a flow that uses the kernel's TCP.
const KERNEL: &str = "kernel";

/// Which transport implementation a flow's sender uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stack {
    /// The `hosts` crate's.
    Narrows,
    /// The kernel's.
    Kernel,
}

/// A flow. If only one end is in this process, the other end's figures are zero or null.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FlowSummary {
    /// The flow's number, from 1.
    id: u32,
    /// The congestion-control variant, or the sender of datagrams.
    variant: String,
    /// The loss recovery; `kernel` for the kernel's TCP.
    recovery: String,
    /// The profile; `kernel` for the kernel's TCP.
    profile: String,
    /// Payload bits per second from the flow's start to its completion or the end of the run.
    /// Counts payload readable in order at the receiver; over UDP, all payload received.
    pub goodput_bps: f64,
    /// Payload bits sent per second over the same time, including retransmissions.
    throughput_bps: f64,
    /// Payload bytes readable in order at the receiver; over UDP, all payload bytes received.
    pub delivered_bytes: u64,
    /// Segments sent with payload, including retransmissions; over UDP, datagrams sent.
    sent_segments: u64,
    /// Segments retransmitted.
    retransmits: u64,
    /// Retransmission time-outs.
    timeouts: u64,
    /// How often fast recovery began.
    fast_recoveries: u64,
    /// True if a reset ended the connection.
    was_reset: bool,
    /// The sender's round-trip samples, in milliseconds; null without samples.
    rtt_ms: Option<Quantiles>,
    /// Time from sending a segment to its arrival, in milliseconds; null without samples.
    one_way_delay_ms: Option<Quantiles>,
    /// One-way delays below the lower bound of the path. They are errors of the instrument and not
    /// among the samples. Absent unless the hosts use the kernel's stack.
    #[serde(skip_serializing_if = "Option::is_none")]
    impossible_delays: Option<u64>,
    /// Absent over TCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    datagrams: Option<DatagramsSummary>,
    /// Absent if the application writes no messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<MessagesSummary>,
    /// When the flow opened, in seconds since the run began.
    start_s: f64,
    /// Seconds from the flow's start to the acknowledgement of its last byte, or to the departure
    /// of its last datagram; null if the flow did not finish.
    completion_s: Option<f64>,
}

/// Datagram counts at the receiver.
#[derive(Debug, Serialize, JsonSchema)]
struct DatagramsSummary {
    /// Datagrams received, without duplicates.
    received: u64,
    /// Datagrams missing before the last one received.
    lost: u64,
    /// Duplicates received.
    duplicates: u64,
    /// Datagrams received after a later one.
    reordered: u64,
    /// RFC 3550's jitter estimate at the end, in milliseconds.
    jitter_ms: f64,
    /// Absolute delay variation between successive arrivals (RFC 3393), in milliseconds.
    delay_variation_ms: Option<Quantiles>,
}

/// Message counts at the receiver.
#[derive(Debug, Serialize, JsonSchema)]
struct MessagesSummary {
    /// Messages read to their end.
    read: u64,
    /// Messages not written because the send buffer had no room.
    skipped: u64,
    /// Messages replaced by a newer state when they became readable. Absent if the application's
    /// messages do not replace each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded: Option<u64>,
    /// True if the stream had other bytes where a message should begin.
    garbled: bool,
}

impl FlowSummary {
    /// The delays that make a run invalid, as text.
    pub(crate) fn excess(&self) -> Option<String> {
        let count = self.impossible_delays.filter(|&count| count > 0)?;
        let id = self.id;
        Some(format!("flow {id}: {count} one-way delays were below the least of the path"))
    }

    /// Builds a flow's summary from the figures at its two hosts when the run ended.
    pub(crate) fn new(
        config: &FlowConfig,
        sender: FlowReport,
        receiver: FlowReport,
        stack: Stack,
        end: Time,
    ) -> Self {
        let active = sender.completed_at.unwrap_or(end).saturating_since(config.start);
        let per_second = |bytes: u64| match active {
            Duration::ZERO => 0.0,
            active => bytes as f64 * 8.0 / active.as_secs_f64(),
        };
        // Recovery and profile describe our TCP only.
        let how = |name: &str| match stack {
            Stack::Narrows => name.to_owned(),
            Stack::Kernel => KERNEL.to_owned(),
        };
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
            impossible_delays: (stack == Stack::Kernel).then_some(receiver.impossible_delays),
            datagrams: receiver.datagrams.map(|counted| DatagramsSummary {
                received: counted.received,
                lost: counted.lost,
                duplicates: counted.duplicates,
                reordered: counted.reordered,
                jitter_ms: counted.jitter.as_ps() as f64 / 1e9,
                delay_variation_ms: Quantiles::of(&counted.delay_variation),
            }),
            // If both ends write messages, report those that the sender's end reads.
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
