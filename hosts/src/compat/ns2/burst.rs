//! Limits the segments that leave together, and spreads the rest of the window over the round trip.
//!
//! Source: ns-2.35 `maxburst_` of its Asym sources (tcp-asym.cc). After a burst, the next segment
//! leaves after a smoothed round trip x burst / window, or with the next ACK. The round trip is
//! smoothed with 1/8, from a sample of each ACK without tick rounding (`g_`, `exact_srtt_`).

use narrows_common::{Duration, Time};

/// The limit and its remainder.
#[derive(Debug)]
pub(crate) struct Burst {
    /// Segments that may leave together; 0 for no limit.
    limit: u32,
    left: u32,
    srtt: Option<Duration>,
    next_at: Time,
}

impl Burst {
    pub(crate) fn new(limit: Option<u32>) -> Self {
        let limit = limit.unwrap_or(0);
        Burst { limit, left: limit, srtt: None, next_at: Time::ZERO }
    }

    /// True if there is a limit.
    pub(crate) fn is_limited(&self) -> bool {
        self.limit > 0
    }

    /// An ACK or a time-out allows a burst.
    pub(crate) fn on_event(&mut self, rtt: Option<Duration>) {
        if !self.is_limited() {
            return;
        }
        self.left = self.limit;
        if let Some(rtt) = rtt {
            let smoothed = |srtt: Duration| srtt.mul_div_floor(7, 8) + rtt.mul_div_floor(1, 8);
            self.srtt = Some(self.srtt.map_or(rtt, smoothed));
        }
    }

    /// A segment left under a limit, with a window of this many segments.
    pub(crate) fn on_sent(&mut self, now: Time, window_segments: u64) {
        if self.left > 0 {
            self.left -= 1;
            let srtt = self.srtt.unwrap_or(Duration::ZERO);
            self.next_at = now + srtt.mul_div_floor(self.limit.into(), window_segments.max(1));
        }
    }

    /// When the next segment may leave; `None` for now.
    pub(crate) fn poll(&mut self, now: Time) -> Option<Time> {
        if !self.is_limited() || self.left > 0 {
            return None;
        }
        if now < self.next_at {
            return Some(self.next_at);
        }
        self.left = self.limit;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_follows_by_its_share_of_the_round_trip() {
        let mut burst = Burst::new(Some(4));
        burst.on_event(Some(Duration::from_ms(100)));
        // 7/8 of 100 and 1/8 of 180: 110 ms.
        burst.on_event(Some(Duration::from_ms(180)));
        for _ in 0..4 {
            assert_eq!(burst.poll(Time::ZERO), None);
            burst.on_sent(Time::ZERO, 20);
        }
        // 110 ms x 4 / 20.
        let next = Time::ZERO + Duration::from_ms(22);
        assert_eq!(burst.poll(Time::ZERO), Some(next));
        assert_eq!(burst.poll(next), None);
        for _ in 0..4 {
            burst.on_sent(next, 20);
        }
        assert!(burst.poll(next).is_some());
        burst.on_event(None);
        assert_eq!(burst.poll(next), None);
    }
}
