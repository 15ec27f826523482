//! What a polling loop does when nothing is due, and how it gets its core.
//!
//! A loop with its own core keeps polling. If there are too few cores, a loop runs before all
//! ordinary threads (`SCHED_FIFO`) and yields to them while nothing is due. Priorities among
//! ordinary threads (`nice`) have little effect, because Linux first divides cores by session. A
//! busy loop rests too. Linux (seen with 6.18) still takes 50 ms of each second from it in one
//! piece while ordinary threads always want the core, regardless of the rests.

use core::time::Duration as Wait;
use std::thread;

use narrows_common::{Duration, Time};
use schemars::JsonSchema;
use serde::Serialize;

use crate::eal::Eal;
use crate::sys;

/// With real-time priority, a sleeping thread wakes at most this late.
const WAKE: Duration = Duration::from_us(50);
/// The longest sleep, because packets may arrive meanwhile.
const LONGEST: Duration = Duration::from_us(20);
/// A loop that has not slept for so long ...
const BUSY: Duration = Duration::from_ms(1);
/// ... sleeps for this fraction of that time: 7 %, which other threads certainly get.
const REST: u64 = 14;

/// A loop's idle strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleKind {
    /// Keep polling: the loop owns the core.
    Poll,
    /// Poll shortly before a deadline, and otherwise let other threads run.
    Yield,
}

impl IdleKind {
    /// The strategy for this many loops in this process ([`IdleKind::among`]).
    pub fn choose(loops: usize) -> IdleKind {
        IdleKind::among(thread::available_parallelism().map_or(1, usize::from), loops)
    }

    /// Yield if polling loops would leave the machine fewer than two cores.
    pub fn among(cores: usize, loops: usize) -> IdleKind {
        if cores >= loops + 2 { IdleKind::Poll } else { IdleKind::Yield }
    }
}

/// A loop's priority on its core, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// It keeps polling; no other thread should use the core.
    Own,
    /// Before ordinary threads, until Linux takes the core for these (`SCHED_FIFO`).
    Fifo,
    /// An ordinary thread.
    Ordinary,
}

/// The state of a loop's waiting.
#[derive(Clone, Debug)]
pub struct Idle {
    kind: IdleKind,
    standing: Standing,
    slept_at: Time,
}

impl Idle {
    /// Waits by this strategy.
    pub fn new(kind: IdleKind) -> Self {
        let standing = match kind {
            IdleKind::Poll => Standing::Own,
            IdleKind::Yield => Standing::Ordinary,
        };
        Idle { kind, standing, slept_at: Time::ZERO }
    }

    /// Makes this thread a data path's: registers it for DPDK's per-thread caches. If it yields and
    /// the process has the privilege (root, or `CAP_SYS_NICE`), gives it real-time priority.
    pub fn begin(&mut self, _: Eal) {
        self.slept_at = Time::ZERO;
        // SAFETY: both may be called from any thread. A failure only costs speed.
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

    /// The loop's priority on its core since it began.
    pub fn standing(&self) -> Standing {
        self.standing
    }

    /// Nothing is due for `span`: waits briefly.
    pub fn wait(&mut self, now: Time, span: Duration) {
        if self.kind == IdleKind::Poll || span <= WAKE {
            core::hint::spin_loop();
            self.rest(now);
        } else {
            self.sleep(now, (span - WAKE).min(LONGEST));
        }
    }

    /// The loop was busy: rests if it has been busy for long.
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
