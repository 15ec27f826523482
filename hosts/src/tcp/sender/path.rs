//! What a sender reports to congestion control about the path, and pacing.

use crate::api::{Departing, Departure, LostSegment, PathSample};
use crate::tcp::sender::Sender;
use narrows_common::{Duration, PS_PER_S, Time};

impl Sender {
    /// Records a departure, and reports it to a congestion control that needs it.
    pub(super) fn departure(&mut self, now: Time, bytes: u64, flight_bytes: u64) -> Departure {
        let mut in_flight_bytes = 0;
        if self.samples_segments {
            in_flight_bytes = self.recovery.pipe_bytes(&self.board);
            self.cc.on_departure(&Departing {
                now,
                flight_bytes,
                is_app_limited: self.rate.is_app_limited(),
                delivered_bytes: self.rate.delivered_bytes(),
            });
        }
        self.rate.on_sent(now, bytes, flight_bytes, in_flight_bytes, self.lost_bytes)
    }

    /// Reports new losses to congestion control.
    pub(super) fn tell_losses(&mut self, now: Time) {
        while let Some(lost) = self.board.sent.poll_lost() {
            self.lost_bytes += lost.bytes;
            self.cc.on_segment_lost(&LostSegment {
                now,
                bytes: lost.bytes,
                begins_range: lost.begins_range,
                departure: lost.departure,
                lost_bytes: self.lost_bytes,
                delivered_bytes: self.rate.delivered_bytes(),
            });
        }
    }

    /// Reports the current ACK's path sample to congestion control.
    pub(super) fn tell_path(&mut self, now: Time, is_cwnd_limited: bool) {
        if !self.keeps_segments {
            return;
        }
        let rate = self.rate.sample(self.lost_bytes, self.rtt.min_rtt());
        if rate.newly_delivered_bytes == 0 {
            return;
        }
        if rate.interval > Duration::ZERO {
            self.last_rate = (rate.delivered_bytes, rate.interval);
        }
        if !self.samples_segments {
            return;
        }
        let in_flight_bytes = self.recovery.pipe_bytes(&self.board);
        self.cc.on_path_sample(&PathSample {
            now,
            rate,
            delivered_bytes: self.rate.delivered_bytes(),
            lost_bytes: self.lost_bytes,
            in_flight_bytes,
            is_cwnd_limited,
            stage: self.recovery.stage(),
        });
        if self.cc.limits_itself() {
            self.rate.on_app_limited(in_flight_bytes);
        }
    }

    /// When the next segment may leave; `None` for now. If the variant no longer paces, nothing is
    /// delayed.
    pub fn paced_until(&mut self, now: Time) -> Option<Time> {
        let is_held = self.next_send_at > now && self.cc.pacing_bytes_per_sec().is_some();
        let paced = is_held.then_some(self.next_send_at);
        paced.max(self.burst.poll(now))
    }

    /// A segment of `bytes` leaves: delays the next one by its transmission time at the pacing
    /// rate.
    pub(super) fn pace(&mut self, now: Time, bytes: u64) {
        if self.burst.is_limited() {
            let offered_bytes = self.window_edge.saturating_sub(self.board.una());
            let window_bytes = self.cc.cwnd_bytes().min(offered_bytes);
            self.burst.on_sent(now, window_bytes / u64::from(self.mss));
        }
        if let Some(rate) = self.cc.pacing_bytes_per_sec() {
            let span_ps = u128::from(bytes) * u128::from(PS_PER_S) / u128::from(rate.max(1));
            // At most a minute, whatever the model's rate.
            let span_ps = u64::try_from(span_ps).unwrap_or(u64::MAX);
            let span = Duration::from_ps(span_ps).min(Duration::from_secs(60));
            self.next_send_at = self.next_send_at.max(now) + span;
        }
    }

    /// There is nothing left to send although the window has room (the draft's
    /// CheckIfApplicationLimited).
    pub fn on_app_limited(&mut self) {
        self.rate.on_app_limited(self.recovery.pipe_bytes(&self.board));
    }
}
