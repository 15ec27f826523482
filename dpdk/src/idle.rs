//! What a polling loop does when there is nothing to do.

use core::time::Duration as Wait;
use std::thread;

use narrows_common::Duration;

/// A sleeping thread wakes this much late, or less, where a core is free.
const WAKE: Duration = Duration::from_us(60);
/// No sleep is longer, since packets may come meanwhile.
const LONGEST: Duration = Duration::from_us(20);

/// How a loop waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// Polls on: the core is the loop's own.
    Poll,
    /// Polls on before a deadline and otherwise lets others run.
    Yield,
}

impl Idle {
    /// Yielding where `loops` polling loops would leave the machine no core.
    pub fn choose(loops: usize) -> Idle {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        if cores > loops + 1 { Idle::Poll } else { Idle::Yield }
    }

    /// Waits a little, nothing being due for `span`.
    pub fn wait(self, span: Duration) {
        if self == Idle::Poll || span <= WAKE {
            core::hint::spin_loop();
        } else {
            let nap = (span - WAKE).min(LONGEST);
            thread::sleep(Wait::from_nanos(nap.as_ns()));
        }
    }
}
