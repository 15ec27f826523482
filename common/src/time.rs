//! Time in picoseconds: [`Time`] is an instant since the run began, [`Duration`] a difference.
//!
//! A `u64` of picoseconds lasts 213 days. One bit at 10 Gb/s takes 100 ps, so fractions hardly
//! matter to a shaper's schedule; [`crate::Serializer`] carries them.

use core::fmt;
use core::iter::Sum;
use core::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const PS_PER_NS: u64 = 1_000;
const PS_PER_US: u64 = 1_000_000;
const PS_PER_MS: u64 = 1_000_000_000;
/// Picoseconds in a second.
pub const PS_PER_S: u64 = 1_000_000_000_000;

/// An instant, in picoseconds since the run began.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Time(u64);

/// A span of time in picoseconds.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Duration(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than any instant of a run: never.
    pub const MAX: Time = Time(u64::MAX);

    /// The instant `ps` picoseconds after the start.
    #[inline]
    pub const fn from_ps(ps: u64) -> Self {
        Time(ps)
    }
    /// Picoseconds since the start.
    #[inline]
    pub const fn as_ps(self) -> u64 {
        self.0
    }
    /// Whole nanoseconds since the start, rounded down.
    #[inline]
    pub const fn as_ns(self) -> u64 {
        self.0 / PS_PER_NS
    }
    /// Whole microseconds since the start, rounded down.
    #[inline]
    pub const fn as_us(self) -> u64 {
        self.0 / PS_PER_US
    }
    /// Seconds since the start, for printing and for rules in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }
    /// The first of several deadlines; `None` if there is none.
    #[inline]
    pub fn earliest<const N: usize>(deadlines: [Option<Time>; N]) -> Option<Time> {
        let mut earliest = Time::MAX;
        for &deadline in &deadlines {
            earliest = earliest.min(deadline.unwrap_or(Time::MAX));
        }
        (earliest < Time::MAX).then_some(earliest)
    }
    /// The span since `earlier`.
    ///
    /// # Panics
    /// If `earlier` is later: time went backwards, which is the caller's bug.
    #[track_caller]
    pub fn since(self, earlier: Time) -> Duration {
        match self.0.checked_sub(earlier.0) {
            Some(ps) => Duration(ps),
            None => panic!("{self:?} is before {earlier:?}"),
        }
    }
    /// The span since `earlier`; zero if `earlier` is later.
    #[inline]
    pub const fn saturating_since(self, earlier: Time) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    /// Zero.
    pub const ZERO: Duration = Duration(0);
    /// Longer than any run.
    pub const MAX: Duration = Duration(u64::MAX);

    /// A span of `ps` picoseconds.
    #[inline]
    pub const fn from_ps(ps: u64) -> Self {
        Duration(ps)
    }
    /// A span of `ns` nanoseconds.
    #[inline]
    pub const fn from_ns(ns: u64) -> Self {
        Duration(ns * PS_PER_NS)
    }
    /// A span of `us` microseconds.
    #[inline]
    pub const fn from_us(us: u64) -> Self {
        Duration(us * PS_PER_US)
    }
    /// A span of `ms` milliseconds.
    #[inline]
    pub const fn from_ms(ms: u64) -> Self {
        Duration(ms * PS_PER_MS)
    }
    /// A span of `s` seconds.
    #[inline]
    pub const fn from_secs(s: u64) -> Self {
        Duration(s * PS_PER_S)
    }
    /// A span of `s` seconds, rounded to the nearest picosecond; negative and NaN give zero.
    pub fn from_secs_f64(s: f64) -> Self {
        // `as` saturates: an over-long span becomes MAX, and NaN becomes zero.
        Duration((s * PS_PER_S as f64 + 0.5) as u64)
    }
    /// Picoseconds.
    #[inline]
    pub const fn as_ps(self) -> u64 {
        self.0
    }
    /// Whole nanoseconds, rounded down.
    #[inline]
    pub const fn as_ns(self) -> u64 {
        self.0 / PS_PER_NS
    }
    /// Whole microseconds, rounded down.
    #[inline]
    pub const fn as_us(self) -> u64 {
        self.0 / PS_PER_US
    }
    /// Seconds, for printing and for rules in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }
    /// `self - other`; zero if `other` is longer.
    #[inline]
    pub const fn saturating_sub(self, other: Duration) -> Duration {
        Duration(self.0.saturating_sub(other.0))
    }
    /// `self * factor`; [`Duration::MAX`] on overflow.
    #[inline]
    pub const fn saturating_mul(self, factor: u64) -> Duration {
        Duration(self.0.saturating_mul(factor))
    }
    /// `self * numerator / denominator`, rounded down.
    pub const fn mul_div_floor(self, numerator: u64, denominator: u64) -> Duration {
        Duration((self.0 as u128 * numerator as u128 / denominator as u128) as u64)
    }
}

impl Add<Duration> for Time {
    type Output = Time;
    /// Saturates at [`Time::MAX`], never.
    #[inline]
    fn add(self, span: Duration) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}
impl AddAssign<Duration> for Time {
    #[inline]
    fn add_assign(&mut self, span: Duration) {
        *self = *self + span;
    }
}
impl Sub<Duration> for Time {
    type Output = Time;
    #[inline]
    fn sub(self, span: Duration) -> Time {
        Time(self.0 - span.0)
    }
}
impl Add for Duration {
    type Output = Duration;
    #[inline]
    fn add(self, other: Duration) -> Duration {
        Duration(self.0.saturating_add(other.0))
    }
}
impl AddAssign for Duration {
    #[inline]
    fn add_assign(&mut self, other: Duration) {
        *self = *self + other;
    }
}
impl Sub for Duration {
    type Output = Duration;
    #[inline]
    fn sub(self, other: Duration) -> Duration {
        Duration(self.0 - other.0)
    }
}
impl SubAssign for Duration {
    #[inline]
    fn sub_assign(&mut self, other: Duration) {
        *self = *self - other;
    }
}
impl Mul<u64> for Duration {
    type Output = Duration;
    #[inline]
    fn mul(self, factor: u64) -> Duration {
        Duration(self.0 * factor)
    }
}
impl Div<u64> for Duration {
    type Output = Duration;
    /// Rounds down.
    fn div(self, divisor: u64) -> Duration {
        Duration(self.0 / divisor)
    }
}
impl Sum for Duration {
    fn sum<I: Iterator<Item = Duration>>(spans: I) -> Duration {
        spans.fold(Duration::ZERO, Add::add)
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t={}", Duration(self.0))
    }
}
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Duration(self.0).fmt(f)
    }
}
impl fmt::Debug for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
impl fmt::Display for Duration {
    /// Formats in the largest unit that gives a whole part, exact to the picosecond: `1.5ms`,
    /// `800ps`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit_ps, name, digits) = match self.0 {
            PS_PER_S.. => (PS_PER_S, "s", 12),
            PS_PER_MS.. => (PS_PER_MS, "ms", 9),
            PS_PER_US.. => (PS_PER_US, "us", 6),
            PS_PER_NS.. => (PS_PER_NS, "ns", 3),
            _ => return write!(f, "{}ps", self.0),
        };
        let fraction = format!("{:0digits$}", self.0 % unit_ps);
        match fraction.trim_end_matches('0') {
            "" => write!(f, "{}{name}", self.0 / unit_ps),
            fraction => write!(f, "{}.{fraction}{name}", self.0 / unit_ps),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_of_deadlines_is_none_where_there_is_none() {
        let at = |ps| Some(Time::from_ps(ps));
        assert_eq!(Time::earliest([at(3), None, at(2), at(9)]), at(2));
        assert_eq!(Time::earliest([None, at(7)]), at(7));
        assert_eq!(Time::earliest([None, Some(Time::MAX)]), None);
    }

    #[test]
    fn prints_every_picosecond_in_the_largest_unit() {
        for (ps, text) in [
            (0, "0ps"),
            (999, "999ps"),
            (1_500, "1.5ns"),
            (2_422_400_000, "2.4224ms"),
            (60_000_000_000_001, "60.000000000001s"),
        ] {
            assert_eq!(Duration::from_ps(ps).to_string(), text);
        }
    }

    #[test]
    fn never_stays_never() {
        assert_eq!(Time::MAX + Duration::from_secs(1), Time::MAX);
    }
}
