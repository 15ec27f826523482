//! A log-linear histogram of durations. Mean, minimum and maximum are exact; percentiles are
//! approximate.
//!
//! Each power of two is divided into `2^precision_bits` equal buckets, and a percentile is the
//! middle of its bucket. So its error is at most `2^-(precision_bits + 1)` of its value. The memory
//! is `4 * 2^precision_bits` bytes for each power of two between the minimum and the maximum. A
//! bucket counts up to 2^32 - 1 values.

use crate::prefetch::prefetch;
use crate::time::Duration;

/// The buckets in a cache line.
const BUCKETS_PER_LINE: usize = 16;

/// A histogram of durations. Except for the buckets, it fits into one cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Histogram {
    precision_bits: u16,
    /// The cache line of the latest value's bucket, counted from the first bucket's.
    latest_line: u16,
    /// The number of the first of `buckets`; a power of two begins there.
    first: u32,
    buckets: Box<[u32]>,
    count: u64,
    sum_ps: u128,
    min_ps: u64,
    max_ps: u64,
}

/// The statistics of a histogram.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// The number of values.
    pub count: u64,
    /// The mean, exact to a picosecond. Without values it is zero, as are all following fields.
    pub mean: Duration,
    /// The minimum.
    pub min: Duration,
    /// The median, within the histogram's precision.
    pub p50: Duration,
    /// The 95th percentile, with the same precision.
    pub p95: Duration,
    /// The 99th percentile, with the same precision.
    pub p99: Duration,
    /// The maximum.
    pub max: Duration,
}

impl Histogram {
    /// An empty histogram with percentiles within `2^-(precision_bits + 1)`.
    ///
    /// # Panics
    /// If `precision_bits` is above 16.
    pub fn new(precision_bits: u32) -> Self {
        assert!(
            precision_bits <= 16,
            "{precision_bits} bits of precision would take too much memory"
        );
        Histogram {
            precision_bits: precision_bits as u16,
            latest_line: 0,
            first: 0,
            buckets: Box::default(),
            count: 0,
            sum_ps: 0,
            min_ps: u64::MAX,
            max_ps: 0,
        }
    }

    /// Shifts out the bits below the precision. The rest begins with a one, and takes
    /// `2^precision_bits` values per power of two.
    fn bucket_of(&self, ps: u64) -> usize {
        let shift = (63 - u32::from(self.precision_bits)).saturating_sub((ps | 1).leading_zeros());
        ((u64::from(shift) << self.precision_bits) + (ps >> shift)) as usize
    }

    fn middle_of(&self, bucket: usize) -> u64 {
        let (bucket, per_octave) = (bucket as u64, 1 << self.precision_bits);
        if bucket < 2 * per_octave {
            return bucket;
        }
        let shift = bucket / per_octave - 1;
        let low = (per_octave + bucket % per_octave) << shift;
        low + (1 << shift) / 2
    }

    /// Adds buckets up to this one, in whole powers of two.
    #[cold]
    fn make_room(&mut self, bucket: usize) {
        let per_octave = 1 << self.precision_bits;
        let octave_start = bucket / per_octave * per_octave;
        let first = self.first as usize;
        if self.buckets.is_empty() {
            self.buckets = vec![0; per_octave].into();
            self.first = octave_start as u32;
        } else if octave_start < first {
            self.buckets = [&vec![0; first - octave_start], &*self.buckets].concat().into();
            self.first = octave_start as u32;
        } else {
            let above = octave_start + per_octave - first - self.buckets.len();
            self.buckets = [&*self.buckets, &vec![0; above]].concat().into();
        }
    }

    /// Adds a value.
    #[inline]
    pub fn add(&mut self, value: Duration) {
        let ps = value.as_ps();
        let bucket = self.bucket_of(ps);
        if bucket.wrapping_sub(self.first as usize) >= self.buckets.len() {
            self.make_room(bucket);
        }
        let at = bucket - self.first as usize;
        self.latest_line = (at / BUCKETS_PER_LINE) as u16;
        let count = &mut self.buckets[at];
        *count = count.saturating_add(1);
        self.count += 1;
        self.sum_ps += u128::from(ps);
        self.min_ps = self.min_ps.min(ps);
        self.max_ps = self.max_ps.max(ps);
    }

    /// Asks for the memory of the latest value's bucket: the next value often is near it.
    pub fn prefetch_bucket(&self) {
        let latest = usize::from(self.latest_line) * BUCKETS_PER_LINE;
        self.buckets.get(latest).into_iter().for_each(prefetch);
    }

    /// The value that a fraction `quantile` of the values does not exceed.
    pub fn quantile(&self, quantile: f64) -> Duration {
        let rank = (quantile * self.count as f64) as u64;
        let mut below = 0;
        for (at, &count) in self.buckets.iter().enumerate() {
            below += u64::from(count);
            if below > rank {
                let middle_ps =
                    self.middle_of(self.first as usize + at).clamp(self.min_ps, self.max_ps);
                return Duration::from_ps(middle_ps);
            }
        }
        Duration::from_ps(self.max_ps)
    }

    /// The statistics.
    pub fn summary(&self) -> Summary {
        if self.count == 0 {
            return Summary::default();
        }
        Summary {
            count: self.count,
            mean: Duration::from_ps((self.sum_ps / u128::from(self.count)) as u64),
            min: Duration::from_ps(self.min_ps),
            p50: self.quantile(0.50),
            p95: self.quantile(0.95),
            p99: self.quantile(0.99),
            max: Duration::from_ps(self.max_ps),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn percentiles_are_within_the_precision(mut values in prop::collection::vec(0u64..1 << 45, 1..400), bits in 4u32..12) {
            let mut histogram = Histogram::new(bits);
            values.iter().for_each(|&ps| histogram.add(Duration::from_ps(ps)));
            values.sort_unstable();
            let summary = histogram.summary();
            let exact = |q: f64| values[((q * values.len() as f64) as usize).min(values.len() - 1)];
            for (got, q) in [(summary.p50, 0.5), (summary.p95, 0.95), (summary.p99, 0.99)] {
                let error = got.as_ps().abs_diff(exact(q)) as f64;
                let allowed = exact(q) as f64 / f64::from(2 << bits) + 1.0;
                prop_assert!(error <= allowed, "{} for {}", got, exact(q));
            }
            prop_assert_eq!(summary.min.as_ps(), values[0]);
            prop_assert_eq!(summary.max.as_ps(), *values.last().unwrap());
            prop_assert_eq!(summary.mean.as_ps(), values.iter().sum::<u64>() / values.len() as u64);
        }
    }

    /// 64 buckets of 4 bytes per power of two: 10 ms to 40 ms span at most three.
    #[test]
    fn it_has_room_for_what_comes_only() {
        let mut histogram = Histogram::new(6);
        for ms in [20, 10, 39] {
            histogram.add(Duration::from_ms(ms));
        }
        assert!(histogram.buckets.len() <= 3 * 64, "{} buckets", histogram.buckets.len());
        assert_eq!(histogram.quantile(0.0), Duration::from_ms(10));
    }

    #[test]
    fn it_is_a_line_of_memory() {
        assert_eq!(size_of::<Histogram>(), 64);
    }

    #[test]
    fn the_widest_value_has_a_bucket() {
        let mut histogram = Histogram::new(6);
        histogram.add(Duration::MAX);
        assert_eq!(histogram.summary().max, Duration::MAX);
    }
}
