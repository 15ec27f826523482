//! The congestion-control interface: hooks that do nothing by default, and a variant's record.

use crate::api::{
    Ack, Class, Congestion, Departing, Idle, LostSegment, Need, Parameter, Parameters, PathSample,
};
use core::fmt;
use narrows_common::{Duration, Time};
use schemars::JsonSchema;
use serde::Serialize;

/// Copies a variant's state, so that a spurious loss can restore it.
pub trait CloneBox {
    /// The copy.
    fn clone_box(&self) -> Box<dyn CongestionControl>;
}

impl<T: CongestionControl + Clone + 'static> CloneBox for T {
    fn clone_box(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

/// A sender's congestion window, and the events that change it.
pub trait CongestionControl: CloneBox + fmt::Debug + Send {
    /// The congestion window in bytes, at least one segment.
    fn cwnd_bytes(&self) -> u64;

    /// The slow-start threshold in bytes; `u64::MAX` before the first loss if it has none.
    fn ssthresh_bytes(&self) -> u64;

    /// The pacing rate in payload bytes per second; `None` for no pacing.
    fn pacing_bytes_per_sec(&self) -> Option<u64> {
        None
    }

    /// True if the variant sends less than the path can carry, so that its rate samples do not
    /// measure the path. Only variants with such samples are asked.
    fn limits_itself(&self) -> bool {
        false
    }

    /// A segment is about to leave, for the first time or as a retransmission. For variants that
    /// need [`Need::SegmentTimes`].
    fn on_departure(&mut self, _departing: &Departing) {}

    /// A segment is considered lost, or, for recoveries that do not report losses, is
    /// retransmitted. Called before the ACK's other hooks.
    fn on_segment_lost(&mut self, _lost: &LostSegment) {}

    /// An ACK or SACK delivered data. For variants that need [`Need::SegmentTimes`]. Called last.
    fn on_path_sample(&mut self, _sample: &PathSample) {}

    /// An ACK acknowledged new data, in any state: the hook for measurements. Called before the
    /// hooks that may change the window.
    fn on_measurement(&mut self, _ack: &Ack) {}

    /// An ACK acknowledged new data, no loss is being repaired, and the window was in use.
    fn on_growth(&mut self, _ack: &Ack) {}

    /// An ACK acknowledged new data during loss recovery without a time-out.
    fn on_recovery_ack(&mut self, _ack: &Ack) {}

    /// A loss was detected, the first in this window.
    fn on_congestion(&mut self, _congestion: &Congestion) {}

    /// The peer echoed a congestion mark, the first in this window.
    fn on_ecn(&mut self, congestion: &Congestion) {
        self.on_congestion(congestion);
    }

    /// Loss recovery without a time-out is complete.
    fn on_recovery_exit(&mut self, _now: Time) {}

    /// The retransmission time-out expired.
    fn on_rto(&mut self, _congestion: &Congestion) {}

    /// The latest loss was spurious, and `before` is the state before it. Returns the state to
    /// continue with; `None` to keep the current state.
    fn on_undo(
        &mut self,
        before: Box<dyn CongestionControl>,
    ) -> Option<Box<dyn CongestionControl>> {
        Some(before)
    }

    /// The sender was idle for longer than the time-out, and now has data to send.
    fn on_idle(&mut self, _idle: &Idle) {}
}

/// The initial state of a variant.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Initial congestion window in bytes.
    pub initial_window_bytes: u64,
    /// Initial slow-start threshold in bytes.
    pub initial_ssthresh_bytes: u64,
    /// True if every segment gives a round-trip sample; false if one segment at a time does.
    pub times_every_segment: bool,
    /// The handshake's round trip; `None` if a SYN was lost.
    pub handshake_rtt: Option<Duration>,
    /// The seed of the variant's random numbers.
    pub seed: u64,
    /// The variant's own parameters.
    pub parameters: Parameters,
}

/// A variant's record, for help, documentation, checks and tests.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "VariantRecord")]
pub struct Variant {
    /// The name in a scenario.
    pub name: &'static str,
    /// A one-line description.
    pub title: &'static str,
    /// The source.
    pub reference: &'static str,
    /// The signal that it treats as congestion.
    pub class: Class,
    /// What it requires of the connection.
    pub needs: &'static [Need],
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// The parts of the source that are not implemented.
    pub not_implemented: &'static [&'static str],
    /// Creates an instance.
    #[serde(skip)]
    pub build: fn(&Setup) -> Box<dyn CongestionControl>,
}
