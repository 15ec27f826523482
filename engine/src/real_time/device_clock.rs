//! Converts a device's timestamps of received packets to the path's clock.
//!
//! The path reads both clocks together from time to time. The first and the last reading give the
//! device's rate; stamps count from the last reading. So a reading error of 1 us causes an error of
//! about 1 us, regardless of the run's length.

use narrows_common::Time;

/// Both clocks at one instant.
#[derive(Clone, Copy, Debug)]
struct Reading {
    ticks: u64,
    time: Time,
}

/// The readings so far.
#[derive(Debug, Default)]
pub(crate) struct DeviceClock {
    first: Option<Reading>,
    last: Option<Reading>,
}

impl DeviceClock {
    /// The device's clock shows `ticks` at `time`.
    pub(crate) fn read(&mut self, ticks: u64, time: Time) {
        let reading = Reading { ticks, time };
        // A clock that was set back, or stands still, starts again.
        let goes_on = self.last.is_some_and(|last| ticks > last.ticks && time > last.time);
        self.first = if goes_on { self.first } else { Some(reading) };
        self.last = Some(reading);
    }

    /// The time at which the device's clock showed `ticks`; `None` before its rate is known.
    pub(crate) fn time_of(&self, ticks: u64) -> Option<Time> {
        let (first, last) = (self.first?, self.last?);
        let span_ticks = i128::from(last.ticks - first.ticks);
        let span_ps = i128::from(last.time.since(first.time).as_ps());
        let since_ticks = i128::from(ticks) - i128::from(last.ticks);
        let since_ps = since_ticks.checked_mul(span_ps)?.checked_div(span_ticks)?;
        u64::try_from(i128::from(last.time.as_ps()) + since_ps).ok().map(Time::from_ps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ns(ns: u64) -> Time {
        Time::from_ps(ns * 1000)
    }

    /// A clock of 250 MHz (4 ns per tick) that showed 1,000 at 50 ns.
    #[test]
    fn a_stamp_counts_from_the_last_reading_at_the_rate() {
        let mut clock = DeviceClock::default();
        assert_eq!(clock.time_of(1000), None);
        clock.read(1000, ns(50));
        assert_eq!(clock.time_of(1000), None, "one reading is no rate");
        clock.read(1000 + 250_000, ns(50 + 1_000_000));
        assert_eq!(clock.time_of(1000), Some(ns(50)));
        assert_eq!(clock.time_of(1000 + 250_000 + 25), Some(ns(1_000_050 + 100)));
        assert_eq!(clock.time_of(0), None, "before the run");
    }

    #[test]
    fn a_clock_that_was_set_back_begins_anew() {
        let mut clock = DeviceClock::default();
        clock.read(5000, ns(0));
        clock.read(6000, ns(1000));
        clock.read(10, ns(2000));
        assert_eq!(clock.time_of(20), None);
        clock.read(1010, ns(4000));
        assert_eq!(clock.time_of(510), Some(ns(3000)));
    }

    /// The device reports the largest possible stamps.
    #[test]
    fn no_stamp_overflows() {
        let mut clock = DeviceClock::default();
        clock.read(0, ns(0));
        clock.read(1, Time::from_ps(u64::MAX));
        assert_eq!(clock.time_of(u64::MAX), None);
    }
}
