//! The timers of a connection.

use narrows_common::Time;

/// The purpose of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    /// Retransmission (RFC 6298).
    Retransmit,
    /// Zero-window probe (RFC 9293 section 3.8.6.1).
    Persist,
    /// The next paced segment.
    Pace,
    /// Delayed ACK (RFC 1122 section 4.2.3.2).
    DelayedAck,
    /// TIME-WAIT's 2 MSL.
    TimeWait,
    /// The next keep-alive (RFC 9293 section 3.8.4).
    KeepAlive,
    /// The user timeout (RFC 9293 section 3.9.1).
    User,
}

impl Timer {
    /// All timers, in the order in which they fire at the same instant.
    pub const ALL: [Timer; 7] = [
        Timer::Retransmit,
        Timer::Persist,
        Timer::Pace,
        Timer::DelayedAck,
        Timer::TimeWait,
        Timer::KeepAlive,
        Timer::User,
    ];
}

/// When each timer fires; [`Time::MAX`] for never.
#[derive(Clone, Copy, Debug)]
pub struct TimerTable([Time; Timer::ALL.len()]);

impl Default for TimerTable {
    fn default() -> Self {
        TimerTable([Time::MAX; Timer::ALL.len()])
    }
}

impl TimerTable {
    /// Sets a timer, replacing an earlier setting.
    pub fn set(&mut self, timer: Timer, at: Time) {
        self.0[timer as usize] = at;
    }

    /// Stops a timer.
    pub fn stop(&mut self, timer: Timer) {
        self.0[timer as usize] = Time::MAX;
    }

    /// True while the timer runs.
    pub fn is_set(&self, timer: Timer) -> bool {
        self.0[timer as usize] != Time::MAX
    }

    /// The earliest.
    pub fn next(&self) -> Option<Time> {
        // `Iterator::min` compares by `Ordering`, which costs 20 instructions a timer.
        let first = self.0.iter().fold(Time::MAX, |first, &at| if at < first { at } else { first });
        (first < Time::MAX).then_some(first)
    }

    /// Stops and returns a timer that is due at `now`; `None` if there is none.
    pub fn take_due(&mut self, now: Time) -> Option<Timer> {
        let timer = Timer::ALL.into_iter().find(|&timer| self.0[timer as usize] <= now)?;
        self.stop(timer);
        Some(timer)
    }
}
