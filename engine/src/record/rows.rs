//! The tables' rows: which column holds what. Units are last in the names.

use bytes::Bytes;
use narrows_common::record::{FlowRecord, MessageRecord};
use narrows_common::{Duration, Packet, Time};
use parquet::data_type::ByteArray;

use super::table::{Column, Row};
use crate::record::telemetry_report::Report;
use narrows_queueing::{QueueEvent, QueueRecord};

/// Text that costs nothing to repeat.
fn text(words: &'static str) -> ByteArray {
    ByteArray::from(Bytes::from_static(words.as_bytes()))
}

/// A ledger row of a switch.
#[derive(Clone, Copy, Debug)]
pub struct QueueRow {
    /// Which switch: the index of its name.
    pub switch: u16,
    /// The row.
    pub record: QueueRecord,
}

impl Row for QueueRow {
    const SCHEMA: &'static str = "message queue {
        required int64 time_ps; required binary switch (UTF8); required int32 port; required int32 queue;
        required binary event (UTF8); required binary reason (UTF8); required int64 packet;
        required int32 flow; required int32 length_bytes; required int32 depth_packets;
        required int64 depth_bytes; required int64 sojourn_ps; }";
    const REPEATING: &'static [&'static str] = &["switch", "event", "reason", "length_bytes"];

    /// The switches' names.
    type Shared = Vec<ByteArray>;

    fn columns(rows: &[Self], names: &Self::Shared) -> Vec<Column> {
        let record = || rows.iter().map(|row| &row.record);
        vec![
            Column::I64(record().map(|r| r.at.as_ps() as i64).collect()),
            Column::Bytes(rows.iter().map(|row| names[usize::from(row.switch)].clone()).collect()),
            Column::I32(record().map(|r| r.port.into()).collect()),
            Column::I32(record().map(|r| r.queue.into()).collect()),
            Column::Bytes(
                record()
                    .map(|r| match r.event {
                        QueueEvent::Enqueue => text("enqueue"),
                        QueueEvent::Dequeue => text("dequeue"),
                        QueueEvent::Drop(_) => text("drop"),
                    })
                    .collect(),
            ),
            Column::Bytes(
                record()
                    .map(|r| match r.event {
                        QueueEvent::Drop(reason) => text(reason.name()),
                        _ => text(""),
                    })
                    .collect(),
            ),
            Column::I64(record().map(|r| r.packet as i64).collect()),
            Column::I32(record().map(|r| r.flow as i32).collect()),
            Column::I32(record().map(|r| r.length_bytes as i32).collect()),
            Column::I32(record().map(|r| r.depth_packets as i32).collect()),
            Column::I64(record().map(|r| r.depth_bytes as i64).collect()),
            Column::I64(record().map(|r| r.sojourn.as_ps() as i64).collect()),
        ]
    }
}

impl Row for FlowRecord {
    const SCHEMA: &'static str = "message flows {
        required int64 time_ps; required int32 flow; required int64 cwnd_bytes; optional int64 ssthresh_bytes;
        required int64 in_flight_bytes; optional int64 srtt_ps; optional int64 rtt_ps; required int64 rto_ps;
        required int64 acked_bytes; required int64 retransmits; required int64 timeouts;
        optional int64 delivery_rate_bps; required int64 round; required binary phase (UTF8); }";
    const REPEATING: &'static [&'static str] =
        &["ssthresh_bytes", "retransmits", "timeouts", "phase"];

    type Shared = ();

    fn columns(rows: &[Self], (): &()) -> Vec<Column> {
        let sample = |span: Duration| (span > Duration::ZERO).then_some(span.as_ps() as i64);
        vec![
            Column::I64(rows.iter().map(|r| r.at.as_ps() as i64).collect()),
            Column::I32(rows.iter().map(|r| r.flow as i32).collect()),
            Column::I64(rows.iter().map(|r| r.cwnd_bytes as i64).collect()),
            Column::OptionalI64(
                rows.iter()
                    .map(|r| (r.ssthresh_bytes < u64::MAX).then_some(r.ssthresh_bytes as i64))
                    .collect(),
            ),
            Column::I64(rows.iter().map(|r| r.in_flight_bytes as i64).collect()),
            Column::OptionalI64(rows.iter().map(|r| sample(r.srtt)).collect()),
            Column::OptionalI64(rows.iter().map(|r| sample(r.rtt)).collect()),
            Column::I64(rows.iter().map(|r| r.rto.as_ps() as i64).collect()),
            Column::I64(rows.iter().map(|r| r.acked_bytes as i64).collect()),
            Column::I64(rows.iter().map(|r| r.retransmits as i64).collect()),
            Column::I64(rows.iter().map(|r| r.timeouts as i64).collect()),
            Column::OptionalI64(
                rows.iter().map(|r| r.delivery_rate_bps.map(|rate| rate as i64)).collect(),
            ),
            Column::I64(rows.iter().map(|r| r.round as i64).collect()),
            Column::Bytes(rows.iter().map(|r| text(r.phase.name())).collect()),
        ]
    }
}

impl Row for Report {
    const SCHEMA: &'static str = "message packets {
        required int64 report; required int64 node; required int64 flow; required int64 tcp_sequence;
        required int32 ip_length_bytes; required int32 frame_length_bytes; required int32 ingress_port;
        required int32 egress_port; required int32 queue; required int32 depth_packets;
        required int32 enqueue_depth_packets; required int64 ingress_ns; required int64 egress_ns;
        required int64 queue_delay_ns; required int64 hop_latency_ns; required binary source (UTF8);
        required binary destination (UTF8); }";
    const REPEATING: &'static [&'static str] =
        &["ip_length_bytes", "frame_length_bytes", "source", "destination"];

    type Shared = ();

    fn columns(rows: &[Self], (): &()) -> Vec<Column> {
        let end = |([a, b, c, d], port): ([u8; 4], u16)| {
            ByteArray::from(format!("{a}.{b}.{c}.{d}:{port}").into_bytes())
        };
        vec![
            Column::I64(rows.iter().map(|r| r.sequence.into()).collect()),
            Column::I64(rows.iter().map(|r| r.node.into()).collect()),
            Column::I64(rows.iter().map(|r| r.flow.into()).collect()),
            Column::I64(rows.iter().map(|r| r.tcp_sequence.into()).collect()),
            Column::I32(rows.iter().map(|r| r.ip_length_bytes.into()).collect()),
            Column::I32(rows.iter().map(|r| r.frame_length_bytes.into()).collect()),
            Column::I32(rows.iter().map(|r| r.ingress_port.into()).collect()),
            Column::I32(rows.iter().map(|r| r.egress_port.into()).collect()),
            Column::I32(rows.iter().map(|r| r.queue.into()).collect()),
            Column::I32(rows.iter().map(|r| r.depth_packets as i32).collect()),
            Column::I32(rows.iter().map(|r| r.enqueue_depth_packets as i32).collect()),
            Column::I64(rows.iter().map(|r| r.ingress_ns as i64).collect()),
            Column::I64(rows.iter().map(|r| r.egress_ns as i64).collect()),
            Column::I64(rows.iter().map(|r| r.queue_delay_ns.into()).collect()),
            Column::I64(rows.iter().map(|r| r.hop_latency_ns.into()).collect()),
            Column::Bytes(rows.iter().map(|r| end(r.source)).collect()),
            Column::Bytes(rows.iter().map(|r| end(r.destination)).collect()),
        ]
    }
}

/// A packet at a host: what a capture there would hold, the zeros at its end left out.
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

impl Row for CaptureRow {
    const SCHEMA: &'static str = "message capture {
        required int64 time_ps; required int32 host; required binary direction (UTF8);
        required int32 length_bytes; required binary bytes; }";
    const REPEATING: &'static [&'static str] = &["direction", "length_bytes"];

    type Shared = ();

    fn columns(rows: &[Self], (): &()) -> Vec<Column> {
        let direction = |sent| text(if sent { "sent" } else { "received" });
        vec![
            Column::I64(rows.iter().map(|r| r.at.as_ps() as i64).collect()),
            Column::I32(rows.iter().map(|r| r.host as i32).collect()),
            Column::Bytes(rows.iter().map(|r| direction(r.sent)).collect()),
            Column::I32(rows.iter().map(|r| r.length_bytes as i32).collect()),
            Column::Bytes(rows.iter().map(|r| ByteArray::from(r.bytes.clone())).collect()),
        ]
    }
}

impl Row for MessageRecord {
    const SCHEMA: &'static str = "message messages {
        required int32 flow; required int64 message; required int64 length_bytes;
        required int64 written_ps; required int64 read_ps; }";
    const REPEATING: &'static [&'static str] = &["length_bytes"];

    type Shared = ();

    fn columns(rows: &[Self], (): &()) -> Vec<Column> {
        vec![
            Column::I32(rows.iter().map(|r| r.flow as i32).collect()),
            Column::I64(rows.iter().map(|r| r.message as i64).collect()),
            Column::I64(rows.iter().map(|r| r.length_bytes as i64).collect()),
            Column::I64(rows.iter().map(|r| r.written_at.as_ps() as i64).collect()),
            Column::I64(rows.iter().map(|r| r.read_at.as_ps() as i64).collect()),
        ]
    }
}
