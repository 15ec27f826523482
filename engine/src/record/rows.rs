//! The tables' columns: the meaning of each, and its value in a row. A unit ends a column's name.

use bytes::Bytes;
use core::cell::RefCell;
use core::net::SocketAddr;
use narrows_common::record::{FlowRecord, MessageRecord};
use narrows_common::{Duration, Packet, Time};
use narrows_queueing::{QueueEvent, QueueRecord};
use parquet::data_type::ByteArray;
use rustc_hash::FxHashMap;

use super::table::{Column, Row};
use super::table_schema::{ColumnKind, ColumnSchema, TableSchema, table};
use crate::record::link_rows::LinkRow;
use crate::record::telemetry_report::Report;

/// Text that is cheap to repeat.
fn text(words: &'static str) -> ByteArray {
    ByteArray::from(Bytes::from_static(words.as_bytes()))
}

/// No text, at an address that exists. To compare two empty texts, the C library reads at both
/// addresses by an empty mask, and a processor takes some 100 ns for one that does not exist.
fn no_text() -> ByteArray {
    text(&" "[..0])
}

/// A ledger row of a switch.
#[derive(Clone, Copy, Debug)]
pub struct QueueRow {
    /// Which switch: the index of its name.
    pub switch: u16,
    /// The row.
    pub record: QueueRecord,
}

table! {
    /// The ledger of the recorded ports' queues: one row for each packet enqueued, dequeued,
    /// dropped or marked. The rows of a port are in time order. Those of several ports are not:
    /// sort them.
    "queue": QueueRow, Vec<ByteArray>, |row, names|
    /// Time of the event, since the run began.
    time_ps: I64 = row.record.at.as_ps() as i64,
    /// The switch's name.
    switch: Text repeating = names[usize::from(row.switch)].clone(),
    /// The port's number.
    port: I32 = row.record.port.into(),
    /// The queue's number at the port; queue 0 is served first.
    queue: I32 = row.record.queue.into(),
    /// `enqueue`, `dequeue`, `drop` or `mark`. A discipline's mark comes before the event that it
    /// belongs to, the program's after the dequeue.
    event: Text repeating = match row.record.event {
        QueueEvent::Enqueue => text("enqueue"),
        QueueEvent::Dequeue => text("dequeue"),
        QueueEvent::Drop(_) => text("drop"),
        QueueEvent::Mark(_) => text("mark"),
    },
    /// Why the packet was dropped or marked. `duplicate` for the enqueue of a second copy for the
    /// port; empty for other events.
    reason: Text repeating = match row.record.event {
        QueueEvent::Drop(reason) => text(reason.name()),
        QueueEvent::Mark(reason) => text(reason.name()),
        QueueEvent::Enqueue if row.record.is_duplicate => text("duplicate"),
        _ => no_text(),
    },
    /// The packet's number at the switch, from 0, in arrival order.
    packet: I64 = row.record.packet as i64,
    /// The flow's number; 0 if the packet belongs to none.
    flow: I32 = row.record.flow as i32,
    /// The packet's length that counts against the rate.
    length_bytes: I32 repeating = row.record.length_bytes as i32,
    /// Packets queued after the event.
    depth_packets: I32 = row.record.depth_packets as i32,
    /// Bytes queued after the event.
    depth_bytes: I64 = row.record.depth_bytes as i64,
    /// How long the packet was queued; 0 unless the event is a dequeue.
    sojourn_ps: I64 = row.record.sojourn.as_ps() as i64,
}

/// A duration in picoseconds, if there is one.
fn sample(span: Duration) -> Option<i64> {
    (span > Duration::ZERO).then_some(span.as_ps() as i64)
}

table! {
    /// The senders' state: one row per acknowledgement, or per interval (`record.flows`).
    "flows": FlowRecord, (), |row, nothing|
    /// Time, since the run began.
    time_ps: I64 = row.at.as_ps() as i64,
    /// The flow's number.
    flow: I32 = row.flow as i32,
    /// The congestion window.
    cwnd_bytes: I64 = row.cwnd_bytes as i64,
    /// The slow-start threshold; null before the first loss.
    ssthresh_bytes: OptionalI64 repeating =
        (row.ssthresh_bytes < u64::MAX).then_some(row.ssthresh_bytes as i64),
    /// Bytes sent, minus bytes acknowledged or considered lost.
    in_flight_bytes: I64 = row.in_flight_bytes as i64,
    /// The smoothed round-trip time; null before the first sample.
    srtt_ps: OptionalI64 = sample(row.srtt),
    /// The round-trip sample of this acknowledgement; null if it gave none.
    rtt_ps: OptionalI64 = sample(row.rtt),
    /// The retransmission time-out.
    rto_ps: I64 = row.rto.as_ps() as i64,
    /// Bytes acknowledged in sequence since the flow began.
    acked_bytes: I64 = row.acked_bytes as i64,
    /// Segments retransmitted since the flow began.
    retransmits: I64 repeating = row.retransmits as i64,
    /// Retransmission time-outs since the flow began.
    timeouts: I64 repeating = row.timeouts as i64,
    /// The latest sample of the path's delivery rate; null if there is none.
    delivery_rate_bps: OptionalI64 = row.delivery_rate_bps.map(|rate| rate as i64),
    /// Round trips since the connection opened.
    round: I64 = row.round as i64,
    /// The sender's state of loss recovery: `slow-start`, for instance.
    phase: Text repeating = text(row.phase.name()),
}

/// `address:port`, an IPv6 address in brackets. Each text is written once, then shared.
#[derive(Default)]
pub struct EndTexts(RefCell<FxHashMap<SocketAddr, ByteArray>>);

impl EndTexts {
    /// A scan of all ports must not fill the memory.
    const MOST: usize = 1 << 16;

    fn of(&self, end: SocketAddr) -> ByteArray {
        let mut texts = self.0.borrow_mut();
        if texts.len() >= Self::MOST && !texts.contains_key(&end) {
            texts.clear();
        }
        let text = || ByteArray::from(end.to_string().into_bytes());
        texts.entry(end).or_insert_with(text).clone()
    }
}

table! {
    /// The P4 program's telemetry: one row for each report that reached a collector.
    "packets": Report, EndTexts, |row, texts|
    /// The report's number at its switch.
    report: I64 = row.sequence.into(),
    /// The switch's number.
    node: I64 = row.node.into(),
    /// The flow's number; 0 if the packet belongs to none.
    flow: I64 = row.flow.into(),
    /// The packet's TCP sequence number; 0 if it is not TCP.
    tcp_sequence: I64 = row.tcp_sequence.into(),
    /// The packet's length from its IP header on.
    ip_length_bytes: I32 repeating = row.ip_length_bytes.into(),
    /// The length of its Ethernet frame, without frame check sequence.
    frame_length_bytes: I32 repeating = row.frame_length_bytes.into(),
    /// The port at which it arrived.
    ingress_port: I32 = row.ingress_port.into(),
    /// The port at which it left.
    egress_port: I32 = row.egress_port.into(),
    /// The queue's number at that port.
    queue: I32 = row.queue.into(),
    /// Packets queued when it left.
    depth_packets: I32 = row.depth_packets as i32,
    /// Packets queued when it arrived.
    enqueue_depth_packets: I32 = row.enqueue_depth_packets as i32,
    /// When it arrived, by the switch's clock.
    ingress_ns: I64 = row.ingress_ns as i64,
    /// When it left its queue, by the switch's clock.
    egress_ns: I64 = row.egress_ns as i64,
    /// How long it was queued.
    queue_delay_ns: I64 = row.queue_delay_ns.into(),
    /// Time from ingress to egress.
    hop_latency_ns: I64 = row.hop_latency_ns.into(),
    /// The packet's sender, `address:port`.
    source: Text repeating = texts.of(row.source),
    /// The packet's receiver, `address:port`.
    destination: Text repeating = texts.of(row.destination),
}

/// A packet at a host, as in a packet capture; zeros at its end are omitted.
#[derive(Clone, Debug)]
pub struct CaptureRow {
    /// When it was sent, or received.
    pub at: Time,
    /// The host's index.
    pub host: u32,
    /// True when the host sent it.
    pub sent: bool,
    /// Its length, from the Ethernet header on.
    pub length_bytes: u32,
    /// Its first bytes.
    pub bytes: Vec<u8>,
}

impl CaptureRow {
    /// A packet that a host sends or receives.
    #[inline(never)]
    pub fn new(at: Time, host: usize, sent: bool, packet: &Packet) -> Self {
        let (length_bytes, bytes) = (packet.len() as u32, packet.data.clone());
        CaptureRow { at, host: host as u32, sent, length_bytes, bytes }
    }
}

table! {
    /// Every packet that a host sends or receives, for `narrows export`.
    "capture": CaptureRow, (), |row, nothing|
    /// Time, since the run began.
    time_ps: I64 = row.at.as_ps() as i64,
    /// The host's index in the plan.
    host: I32 = row.host as i32,
    /// `sent` or `received`.
    direction: Text repeating = text(if row.sent { "sent" } else { "received" }),
    /// The packet's length from the Ethernet header on.
    length_bytes: I32 repeating = row.length_bytes as i32,
    /// The packet's first bytes; the zeros that stand for payload are omitted.
    bytes: Binary = ByteArray::from(row.bytes.clone()),
}

table! {
    /// The applications' messages: one row for each message read to its end.
    "messages": MessageRecord, (), |row, nothing|
    /// The flow's number.
    flow: I32 = row.flow as i32,
    /// The message's number in its flow.
    message: I64 = row.message as i64,
    /// Its length, including its header.
    length_bytes: I64 repeating = row.length_bytes as i64,
    /// When the application wrote it, since the run began.
    written_ps: I64 = row.written_at.as_ps() as i64,
    /// When its receiver had read it completely.
    read_ps: I64 = row.read_at.as_ps() as i64,
}

/// Every table of a run directory.
pub const TABLES: [TableSchema; 6] = [
    QueueRow::TABLE,
    FlowRecord::TABLE,
    Report::TABLE,
    MessageRecord::TABLE,
    CaptureRow::TABLE,
    LinkRow::TABLE,
];
