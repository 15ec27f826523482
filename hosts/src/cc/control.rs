//! The congestion-control interface: hooks that default to nothing, and a variant's record.

use crate::tcp::api::{
    Ack, Class, Congestion, Departing, Idle, LostSegment, Need, Parameter, Parameters, PathSample,
};
use core::fmt;
use narrows_common::{Duration, Time};
use schemars::JsonSchema;
use serde::Serialize;

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

    /// A segment is held lost; where recovery does not say, it is retransmitted. Comes before the
    /// ACK's own hooks.
    fn on_segment_lost(&mut self, _lost: &LostSegment) {}

    /// Something was delivered, by ACK or SACK: for variants that need [`Need::SegmentTimes`].
    /// Comes last.
    fn on_path_sample(&mut self, _sample: &PathSample) {}

    /// New data was acknowledged, whatever else is going on: what to measure by. Comes before the
    /// hooks that may move the window.
    fn on_measurement(&mut self, _ack: &Ack) {}

    /// New data was acknowledged, no loss is being repaired, and the window was in use.
    fn on_growth(&mut self, _ack: &Ack) {}

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
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "VariantRecord")]
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
