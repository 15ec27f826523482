//! Delivery-rate samples: the rate at which the path delivered the data that an ACK reports.
//!
//! Source: draft-ietf-ccwg-bbr section 4.1.1 (earlier draft-cheng-iccrg-delivery-rate-estimation).
//! Each departure records the bytes delivered so far, and when. When the segment is delivered, the
//! rate is the bytes delivered since, divided by the longer of the time to send them and the time
//! to acknowledge them. Only [`RateSample::bytes_per_sec`] rounds; all else is exact bytes and
//! picoseconds.

use crate::api::{Departure, RateSample};
use crate::outstanding::sent_segments::SentSegment;
use narrows_common::{Duration, Time};

/// The connection's state (C.*).
#[derive(Clone, Debug, Default)]
pub struct RateEstimator {
    delivered_bytes: u64,
    delivered_at: Time,
    first_sent_at: Time,
    /// The application limits the rate until this many bytes are delivered; 0 if it does not.
    app_limited_until: u64,
    /// The newest segment that the current ACK delivers.
    newest: Option<SentSegment>,
    newly_delivered_bytes: u64,
}

impl RateEstimator {
    /// A segment leaves at `now`, with `flight_bytes` outstanding before it and `in_flight_bytes`
    /// of them believed to be in the network.
    pub fn on_sent(
        &mut self,
        now: Time,
        bytes: u64,
        flight_bytes: u64,
        in_flight_bytes: u64,
        lost_bytes: u64,
    ) -> Departure {
        if flight_bytes == 0 {
            (self.first_sent_at, self.delivered_at) = (now, now);
        }
        Departure {
            delivered_bytes: self.delivered_bytes,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            lost_bytes,
            in_flight_bytes: u32::try_from(in_flight_bytes + bytes).unwrap_or(u32::MAX),
            is_app_limited: self.app_limited_until > 0,
        }
    }

    /// An ACK newly delivers `bytes` of a segment.
    pub fn on_delivered(&mut self, now: Time, sent: &SentSegment, bytes: u64) {
        self.delivered_bytes += bytes;
        self.newly_delivered_bytes += bytes;
        self.delivered_at = now;
        if self.newest.is_none_or(|newest| (sent.at, sent.end) > (newest.at, newest.end)) {
            self.newest = Some(*sent);
            self.first_sent_at = sent.at;
        }
    }

    /// The application has nothing to send while the window has room, so the data in flight does
    /// not show the path's capacity.
    pub fn on_app_limited(&mut self, in_flight_bytes: u64) {
        self.app_limited_until = (self.delivered_bytes + in_flight_bytes).max(1);
    }

    /// Ends an ACK; `lost_bytes` are considered lost so far. An interval below `min_rtt` gives no
    /// rate, because no whole flight can be delivered within it.
    pub fn sample(&mut self, lost_bytes: u64, min_rtt: Duration) -> RateSample {
        if self.delivered_bytes > self.app_limited_until {
            self.app_limited_until = 0;
        }
        let newly_delivered_bytes = core::mem::take(&mut self.newly_delivered_bytes);
        let Some(SentSegment { at: sent_at, departure, was_retransmitted, .. }) =
            self.newest.take()
        else {
            return RateSample { newly_delivered_bytes, ..RateSample::default() };
        };
        let send_elapsed = sent_at.saturating_since(departure.first_sent_at);
        let ack_elapsed = self.delivered_at.saturating_since(departure.delivered_at);
        let interval = send_elapsed.max(ack_elapsed);
        let is_valid = min_rtt != Duration::MAX && interval >= min_rtt;
        let delivered_bytes = self.delivered_bytes - departure.delivered_bytes;
        RateSample {
            delivered_bytes: if is_valid { delivered_bytes } else { 0 },
            interval: if is_valid { interval } else { Duration::ZERO },
            prior_delivered_bytes: departure.delivered_bytes,
            lost_bytes: lost_bytes.saturating_sub(departure.lost_bytes),
            tx_in_flight_bytes: departure.in_flight_bytes.into(),
            is_app_limited: departure.is_app_limited,
            newly_delivered_bytes,
            rtt: (!was_retransmitted).then(|| self.delivered_at.saturating_since(sent_at)),
        }
    }

    /// True if the application limits the rate.
    pub fn is_app_limited(&self) -> bool {
        self.app_limited_until > 0
    }

    /// Bytes delivered so far.
    pub fn delivered_bytes(&self) -> u64 {
        self.delivered_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outstanding::sent_segments::SentSegments;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    /// Sends segments of 1,000 bytes at these times; returns the estimator and the log.
    fn sent(times_ms: &[u64]) -> (RateEstimator, SentSegments) {
        let (mut rate, mut log) = (RateEstimator::default(), SentSegments::default());
        for (n, &ms) in times_ms.iter().enumerate() {
            let flight_bytes = 1000 * n as u64;
            let departure = rate.on_sent(at(ms), 1000, flight_bytes, flight_bytes, 0);
            log.on_sent(1000 * (n as u64 + 1), at(ms), departure);
        }
        (rate, log)
    }

    fn ack(rate: &mut RateEstimator, log: &mut SentSegments, ms: u64, to: u64) -> RateSample {
        log.on_cumulative_ack(1000 * to, |start, sent| {
            rate.on_delivered(at(ms), sent, sent.end - start)
        });
        rate.sample(0, Duration::from_ms(50))
    }

    #[test]
    fn the_longer_of_sending_and_acknowledging_counts() {
        // Four segments 10 ms apart, all acknowledged at 100 ms by one ACK. The last left 30 ms
        // after the first; its ACK arrived 100 ms after the state that it recorded.
        let (mut rate, mut log) = sent(&[0, 10, 20, 30]);
        let sample = ack(&mut rate, &mut log, 100, 4);
        assert_eq!((sample.delivered_bytes, sample.interval), (4000, Duration::from_ms(100)));
        assert_eq!(sample.bytes_per_sec(), Some(40_000));
        assert_eq!((sample.rtt, sample.tx_in_flight_bytes), (Some(Duration::from_ms(70)), 4000));
        // Sent over 80 ms and acknowledged within 60: the sending time counts.
        let (mut rate, mut log) = sent(&[0, 80]);
        ack(&mut rate, &mut log, 60, 1);
        let departure = rate.on_sent(at(140), 1000, 1000, 1000, 0);
        log.on_sent(3000, at(140), departure);
        let sample = ack(&mut rate, &mut log, 200, 3);
        // The third recorded 1,000 bytes delivered at 60 ms, and the first sent at 0: 140 ms to
        // send, and 140 ms from 60 to 200.
        assert_eq!((sample.delivered_bytes, sample.interval), (2000, Duration::from_ms(140)));
    }

    #[test]
    fn an_interval_below_a_round_trip_is_no_sample() {
        let (mut rate, mut log) = sent(&[0]);
        let sample = ack(&mut rate, &mut log, 49, 1);
        assert_eq!((sample.bytes_per_sec(), sample.newly_delivered_bytes), (None, 1000));
    }

    #[test]
    fn a_sample_is_app_limited_until_its_flight_is_delivered() {
        let (mut rate, mut log) = sent(&[0]);
        rate.on_app_limited(1000);
        let departure = rate.on_sent(at(20), 1000, 1000, 1000, 0);
        log.on_sent(2000, at(20), departure);
        assert!(!ack(&mut rate, &mut log, 60, 1).is_app_limited);
        assert!(ack(&mut rate, &mut log, 80, 2).is_app_limited);
        assert!(!rate.is_app_limited());
    }
}
