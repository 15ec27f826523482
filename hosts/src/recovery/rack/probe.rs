//! Tail loss probes (RFC 8985 section 7): when the end of a flight stays unanswered, one segment
//! makes the peer say what is missing, before the time-out.
//!
//! Constants: two smoothed round trips; 200 ms on top with one segment outstanding, whose ACK may
//! be delayed (section 7.2's WCDelAckT, Linux's TCP_RTO_MIN); 1 s before a round-trip sample.
//! Never later than the time-out would be.

use narrows_common::{Duration, Time};

const DELAYED_ACK: Duration = Duration::from_ms(200);
const BEFORE_A_SAMPLE: Duration = Duration::from_secs(1);

/// The probe, and when it is due.
#[derive(Clone, Debug, Default)]
pub struct TailProbe {
    deadline: Option<Time>,
    is_due: bool,
    outstanding: Option<Outstanding>,
}

/// A probe that was not answered yet.
#[derive(Clone, Copy, Debug)]
struct Outstanding {
    /// What was outstanding with it ends here (TLP.end_seq).
    end: u64,
    /// It was old data (TLP.is_retrans).
    is_retransmission: bool,
}

impl TailProbe {
    /// Starts the timer anew, unless a probe is outstanding.
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

    /// The timer expired: a segment is to leave whatever the window says.
    pub fn on_timeout(&mut self) {
        (self.deadline, self.is_due) = (None, true);
    }

    /// A segment is to leave whatever the window says.
    pub fn is_due(&self) -> bool {
        self.is_due
    }

    /// The probe left; what is outstanding with it ends at `nxt`.
    pub fn on_sent(&mut self, nxt: u64, is_retransmission: bool) {
        self.is_due = false;
        self.outstanding = Some(Outstanding { end: nxt, is_retransmission });
    }

    /// True when the probe's flight ended at `end`.
    pub fn is_end(&self, end: u64) -> bool {
        self.outstanding.is_some_and(|probe| probe.is_retransmission && probe.end == end)
    }

    /// After a time-out there is nothing left to find out.
    pub fn forget(&mut self) {
        *self = TailProbe::default();
    }

    /// An ACK up to `una` (section 7.4.2). True when it shows that the probe repaired a loss, which
    /// nobody would hear of otherwise. `is_twice`: a D-SACK came with it; `says_nothing`: it moved
    /// and reported nothing, so that the original and the probe have both arrived.
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
