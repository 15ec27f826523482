//! A flow in `summary.json`.

use narrows_common::{Duration, Time};
use narrows_hosts::{FlowConfig, FlowReport};
use schemars::JsonSchema;
use serde::Serialize;

use super::queue_figures::Quantiles;

/// The name of a flow's recovery and profile where they are the kernel's.
const KERNEL: &str = "kernel";

/// Whose transport protocols a flow's sender has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stack {
    /// Ours.
    Narrows,
    /// The kernel's.
    Kernel,
}

/// A flow. Of one with only one end in this process the other end's figures are zero or null.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FlowSummary {
    /// Its number, from 1.
    id: u32,
    /// Congestion control, or the sender of datagrams.
    variant: String,
    /// Loss recovery; `kernel` where the connection is the kernel's.
    recovery: String,
    /// The profile; `kernel` where the connection is the kernel's.
    profile: String,
    /// Payload readable in order at the receiver, over UDP all that arrived, in bits per second from
    /// the flow's start to its completion or the end of the run.
    pub goodput_bps: f64,
    /// Payload sent, retransmissions included, in bits per second over the same time.
    throughput_bps: f64,
    /// Payload bytes readable in order at the receiver, over UDP all that arrived.
    pub delivered_bytes: u64,
    /// Segments with payload that were sent, retransmissions included; datagrams over UDP.
    sent_segments: u64,
    /// Segments retransmitted.
    retransmits: u64,
    /// Retransmission time-outs.
    timeouts: u64,
    /// How often fast recovery began.
    fast_recoveries: u64,
    /// A reset ended the connection.
    was_reset: bool,
    /// The sender's round-trip samples, in milliseconds; null without any.
    rtt_ms: Option<Quantiles>,
    /// From a segment's sending to its arrival, in milliseconds; null without any.
    one_way_delay_ms: Option<Quantiles>,
    /// One-way delays below the least one of the path: errors of the instrument, not among the
    /// samples. Absent where the hosts are ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    impossible_delays: Option<u64>,
    /// Absent over TCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    datagrams: Option<DatagramsSummary>,
    /// Absent where the application has no messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<MessagesSummary>,
    /// When the flow opened, in seconds since the run began.
    start_s: f64,
    /// Seconds from the flow's start to the acknowledgement of its last byte, or until its last
    /// datagram left; null for a flow that did not finish.
    completion_s: Option<f64>,
}

/// Datagrams at their receiver.
#[derive(Debug, Serialize, JsonSchema)]
struct DatagramsSummary {
    /// Arrived, copies not counted.
    received: u64,
    /// Did not come, of those before the last that came.
    lost: u64,
    /// Copies of datagrams that had arrived.
    duplicates: u64,
    /// Came after a later one.
    reordered: u64,
    /// RFC 3550's estimate at the end, in milliseconds.
    jitter_ms: f64,
    /// Between successive arrivals, without its sign (RFC 3393), in milliseconds.
    delay_variation_ms: Option<Quantiles>,
}

/// A flow's messages at their receiver.
#[derive(Debug, Serialize, JsonSchema)]
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

impl FlowSummary {
    /// What of the flow's delays makes a run void, in words.
    pub(crate) fn excess(&self) -> Option<String> {
        let count = self.impossible_delays.filter(|&count| count > 0)?;
        let id = self.id;
        Some(format!("flow {id}: {count} one-way delays were below the least of the path"))
    }

    /// A flow's figures at its two hosts when the run ended.
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
        // Recovery and profile say how our TCP does it.
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
