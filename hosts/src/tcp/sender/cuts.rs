//! The events that cut the window: a loss, an echoed mark, a time-out.

use crate::api::{Congestion, Cut, Stage};
use crate::cc::control::CongestionControl;
use crate::tcp::sender::Sender;
use narrows_common::Time;

impl Sender {
    pub(super) fn remember_window(&mut self) {
        self.before_cut = self.recovery.can_take_back().then(|| self.cc.clone_box());
    }

    /// Cuts the window; recovery then reduces the data in flight to it.
    pub(super) fn cut(&mut self, cut: impl FnOnce(&mut dyn CongestionControl)) {
        let before_bytes = self.cc.cwnd_bytes();
        cut(&mut *self.cc);
        if !self.is_model_based {
            self.recovery.on_window_cut(&self.board, before_bytes, self.cc.cwnd_bytes());
        }
    }

    /// The peer echoed a congestion mark.
    pub fn on_ecn_echo(&mut self, now: Time) {
        if self.board.una() >= self.ecn_recover && self.recovery.stage() == Stage::Open {
            self.ecn_recover = self.board.nxt();
            self.must_send_cwr = true;
            self.counters.ecn_cuts += 1;
            let congestion = self.congestion(now, false);
            self.cut(|cc| cc.on_ecn(&congestion));
        }
    }

    /// The retransmission time-out expired with data outstanding.
    pub fn on_timeout(&mut self, now: Time) {
        self.counters.timeouts += 1;
        self.burst.on_event(None);
        self.timed = None;
        let has_cut_before = self.recovery.has_cut_before(&self.board);
        let is_repeated = has_cut_before || self.timed_out_at == Some(self.board.una());
        self.timed_out_at = Some(self.board.una());
        if !is_repeated {
            self.remember_window();
        }
        let congestion = self.congestion(now, is_repeated);
        self.cc.on_rto(&congestion);
        self.recovery.on_timeout(&mut self.board, now);
        self.tell_losses(now);
        self.rtt.on_timeout();
    }

    pub(super) fn congestion(&self, now: Time, is_repeated: bool) -> Congestion {
        let (cwnd, mss) = (self.cc.cwnd_bytes(), u64::from(self.mss));
        let cwnd_or_offered = cwnd.min(self.window_edge.saturating_sub(self.board.una()));
        let window_bytes = match self.profile.cut {
            // Segments of limited transmit are beyond cwnd and do not count (RFC 5681 section 3.2
            // step 2).
            Cut::Flight => self.board.flight_bytes().min(cwnd),
            Cut::Cwnd => cwnd,
            Cut::CwndOrOffered => cwnd_or_offered,
            Cut::WholeCwndOrOffered => cwnd_or_offered - cwnd_or_offered % (2 * mss),
            Cut::WholeCwnd => cwnd - cwnd % mss,
        };
        let whole_segments = !matches!(self.profile.cut, Cut::Flight | Cut::Cwnd);
        Congestion { now, window_bytes, mss: self.mss, whole_segments, is_repeated }
    }
}
