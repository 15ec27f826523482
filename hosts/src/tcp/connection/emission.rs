//! One segment: its header from the connection's state, and its payload from the send buffer.

use crate::tcp::connection::Connection;
use crate::tcp::connection::output::timestamp;
use crate::tcp::sender::Sender;
use crate::tcp::seq;
use crate::tcp::timers::Timer;
use crate::wire::options::{MAX_SACK_BLOCKS, Options, SackBlocks, TIMESTAMPS_BYTES};
use crate::wire::segment::{Ecn, Flags, Header};
use narrows_common::{Packet, Time, budgets};

impl Connection {
    /// Writes a segment of `[start, start + payload_bytes)`; every segment carries an ACK.
    pub(super) fn emit(
        &mut self,
        now: Time,
        start: u64,
        payload_bytes: u32,
        flags: Flags,
        packet: &mut Packet,
    ) {
        let answer = (self.receiver.buffer.nxt(), self.receiver.echoes_ce);
        self.emit_answering(now, start, payload_bytes, flags, answer, packet);
    }

    /// Like `emit`, with a given acknowledgment, and whether to echo a mark.
    pub(super) fn emit_answering(
        &mut self,
        now: Time,
        start: u64,
        payload_bytes: u32,
        flags: Flags,
        (ack, echoes_ce): (u64, bool),
        packet: &mut Packet,
    ) {
        let shift = self.peer_shift.map_or(0, |_| self.receiver.shift);
        let mut echoes = self.has_ecn && echoes_ce;
        if payload_bytes > 0 {
            echoes |= core::mem::take(&mut self.must_echo_mark);
        }
        // RFC 3168 section 6.1.5: retransmissions are not ECN-capable.
        let is_capable = if payload_bytes > 0 {
            self.has_ecn && start + u64::from(payload_bytes) == self.sender.nxt()
        } else {
            self.settings.ack_control
        };
        let mut header = Header {
            seq: seq::to_wire(self.isn, start),
            ack: seq::to_wire(self.peer_isn, ack),
            flags: if echoes { flags.with(Flags::ECE) } else { flags },
            window: self.receiver.window(self.sender.mss(), shift, ack),
            ecn: if is_capable { Ecn::Ect0 } else { Ecn::NotEct },
            options: Options::default(),
        };
        if self.has_timestamps {
            header.options.timestamps = self.timestamps(now);
        }
        if self.has_sack_blocks() {
            header.options.sack = self.sack_blocks();
        }
        if self.settings.reports_window && payload_bytes > 0 {
            header.options.sender_report = Some(self.sender_report());
        }
        self.write_segment(now, &header, start, payload_bytes, packet);
        self.receiver.on_ack_sent();
        self.timers.stop(Timer::DelayedAck);
    }

    /// Writes a segment with this header and the stream's bytes from `start`.
    #[inline(always)]
    pub(super) fn write_segment(
        &mut self,
        now: Time,
        header: &Header,
        start: u64,
        payload_bytes: u32,
        packet: &mut Packet,
    ) {
        let (flow, emitter) = (self.settings.flow, &mut self.emitter);
        match self.sender.active() {
            Some(Sender { buffer, .. })
                if payload_bytes > 0 && !buffer.has_zeros(start, payload_bytes) =>
            {
                emitter.begin(header, packet);
                buffer.emit(start, payload_bytes, flow, now, packet);
                emitter.finish(packet);
            }
            _ => emitter.emit_zeros(header, payload_bytes, (flow, now), packet),
        }
    }

    /// An Asym sender's report with its data: the highest ACK that it has received, and the window
    /// after that, as far as it has data.
    fn sender_report(&self) -> (u32, u32) {
        let una = self.sender.una();
        let edge = self.sender.end().min(self.sender.window_edge());
        let window_bytes = edge.saturating_sub(una).min(self.sender.cwnd_bytes());
        (seq::to_wire(self.isn, una), window_bytes.min(u32::MAX.into()) as u32)
    }

    fn has_sack_blocks(&self) -> bool {
        self.has_sack && self.receiver.has_sack_blocks()
    }

    fn sack_blocks(&self) -> SackBlocks {
        let tells_duplicates = self.settings.profile.duplicate_sack;
        self.receiver.sack_blocks(self.peer_isn, self.max_sack_blocks(), tells_duplicates)
    }

    fn max_sack_blocks(&self) -> usize {
        if self.has_timestamps { 3 } else { MAX_SACK_BLOCKS }
    }

    /// The payload that fits into a segment after its options (RFC 6691).
    pub(super) fn payload_limit(&self) -> u32 {
        if !self.has_sack_blocks() {
            return self.sender.mss();
        }
        let blocks = self.sack_blocks().as_slice().len();
        let sack_bytes = SackBlocks::wire_bytes(blocks) as u32;
        self.sender.mss().saturating_sub(sack_bytes).max(1)
    }

    /// The payload of a full segment to a peer with this MSS (RFC 6691).
    pub(super) fn segment_bytes_for(&self, peer_mss: u16) -> u32 {
        let room =
            u32::from(peer_mss).max(budgets::MSS_MIN).saturating_sub(self.timestamps_bytes());
        self.settings.segment_bytes.min(room).max(1)
    }

    pub(super) fn timestamps_bytes(&self) -> u32 {
        if self.has_timestamps { TIMESTAMPS_BYTES as u32 } else { 0 }
    }

    pub(super) fn timestamps(&self, now: Time) -> Option<(u32, u32)> {
        self.has_timestamps.then(|| (timestamp(now), self.receiver.ts_recent.unwrap_or(0)))
    }
}
