//! What an ACK, a departure or a loss says: one record for each hook.

use crate::tcp::api::stage::Stage;
use narrows_common::{Duration, PS_PER_S, Time};

/// An ACK that moved the window's left edge.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When it arrived.
    pub now: Time,
    /// Bytes that it newly acknowledges.
    pub acked_bytes: u64,
    /// What it is worth to growth in bytes, by the profile's rule; at least 1.
    pub credit_bytes: u64,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Bytes outstanding behind it.
    pub flight_bytes: u64,
    /// The round trip of the newest segment that it acknowledges, unless Karn forbids it.
    pub rtt: Option<Duration>,
    /// Smoothed round-trip time; zero before a sample.
    pub srtt: Duration,
    /// The least round trip of the connection; [`Duration::MAX`] before a sample.
    pub min_rtt: Duration,
    /// Bytes that reached the peer since the connection opened, as far as ACKs and SACKs tell.
    pub delivered_bytes: u64,
    /// Round trips since the connection opened.
    pub round: u64,
    /// The ACK echoes a congestion mark.
    pub echoes_mark: bool,
    /// The peer's clock when it answered less ours when the segment left, by timestamps: the delay
    /// one way, but for a constant, in whole milliseconds.
    pub one_way: Option<Duration>,
}

/// What an ACK's deliveries say of the path, once recovery has taken it.
#[derive(Clone, Copy, Debug)]
pub struct PathSample {
    /// When it arrived.
    pub now: Time,
    /// The delivery rate.
    pub rate: RateSample,
    /// Bytes delivered so far, selectively or not.
    pub delivered_bytes: u64,
    /// Bytes held lost so far.
    pub lost_bytes: u64,
    /// Bytes believed to be in the network.
    pub in_flight_bytes: u64,
    /// The window was in use.
    pub is_cwnd_limited: bool,
    /// What recovery is doing.
    pub stage: Stage,
}

/// A segment that is held lost.
#[derive(Clone, Copy, Debug)]
pub struct LostSegment {
    /// When it was found.
    pub now: Time,
    /// Its bytes.
    pub bytes: u64,
    /// The one before it is not lost with it.
    pub begins_range: bool,
    /// What was noted when it left.
    pub departure: Departure,
    /// Bytes held lost so far, these included.
    pub lost_bytes: u64,
    /// Bytes delivered so far.
    pub delivered_bytes: u64,
}

/// A segment is about to leave.
#[derive(Clone, Copy, Debug)]
pub struct Departing {
    /// When.
    pub now: Time,
    /// Bytes outstanding before it.
    pub flight_bytes: u64,
    /// The application limits what is sent.
    pub is_app_limited: bool,
    /// Bytes delivered so far.
    pub delivered_bytes: u64,
}

/// The end of an idle time.
#[derive(Clone, Copy, Debug)]
pub struct Idle {
    /// What the profile has the window be at most, in bytes.
    pub restart_window_bytes: u64,
    /// The window that the peer offers, in bytes.
    pub offered_bytes: u64,
    /// Smoothed round-trip time; zero before a sample.
    pub srtt: Duration,
}

/// A sign of congestion.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    /// When it was seen.
    pub now: Time,
    /// The window that the profile has the loss cut, in bytes.
    pub window_bytes: u64,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// ssthresh counts whole segments (ns-2).
    pub whole_segments: bool,
    /// The same segment timed out before: ssthresh stays (RFC 5681 section 3.1). Of a loss without
    /// a time-out: the segment had been retransmitted before.
    pub is_repeated: bool,
}

impl Congestion {
    /// `bytes` as a threshold: at least two segments, whole ones where that is the rule.
    pub fn threshold(&self, bytes: u64) -> u64 {
        let mss = u64::from(self.mss);
        let bytes = if self.whole_segments { bytes - bytes % mss } else { bytes };
        bytes.max(2 * mss)
    }
}

/// What an ACK says, its SACK blocks included.
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    /// When it arrived.
    pub now: Time,
    /// Bytes that it newly reports, cumulatively or by SACK.
    pub delivered_bytes: u64,
    /// Those of its SACK blocks.
    pub sacked_bytes: u64,
    /// Bytes by which it moves the left edge.
    pub acked_bytes: u64,
    /// What arrived twice (RFC 2883).
    pub duplicate: Option<(u64, u64)>,
    /// When the segment left that it echoes the timestamp of, in whole milliseconds.
    pub echoed_at: Option<Time>,
    /// Smoothed round-trip time; zero before a sample.
    pub srtt: Duration,
    /// The least round trip; [`Duration::MAX`] before a sample.
    pub min_rtt: Duration,
    /// The retransmission time-out.
    pub rto: Duration,
    /// The congestion window in bytes.
    pub cwnd_bytes: u64,
    /// The slow-start threshold in bytes.
    pub ssthresh_bytes: u64,
}

/// What is noted when a segment leaves (the draft's P.*).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Departure {
    /// Bytes delivered so far (P.delivered).
    pub delivered_bytes: u64,
    /// When the latest of them were (P.delivered_time).
    pub delivered_at: Time,
    /// When the first segment of the flight left that was delivered last (P.first_send_time).
    pub first_sent_at: Time,
    /// Bytes held lost so far (P.lost).
    pub lost_bytes: u64,
    /// Bytes in flight with this segment (P.tx_in_flight), where congestion control asks for them;
    /// windows end at 2^30.
    pub in_flight_bytes: u32,
    /// The application, not the network, limited the flight (P.is_app_limited).
    pub is_app_limited: bool,
}

/// What an ACK says of the path (the draft's RS.*).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateSample {
    /// Bytes delivered over `interval`; 0 without a sample.
    pub delivered_bytes: u64,
    /// The time that took; zero without a sample.
    pub interval: Duration,
    /// Bytes delivered when the newest of these segments left (RS.prior_delivered).
    pub prior_delivered_bytes: u64,
    /// Bytes held lost since it left (RS.lost).
    pub lost_bytes: u64,
    /// Bytes in flight when it left, itself included (RS.tx_in_flight).
    pub tx_in_flight_bytes: u64,
    /// The sample may be below what the path carries.
    pub is_app_limited: bool,
    /// Bytes that this ACK newly delivers (RS.newly_acked).
    pub newly_delivered_bytes: u64,
    /// The round trip of the newest of these segments, unless it was retransmitted (RS.rtt).
    pub rtt: Option<Duration>,
}

impl RateSample {
    /// The delivery rate, rounded down; `None` without a sample.
    pub fn bytes_per_sec(&self) -> Option<u64> {
        bytes_per_sec(self.delivered_bytes, self.interval)
    }
}

/// The rate of so many bytes in a time, rounded down; `None` in no time.
pub fn bytes_per_sec(bytes: u64, interval: Duration) -> Option<u64> {
    let bytes = u128::from(bytes) * u128::from(PS_PER_S);
    let rate = bytes.checked_div(interval.as_ps().into())?;
    Some(u64::try_from(rate).unwrap_or(u64::MAX))
}
