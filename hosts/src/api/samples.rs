//! The data of an ACK, a departure or a loss: one record per hook.

use crate::api::stage::Stage;
use narrows_common::{Duration, PS_PER_S, Time};

/// An ACK that advanced the window's left edge.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// The time of its arrival.
    pub now: Time,
    /// Bytes newly acknowledged.
    pub acked_bytes: u64,
    /// The growth credit in bytes by the profile's rule; at least 1.
    pub credit_bytes: u64,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Bytes outstanding after it.
    pub flight_bytes: u64,
    /// The round trip of the newest segment acknowledged, unless Karn's rule forbids it.
    pub rtt: Option<Duration>,
    /// Smoothed round-trip time; zero before a sample.
    pub srtt: Duration,
    /// The minimum round trip of the connection; [`Duration::MAX`] before a sample.
    pub min_rtt: Duration,
    /// Bytes delivered since the connection opened, according to ACKs and SACKs.
    pub delivered_bytes: u64,
    /// Round trips since the connection opened.
    pub round: u64,
    /// The ACK echoes a congestion mark.
    pub echoes_mark: bool,
    /// The one-way delay plus a constant, by timestamps, in whole milliseconds: the peer's clock at
    /// its answer minus ours at the segment's departure.
    pub one_way: Option<Duration>,
}

/// The path's state according to an ACK's deliveries, after recovery has handled the ACK.
#[derive(Clone, Copy, Debug)]
pub struct PathSample {
    /// The time of its arrival.
    pub now: Time,
    /// The delivery rate.
    pub rate: RateSample,
    /// Bytes delivered so far, cumulatively or selectively.
    pub delivered_bytes: u64,
    /// Bytes considered lost so far.
    pub lost_bytes: u64,
    /// Bytes believed to be in the network.
    pub in_flight_bytes: u64,
    /// True if the window was in use.
    pub is_cwnd_limited: bool,
    /// The stage of loss recovery.
    pub stage: Stage,
}

/// A segment considered lost.
#[derive(Clone, Copy, Debug)]
pub struct LostSegment {
    /// The time of detection.
    pub now: Time,
    /// Its bytes.
    pub bytes: u64,
    /// True if the segment before it is not lost with it.
    pub begins_range: bool,
    /// The record of its departure.
    pub departure: Departure,
    /// Bytes considered lost so far, including this segment.
    pub lost_bytes: u64,
    /// Bytes delivered so far.
    pub delivered_bytes: u64,
}

/// A segment is about to leave.
#[derive(Clone, Copy, Debug)]
pub struct Departing {
    /// The time of departure.
    pub now: Time,
    /// Bytes outstanding before it.
    pub flight_bytes: u64,
    /// True if the application limits sending.
    pub is_app_limited: bool,
    /// Bytes delivered so far.
    pub delivered_bytes: u64,
}

/// The end of an idle time.
#[derive(Clone, Copy, Debug)]
pub struct Idle {
    /// The profile's limit of the window, in bytes.
    pub restart_window_bytes: u64,
    /// The peer's window, in bytes.
    pub offered_bytes: u64,
    /// Smoothed round-trip time; zero before a sample.
    pub srtt: Duration,
}

/// A congestion signal.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    /// The time of detection.
    pub now: Time,
    /// The window that the loss cuts by the profile's rule, in bytes.
    pub window_bytes: u64,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// True if ssthresh counts whole segments (ns-2).
    pub whole_segments: bool,
    /// The same segment timed out before, so ssthresh stays (RFC 5681 section 3.1). For a loss
    /// without a time-out: the segment had been retransmitted before.
    pub is_repeated: bool,
}

impl Congestion {
    /// `bytes` as a threshold: at least two segments, rounded down to segments if `whole_segments`.
    pub fn threshold(&self, bytes: u64) -> u64 {
        let mss = u64::from(self.mss);
        let bytes = if self.whole_segments { bytes - bytes % mss } else { bytes };
        bytes.max(2 * mss)
    }
}

/// The contents of an ACK, including its SACK blocks.
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    /// The time of its arrival.
    pub now: Time,
    /// Bytes newly reported, cumulatively or by SACK.
    pub delivered_bytes: u64,
    /// Bytes newly reported by SACK blocks.
    pub sacked_bytes: u64,
    /// Bytes by which it advances the left edge.
    pub acked_bytes: u64,
    /// The range that arrived twice (RFC 2883).
    pub duplicate: Option<(u64, u64)>,
    /// The departure of the segment with the echoed timestamp, in whole milliseconds.
    pub echoed_at: Option<Time>,
    /// Smoothed round-trip time; zero before a sample.
    pub srtt: Duration,
    /// The minimum round trip; [`Duration::MAX`] before a sample.
    pub min_rtt: Duration,
    /// The retransmission time-out.
    pub rto: Duration,
    /// The congestion window in bytes.
    pub cwnd_bytes: u64,
    /// The slow-start threshold in bytes.
    pub ssthresh_bytes: u64,
}

/// The state recorded when a segment leaves (the draft's P.*).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Departure {
    /// Bytes delivered so far (P.delivered).
    pub delivered_bytes: u64,
    /// When the latest of them was delivered (P.delivered_time).
    pub delivered_at: Time,
    /// When the first segment of the last delivered flight left (P.first_send_time).
    pub first_sent_at: Time,
    /// Bytes considered lost so far (P.lost).
    pub lost_bytes: u64,
    /// Bytes in flight including this segment (P.tx_in_flight), if congestion control requires
    /// them; windows end at 2^30.
    pub in_flight_bytes: u32,
    /// True if the application, not the network, limited the flight (P.is_app_limited).
    pub is_app_limited: bool,
}

/// A delivery-rate sample (the draft's RS.*).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateSample {
    /// Bytes delivered over `interval`; 0 without a sample.
    pub delivered_bytes: u64,
    /// The duration of that delivery; zero without a sample.
    pub interval: Duration,
    /// Bytes delivered when the newest of these segments left (RS.prior_delivered).
    pub prior_delivered_bytes: u64,
    /// Bytes considered lost since it left (RS.lost).
    pub lost_bytes: u64,
    /// Bytes in flight when it left, including itself (RS.tx_in_flight).
    pub tx_in_flight_bytes: u64,
    /// True if the sample may be below the path's rate.
    pub is_app_limited: bool,
    /// Bytes newly delivered by this ACK (RS.newly_acked).
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

/// The rate of `bytes` in `interval`, rounded down; `None` if the interval is zero.
pub fn bytes_per_sec(bytes: u64, interval: Duration) -> Option<u64> {
    let bytes = u128::from(bytes) * u128::from(PS_PER_S);
    let rate = bytes.checked_div(interval.as_ps().into())?;
    Some(u64::try_from(rate).unwrap_or(u64::MAX))
}
