//! Segment input before the connection is established (RFC 9293 sections 3.10.7.2 and 3.10.7.3).

use crate::api::State;
use crate::tcp::connection::Connection;
use crate::tcp::receiver::AckDue;
use crate::tcp::seq;
use crate::tcp::timers::Timer;
use crate::wire::options::Options;
use crate::wire::segment::{Flags, Segment};
use narrows_common::Time;

impl Connection {
    /// Section 3.10.7.2.
    pub(super) fn handle_in_listen(&mut self, now: Time, segment: &Segment<'_>) {
        if segment.flags.has(Flags::RST) || !segment.flags.has(Flags::SYN) {
            return;
        }
        self.take_syn(segment);
        if self.settings.data_on_syn && !segment.payload.is_empty() {
            // T/TCP and TCP Fast Open deliver it before the handshake is complete.
            self.receiver.on_payload(now, 1, &segment.payload, false);
        }
        self.has_ecn &= segment.flags.has(Flags::ECE.with(Flags::CWR));
        self.state = State::SynReceived;
        self.must_send_syn = true;
        self.syn_sent_at = now;
    }

    /// Section 3.10.7.3.
    pub(super) fn handle_in_syn_sent(&mut self, now: Time, segment: &Segment<'_>) {
        let acks_syn = segment.flags.has(Flags::ACK);
        let acks_data = self.probed_to > 1 && segment.ack == seq::to_wire(self.isn, self.probed_to);
        if acks_syn && !acks_data && segment.ack != seq::to_wire(self.isn, 1) {
            return;
        }
        if segment.flags.has(Flags::RST) {
            if acks_syn {
                self.be_reset();
            }
            return;
        }
        if !segment.flags.has(Flags::SYN) {
            return;
        }
        self.take_syn(segment);
        if acks_syn {
            self.has_ecn &= segment.flags.has(Flags::ECE) && !segment.flags.has(Flags::CWR);
            self.establish(now, segment);
            if acks_data {
                if let Some(sender) = self.sender.active() {
                    sender.board.on_sent(self.probed_to);
                    sender.window_edge += self.probed_to - 1;
                }
                self.take_new_ack(now, segment, self.probed_to);
            }
            self.receiver.due = AckDue::Now;
        } else {
            // A simultaneous open.
            self.has_ecn &= segment.flags.has(Flags::ECE.with(Flags::CWR));
            self.state = State::SynReceived;
            self.must_send_syn = true;
        }
    }

    /// Adopts the options of the peer's SYN.
    pub(super) fn take_syn(&mut self, segment: &Segment<'_>) {
        let Options { mss, window_scale, sack_permitted, timestamps, .. } = segment.options;
        self.peer_isn = segment.seq;
        self.receiver.start();
        self.peer_shift = window_scale.map(|shift| shift.min(14));
        self.has_sack &= sack_permitted;
        self.has_timestamps &= timestamps.is_some();
        self.receiver.ts_recent = timestamps.map(|(value, _)| value);
        // RFC 9293 section 3.7.1: 536 bytes if the peer gives none.
        self.sender.set_mss(self.segment_bytes_for(mss.unwrap_or(536)));
        *self.sender.window().0 = 1 + u64::from(segment.window);
    }

    /// The handshake is complete on our side.
    pub(super) fn establish(&mut self, now: Time, segment: &Segment<'_>) {
        self.state = State::Established;
        self.established_at = Some(now);
        let rtt = (!self.has_lost_syn).then(|| now.since(self.syn_sent_at));
        let handshake = self.handshake();
        self.sender.establish(now, rtt, &self.settings, handshake);
        self.timers.stop(Timer::Retransmit);
        self.must_send_syn = false;
        // A SYN's window is never scaled.
        let shift = if segment.flags.has(Flags::SYN) { 0 } else { self.peer_shift.unwrap_or(0) };
        let window_bytes = u64::from(segment.window) << shift;
        let (edge, widest_bytes) = self.sender.window();
        (*edge, *widest_bytes) = (1 + window_bytes, window_bytes);
    }
}
