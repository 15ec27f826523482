//! What a polling loop does when there is nothing to do, and how it gets its core.
//!
//! On its own core a loop polls on. Where cores are short it runs before all ordinary threads
//! (`SCHED_FIFO`) and lets them run while nothing is due: priorities among ordinary threads
//! (`nice`) say little, since Linux shares out cores by session first. A busy loop rests as well.
//! Linux (seen with 6.18) still takes 50 ms of a second from it in one piece as long as ordinary
//! threads want the core all the time, however much the rests gave them.

use core::time::Duration as Wait;
use std::thread;

use narrows_common::{Duration, Time};
use schemars::JsonSchema;
use serde::Serialize;

use crate::eal::Eal;
use crate::sys;

/// A thread that slept wakes this much late, or less, where its priority counts.
const WAKE: Duration = Duration::from_us(50);
/// No sleep is longer, since packets may come meanwhile.
const LONGEST: Duration = Duration::from_us(20);
/// A loop that has not slept for so long ...
const BUSY: Duration = Duration::from_ms(1);
/// ... sleeps for one part in so many of it: 7 % of the time, which is what others have for sure.
const REST: u64 = 14;

/// How a loop waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleKind {
    /// Polls on: the core is the loop's own.
    Poll,
    /// Polls on before a deadline and otherwise lets others run.
    Yield,
}

impl IdleKind {
    /// Of so many loops in this process on this machine ([`IdleKind::among`]).
    pub fn choose(loops: usize) -> IdleKind {
        IdleKind::among(thread::available_parallelism().map_or(1, usize::from), loops)
    }

    /// Yielding where polling loops would leave the machine less than two cores.
    pub fn among(cores: usize, loops: usize) -> IdleKind {
        if cores >= loops + 2 { IdleKind::Poll } else { IdleKind::Yield }
    }
}

/// How a loop has its core, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// It polls on, and nobody else should be there.
    Own,
    /// Before ordinary threads, until Linux takes the core for them (`SCHED_FIFO`).
    Fifo,
    /// As an ordinary thread among others.
    Ordinary,
}

/// A loop's waiting.
#[derive(Clone, Debug)]
pub struct Idle {
    kind: IdleKind,
    standing: Standing,
    slept_at: Time,
}

impl Idle {
    /// Waiting of this kind.
    pub fn new(kind: IdleKind) -> Self {
        let standing = match kind {
            IdleKind::Poll => Standing::Own,
            IdleKind::Yield => Standing::Ordinary,
        };
        Idle { kind, standing, slept_at: Time::ZERO }
    }

    /// Makes this thread a data path's: DPDK's per-thread caches, and its turn before ordinary
    /// threads where it yields and the process may have that (root, or `CAP_SYS_NICE`).
    pub fn begin(&mut self, _: Eal) {
        self.slept_at = Time::ZERO;
        // SAFETY: both may be called from any thread. A failure costs speed only.
        unsafe {
            sys::nrw_thread_register();
            if self.kind == IdleKind::Yield {
                self.standing = match sys::nrw_thread_fifo() {
                    0 => Standing::Fifo,
                    _ => Standing::Ordinary,
                };
            }
        }
    }

    /// How the loop has its core since it began.
    pub fn standing(&self) -> Standing {
        self.standing
    }

    /// Nothing is due for `span`: waits a little.
    pub fn wait(&mut self, now: Time, span: Duration) {
        if self.kind == IdleKind::Poll || span <= WAKE {
            core::hint::spin_loop();
            self.rest(now);
        } else {
            self.sleep(now, (span - WAKE).min(LONGEST));
        }
    }

    /// Something was done: rests when that has gone on for long.
    pub fn rest(&mut self, now: Time) {
        let busy = now.saturating_since(self.slept_at);
        if self.kind == IdleKind::Yield && busy > BUSY {
            self.sleep(now, busy / REST);
        }
    }

    fn sleep(&mut self, now: Time, span: Duration) {
        thread::sleep(Wait::from_nanos(span.as_ns()));
        self.slept_at = now + span;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_poll_where_that_leaves_two_cores() {
        let polls = |cores, loops| IdleKind::among(cores, loops) == IdleKind::Poll;
        assert_eq!([1, 2, 3, 4].map(|cores| polls(cores, 1)), [false, false, true, true]);
        assert_eq!([2, 3, 4, 5].map(|cores| polls(cores, 2)), [false, false, true, true]);
    }
}
