//! Tail loss probes (RFC 8985 section 7): if the end of a flight stays unacknowledged, one segment
//! makes the peer report what is missing, before the time-out.
//!
//! Constants: two smoothed round trips. Plus 200 ms if one segment is outstanding, because its ACK
//! may be delayed (section 7.2's WCDelAckT, Linux's TCP_RTO_MIN). 1 s before the first round-trip
//! sample. Never later than the time-out.

use narrows_common::{Duration, Time};

const DELAYED_ACK: Duration = Duration::from_ms(200);
const BEFORE_A_SAMPLE: Duration = Duration::from_secs(1);

/// The probe and its timer.
#[derive(Clone, Debug, Default)]
pub struct TailProbe {
    deadline: Option<Time>,
    is_due: bool,
    outstanding: Option<Outstanding>,
}

/// An unanswered probe.
#[derive(Clone, Copy, Debug)]
struct Outstanding {
    /// The end of the data outstanding with it (TLP.end_seq).
    end: u64,
    /// It was a retransmission (TLP.is_retrans).
    is_retransmission: bool,
}

impl TailProbe {
    /// Restarts the timer, unless a probe is outstanding.
    pub fn arm(&mut self, now: Time, srtt: Duration, rto: Duration, is_alone: bool) {
        self.is_due = false;
        let wait = match srtt {
            Duration::ZERO => BEFORE_A_SAMPLE,
            srtt if is_alone => srtt + srtt + DELAYED_ACK,
            srtt => srtt + srtt,
        };
        self.deadline = self.outstanding.is_none().then(|| now + wait.min(rto));
    }

    /// Stops the timer.
    pub fn disarm(&mut self) {
        (self.deadline, self.is_due) = (None, false);
    }

    /// When the timer expires.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.deadline
    }

    /// The timer expired: a segment must leave regardless of the window.
    pub fn on_timeout(&mut self) {
        (self.deadline, self.is_due) = (None, true);
    }

    /// A segment must leave regardless of the window.
    pub fn is_due(&self) -> bool {
        self.is_due
    }

    /// The probe was sent; the data outstanding with it ends at `nxt`.
    pub fn on_sent(&mut self, nxt: u64, is_retransmission: bool) {
        self.is_due = false;
        self.outstanding = Some(Outstanding { end: nxt, is_retransmission });
    }

    /// True if the probe's flight ended at `end`.
    pub fn is_end(&self, end: u64) -> bool {
        self.outstanding.is_some_and(|probe| probe.is_retransmission && probe.end == end)
    }

    /// After a time-out there is nothing left to probe.
    pub fn forget(&mut self) {
        *self = TailProbe::default();
    }

    /// An ACK up to `una` (section 7.4.2). True if it shows that the probe repaired a loss, which
    /// no other signal reports. `is_twice`: a D-SACK came with it. `says_nothing`: it advanced and
    /// reported nothing, so both the original and the probe have arrived.
    pub fn on_ack(&mut self, una: u64, is_twice: bool, says_nothing: bool) -> bool {
        let Some(probe) = self.outstanding else { return false };
        if !probe.is_retransmission {
            if una >= probe.end {
                self.outstanding = None;
            }
            return false;
        }
        let is_answered = una >= probe.end;
        if is_answered || is_twice || says_nothing {
            self.outstanding = None;
        }
        is_answered && !is_twice && !says_nothing
    }
}
