//! Entries idle for longer than their time-outs.

use super::idle::Idle;
use super::table::Table;
use narrows_common::{Duration, Time};

impl Table {
    /// An entry was hit.
    pub(crate) fn touch(&mut self, i: u32, now: Time) {
        let idle = &mut self.idle[i as usize];
        (idle.hit, idle.reported) = (now, false);
    }

    /// Takes over the hits of a table with the same entries.
    pub(crate) fn learn_hits(&mut self, other: &Table) {
        for (idle, theirs) in self.idle.iter_mut().zip(&other.idle) {
            if theirs.hit > idle.hit {
                (idle.hit, idle.reported) = (theirs.hit, false);
            }
        }
    }

    /// Sets an entry's time-out, which starts at `now`.
    pub(crate) fn set_timeout(&mut self, i: u32, now: Time, timeout: Option<Duration>) {
        self.idle[i as usize] = Idle { timeout, hit: now, reported: false };
    }

    pub(crate) fn timeout(&self, i: u32) -> Option<Duration> {
        self.idle[i as usize].timeout
    }

    /// Time since an entry's last hit, or since its time-out was set.
    pub(crate) fn since_hit(&self, i: u32, now: Time) -> Duration {
        now.saturating_since(self.idle[i as usize].hit)
    }

    /// Entries that have expired by `now`, not reported since their last hit.
    pub(crate) fn take_expired(&mut self, now: Time) -> Vec<u32> {
        let mut expired = vec![];
        for (i, idle) in self.idle.iter_mut().enumerate() {
            let Some(timeout) = idle.timeout else { continue };
            let taken = self.entry_index.is_taken(i as u32);
            if taken && !idle.reported && now.saturating_since(idle.hit) >= timeout {
                idle.reported = true;
                expired.push(i as u32);
            }
        }
        expired
    }

    /// When the next entry expires if no packet hits one before.
    pub(crate) fn next_expiry(&self) -> Option<Time> {
        let waiting = self.idle.iter().enumerate();
        let waiting =
            waiting.filter(|(i, idle)| self.entry_index.is_taken(*i as u32) && !idle.reported);
        waiting.filter_map(|(_, idle)| Some(idle.hit + idle.timeout?)).min()
    }
}
