//! A device's clock seen from the path's: when a packet came that the device has stamped.
//!
//! Both clocks are read together now and then. The first and the last reading give the device's
//! rate, the last one the offset from which a stamp is counted: an error of reading of 1 us is an
//! error of some 1 us, however long the run.

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
        // A clock that was set back or stands still begins anew.
        let goes_on = self.last.is_some_and(|last| ticks > last.ticks && time > last.time);
        self.first = if goes_on { self.first } else { Some(reading) };
        self.last = Some(reading);
    }

    /// When the device's clock showed `ticks`; `None` before its rate is known.
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

    /// A clock of 250 MHz (4 ns a tick) that showed 1,000 at 50 ns.
    #[test]
    fn a_stamp_is_told_by_the_last_reading_and_the_rate() {
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

    /// The device reports the largest stamps there are.
    #[test]
    fn no_stamp_overflows() {
        let mut clock = DeviceClock::default();
        clock.read(0, ns(0));
        clock.read(1, Time::from_ps(u64::MAX));
        assert_eq!(clock.time_of(u64::MAX), None);
    }
}
