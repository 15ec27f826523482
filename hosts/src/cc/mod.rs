//! Congestion control: one file a variant, one list.
//!
//! A variant owns its window and hears of events through hooks that default to nothing; loss
//! detection and repair are [`crate::recovery`]'s, a choice of their own. Windows are bytes
//! in integers. To add one: a file that ends in a [`Variant`], and a line in [`VARIANTS`].

pub mod aimd_fc;
pub mod aimd_fc_plus;
pub mod app_tcp;
pub mod based;
pub mod bbr;
pub mod bbr3;
pub mod bic;
pub mod circuit;
pub mod compound;
pub mod cubic;
pub mod dctcp;
pub mod hstcp;
pub mod htcp;
pub mod hybla;
pub mod hystart;
pub mod hystart_plus;
pub mod illinois;
pub mod jersey;
pub mod ledbat;
pub mod new_aimd;
pub mod reno;
pub mod round_trips;
pub mod scalable;
pub mod vegas;
pub mod veno;
pub mod westwood;
pub mod window;
pub mod yeah;

use crate::compat::ns2;
use crate::config::FlowError;
use crate::recovery::Stage;
use crate::tcp::rate::{Departure, RateSample};
use core::fmt;
use narrows_common::{Duration, Time};
use serde::Serialize;
use std::collections::BTreeMap;

/// Every variant.
pub const VARIANTS: &[Variant] = &[
    reno::VARIANT,
    aimd_fc::VARIANT,
    aimd_fc_plus::VARIANT,
    new_aimd::VARIANT,
    cubic::VARIANT,
    scalable::VARIANT,
    hstcp::VARIANT,
    westwood::VARIANT,
    veno::VARIANT,
    bic::VARIANT,
    htcp::VARIANT,
    hybla::VARIANT,
    illinois::VARIANT,
    yeah::VARIANT,
    vegas::VARIANT,
    ns2::vegas::VARIANT,
    ns2::rate_based_pacing::VEGAS_VARIANT,
    ns2::rate_based_pacing::RENO_VARIANT,
    app_tcp::VARIANT,
    circuit::VARIANT,
    compound::VARIANT,
    ledbat::VARIANT,
    jersey::VARIANT,
    bbr::VARIANT,
    bbr3::VARIANT,
    dctcp::VARIANT,
];

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
    /// a time-out: the segment had been sent again before.
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

/// A copy of a variant as it is, which a loss that was none brings back.
pub trait CloneBox {
    /// The copy.
    fn clone_box(&self) -> Box<dyn CongestionControl>;
}

impl<T: CongestionControl + Clone + 'static> CloneBox for T {
    fn clone_box(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

/// A sender's congestion window and what moves it.
pub trait CongestionControl: CloneBox + fmt::Debug + Send {
    /// The congestion window in bytes, at least one segment.
    fn cwnd_bytes(&self) -> u64;

    /// The slow-start threshold in bytes; `u64::MAX` before the first loss where it has none.
    fn ssthresh_bytes(&self) -> u64;

    /// How fast segments may leave, in bytes of payload a second; `None`: as the window allows.
    fn pacing_bytes_per_sec(&self) -> Option<u64> {
        None
    }

    /// It sends less than the path can carry, so that samples of its rate say nothing of the path;
    /// asked of a variant that has such samples.
    fn limits_itself(&self) -> bool {
        false
    }

    /// A segment is about to leave, for the first time or again: for variants that need
    /// [`Need::SegmentTimes`].
    fn on_departure(&mut self, _departing: &Departing) {}

    /// A segment is held lost; where recovery does not say, it is sent again. Comes before the
    /// ACK's own hooks.
    fn on_segment_lost(&mut self, _lost: &LostSegment) {}

    /// Something was delivered, by ACK or SACK: for variants that need [`Need::SegmentTimes`].
    /// Comes last.
    fn on_path_sample(&mut self, _sample: &PathSample) {}

    /// New data was acknowledged, whatever else is going on: what to measure by. Comes before the
    /// hooks that may move the window.
    fn on_acked(&mut self, _ack: &Ack) {}

    /// New data was acknowledged, no loss is being repaired, and the window was in use.
    fn on_ack(&mut self, _ack: &Ack) {}

    /// New data was acknowledged while a loss is being repaired without a time-out.
    fn on_recovery_ack(&mut self, _ack: &Ack) {}

    /// A loss was found, for the first time in this window.
    fn on_congestion(&mut self, _congestion: &Congestion) {}

    /// The peer echoed a congestion mark, for the first time in this window.
    fn on_ecn(&mut self, congestion: &Congestion) {
        self.on_congestion(congestion);
    }

    /// The loss was repaired without a time-out.
    fn on_recovery_exit(&mut self, _now: Time) {}

    /// The retransmission time-out expired.
    fn on_rto(&mut self, _congestion: &Congestion) {}

    /// The latest loss was none, and `before` is the variant as it was then: what to go on as;
    /// `None` to go on as it is.
    fn on_undo(
        &mut self,
        before: Box<dyn CongestionControl>,
    ) -> Option<Box<dyn CongestionControl>> {
        Some(before)
    }

    /// Nothing was sent for longer than the time-out, and now there is something to send.
    fn on_idle(&mut self, _idle: &Idle) {}
}

/// What a variant starts from.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// First congestion window in bytes.
    pub initial_window_bytes: u64,
    /// First slow-start threshold in bytes.
    pub initial_ssthresh_bytes: u64,
    /// Every segment gives a round-trip sample, not one at a time.
    pub times_every_segment: bool,
    /// The handshake's round trip, unless a SYN was lost.
    pub handshake_rtt: Option<Duration>,
    /// Where the variant's random numbers come from.
    pub seed: u64,
    /// The variant's own parameters.
    pub parameters: Parameters,
}

/// What there is to know about a variant, for help, docs, checks and tests.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Variant {
    /// The name in a scenario.
    pub name: &'static str,
    /// One line on what it is.
    pub title: &'static str,
    /// Where it comes from.
    pub reference: &'static str,
    /// What it takes for congestion.
    pub class: Class,
    /// What the connection must have.
    pub needs: &'static [Need],
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// What of the source is not implemented.
    pub not_implemented: &'static [&'static str],
    /// Makes one.
    #[serde(skip)]
    pub build: fn(&Setup) -> Box<dyn CongestionControl>,
}

/// What a variant takes for congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Loss.
    LossBased,
    /// Delay.
    DelayBased,
    /// Loss, and delay or marks or measured bandwidth with it.
    Hybrid,
    /// A model of the path's bandwidth and round trip; the window in recovery is its own too.
    ModelBased,
    /// Nothing: it keeps to a rate that it is told.
    RateTarget,
    /// Nothing: it sends as the application writes.
    Uncontrolled,
}

/// What a variant needs of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// Selective acknowledgments.
    Sack,
    /// When each segment left and what became of it; the sender keeps it where asked for.
    SegmentTimes,
    /// Segments spread over the round trip; the sender does it where asked for.
    Pacing,
    /// Congestion marks, each echoed as it came (RFC 8257 section 3.2); on unless a scenario
    /// turns it off.
    Ecn,
    /// Timestamps, for one-way delays; without them round trips stand in.
    Timestamps,
}

/// A parameter of a variant.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Parameter {
    /// The name in a scenario's `params`.
    pub name: &'static str,
    /// The value where the scenario names none.
    pub default: f64,
    /// The least value that makes sense.
    pub min: f64,
    /// The greatest.
    pub max: f64,
    /// What it does and where its default comes from.
    pub origin: &'static str,
}

/// The values of a variant's parameters.
#[derive(Clone, Debug, Default)]
pub struct Parameters(Vec<(&'static str, f64)>);

impl Parameters {
    /// The defaults, with what a scenario sets.
    ///
    /// # Errors
    /// A name the variant does not have, or a value out of its range.
    pub fn resolve(
        variant: &Variant,
        set: &BTreeMap<String, f64>,
    ) -> Result<Parameters, FlowError> {
        let known = || variant.parameters.iter().map(|p| p.name).collect::<Vec<_>>().join(", ");
        if let Some(name) =
            set.keys().find(|name| variant.parameters.iter().all(|p| p.name != **name))
        {
            let expected = if variant.parameters.is_empty() { "none".to_owned() } else { known() };
            return Err(FlowError::Parameter {
                variant: variant.name,
                parameter: name.clone(),
                expected,
            });
        }
        let value = |p: &Parameter| match set.get(p.name) {
            Some(&value) if !(p.min..=p.max).contains(&value) => Err(FlowError::ParameterValue {
                variant: variant.name,
                parameter: p.name,
                value,
                min: p.min,
                max: p.max,
            }),
            set => Ok((p.name, set.copied().unwrap_or(p.default))),
        };
        variant.parameters.iter().map(value).collect::<Result<_, _>>().map(Parameters)
    }

    /// The value of a parameter.
    ///
    /// # Panics
    /// When the variant's record does not list it.
    pub fn get(&self, name: &str) -> f64 {
        let found = self.0.iter().find(|(known, _)| *known == name);
        found.unwrap_or_else(|| panic!("no parameter {name} in the variant's record")).1
    }
}
