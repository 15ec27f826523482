//! The time-stamp counter as picoseconds since the clock's creation.
//!
//! If the processor does not report the counter's frequency, DPDK rounds it to 10 MHz, an error of
//! up to 0.2 %. So the frequency is measured against `CLOCK_MONOTONIC_RAW`. [`Clock::error_ppm`]
//! measures it again over the clock's whole life, and a run reports that error.

use core::time::Duration as Wait;

use narrows_common::Time;

use crate::eal::Eal;
use crate::sys;

/// The duration of the frequency measurement. Reading both clocks together is accurate to about 0.1
/// us, which is 2 parts per million.
const MEASURE: Wait = Wait::from_millis(50);
/// Readings, of which the closest pair counts: an interrupt between the two clocks spoils a pair.
const READINGS: usize = 9;
/// A sleeping thread usually wakes at most this late.
const WAKE: Wait = Wait::from_millis(1);
/// Fraction bits of picoseconds per tick.
const SHIFT: u32 = 40;

/// Picoseconds since its creation; never goes back.
#[derive(Clone, Debug)]
pub struct Clock {
    begin_ticks: u64,
    /// Picoseconds per tick, with [`SHIFT`] fraction bits.
    factor: u128,
    last: Time,
    steps_back: u64,
    begin_pair: Pair,
}

/// A clock's start and rate, which let several processes share one clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// The start by `CLOCK_MONOTONIC_RAW`.
    pub at_ns: u64,
    /// Picoseconds per tick of the counter, with 40 fraction bits ([`Clock::rate`]).
    pub rate: u64,
}

/// Both clocks at one instant.
#[derive(Clone, Copy, Debug)]
struct Pair {
    ticks: u64,
    raw_ns: u64,
}

fn ticks() -> u64 {
    // SAFETY: reads a register.
    unsafe { sys::nrw_tsc() }
}

impl Pair {
    fn read() -> Pair {
        let reading = || {
            let before = ticks();
            // SAFETY: reads a clock.
            let raw_ns = unsafe { sys::nrw_raw_ns() };
            let after = ticks();
            (after.wrapping_sub(before), Pair { ticks: before + (after - before) / 2, raw_ns })
        };
        let readings = (0..READINGS).map(|_| reading());
        readings.min_by_key(|&(spread, _)| spread).expect("several readings").1
    }

    fn factor_since(self, begin: Pair) -> u128 {
        let ps = u128::from(self.raw_ns - begin.raw_ns) * 1000;
        (ps << SHIFT) / u128::from((self.ticks - begin.ticks).max(1))
    }
}

impl Clock {
    /// Creates a clock that starts on return; takes [`MEASURE`].
    pub fn start(_: Eal) -> Clock {
        let begin = Pair::read();
        std::thread::sleep(MEASURE);
        let factor = Pair::read().factor_since(begin);
        Clock { begin_ticks: ticks(), factor, last: Time::ZERO, steps_back: 0, begin_pair: begin }
    }

    /// Restarts at zero with the same frequency. Returns `CLOCK_MONOTONIC_RAW` at that instant, in
    /// nanoseconds.
    pub fn restart(&mut self) -> u64 {
        let Pair { ticks, raw_ns } = Pair::read();
        self.begin_ticks = ticks;
        self.last = Time::ZERO;
        raw_ns
    }

    /// Restarts at zero, at an instant that may be in the future, with another clock's rate.
    /// Returns at that instant, like [`Clock::restart`].
    pub fn restart_at(&mut self, start: Start) -> u64 {
        self.factor = u128::from(start.rate);
        let here = Pair::read();
        let ahead_ps = u128::from(start.at_ns.saturating_sub(here.raw_ns)) * 1000;
        let behind_ps = u128::from(here.raw_ns.saturating_sub(start.at_ns)) * 1000;
        let ticks_in = |ps: u128| ((ps << SHIFT) / self.factor.max(1)) as u64;
        self.begin_ticks = here.ticks + ticks_in(ahead_ps) - ticks_in(behind_ps);
        self.last = Time::ZERO;
        let ahead = Wait::from_nanos(start.at_ns.saturating_sub(here.raw_ns));
        std::thread::sleep(ahead.saturating_sub(WAKE));
        while ticks() < self.begin_ticks {
            core::hint::spin_loop();
        }
        start.at_ns
    }

    /// Picoseconds per tick, with 40 fraction bits.
    pub fn rate(&self) -> u64 {
        self.factor as u64
    }

    /// The time now.
    pub fn now(&mut self) -> Time {
        self.at(ticks())
    }

    fn at(&mut self, ticks: u64) -> Time {
        // A counter that was set back, as by a migration to another machine, stands still.
        let since = ticks.checked_sub(self.begin_ticks);
        let ps = since.map_or(0, |ticks| ((u128::from(ticks) * self.factor) >> SHIFT) as u64);
        let now = Time::from_ps(ps);
        if now < self.last {
            self.steps_back += 1;
        } else {
            self.last = now;
        }
        self.last
    }

    /// How often the counter went back.
    pub fn steps_back(&self) -> u64 {
        self.steps_back
    }

    /// By how many parts per million the clock's seconds are too long (above zero) or too short,
    /// since the frequency was measured.
    pub fn error_ppm(&self) -> f64 {
        self.error_at(Pair::read())
    }

    fn error_at(&self, now: Pair) -> f64 {
        let now = now.factor_since(self.begin_pair);
        (self.factor as f64 / now as f64 - 1.0) * 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Real processors' frequencies. All except the second are not multiples of 10 MHz, to which
    /// DPDK rounds a measured frequency.
    const FREQUENCIES_HZ: [u64; 3] = [2_596_120_000, 2_100_000_000, 3_193_900_000];

    /// Both clocks exactly this many seconds later.
    fn pair_after(seconds: u64, hz: u64) -> Pair {
        Pair { ticks: 7_000 + seconds * hz, raw_ns: 9_000 + seconds * 1_000_000_000 }
    }

    /// A clock that was measured over a second and started with the measurement.
    fn clock(hz: u64) -> Clock {
        let begin_pair = pair_after(0, hz);
        let factor = pair_after(1, hz).factor_since(begin_pair);
        let begin_ticks = begin_pair.ticks;
        Clock { begin_ticks, factor, last: Time::ZERO, steps_back: 0, begin_pair }
    }

    #[test]
    fn an_hour_of_the_counter_is_an_hour() {
        for hz in FREQUENCIES_HZ {
            let mut clock = clock(hz);
            let now = clock.at(pair_after(3600, hz).ticks);
            // Picoseconds per tick have 40 fraction bits, so an hour is accurate to 10 ns.
            let short_ps = 3_600_000_000_000_000 - now.as_ps();
            assert!(short_ps < 10_000, "{hz} Hz: {short_ps} ps short");
            assert!(clock.error_at(pair_after(3600, hz)).abs() < 1e-3, "{hz} Hz");
        }
    }

    /// 2,596.12 MHz as 2,600 MHz makes every second 1.49 ms short.
    #[test]
    fn a_frequency_rounded_to_ten_megahertz_is_an_error_of_its_rate() {
        for (hz, expected_ppm) in FREQUENCIES_HZ.into_iter().zip([-1492.3, 0.0, 1222.6]) {
            let rounded = (hz + 5_000_000) / 10_000_000 * 10_000_000;
            let trusting = Clock { factor: clock(rounded).factor, ..clock(hz) };
            let error_ppm = trusting.error_at(pair_after(10, hz));
            assert!((error_ppm - expected_ppm).abs() < 0.1, "{hz} Hz: {error_ppm}");
        }
    }

    #[test]
    fn a_counter_that_was_set_back_stands_still_and_is_counted() {
        for hz in FREQUENCIES_HZ {
            let mut clock = clock(hz);
            let second = clock.at(pair_after(5, hz).ticks);
            assert_eq!(clock.at(pair_after(4, hz).ticks), second);
            assert_eq!(clock.steps_back(), 1);
            assert!(clock.at(pair_after(6, hz).ticks) > second);
            clock.begin_ticks = pair_after(10, hz).ticks;
            let stood = clock.last;
            assert_eq!(clock.at(pair_after(9, hz).ticks), stood, "before the clock's beginning");
            assert_eq!(clock.steps_back(), 2);
        }
    }

    /// After 10 s by the system's clock the counter has jumped ahead by 1 s, so its seconds seem a
    /// tenth too long. Such a run is invalid.
    #[test]
    fn a_counter_that_jumped_ahead_is_an_error_of_its_rate() {
        for hz in FREQUENCIES_HZ {
            let late = Pair { ticks: pair_after(11, hz).ticks, ..pair_after(10, hz) };
            let error_ppm = clock(hz).error_at(late);
            assert!((error_ppm - 100_000.0).abs() < 1e-2, "{hz} Hz: {error_ppm}");
        }
    }
}
