//! A log-linear histogram of durations: mean, least and greatest exact, percentiles within 1/128.
//!
//! Each power of two is cut into 64 equal buckets; a percentile is the middle of its bucket, so
//! it is off by at most 1/128 of its value (values below 128 ps are exact to 1 ps).

use narrows_common::Duration;

const SUB_BITS: u32 = 6;
const SUB: u64 = 1 << SUB_BITS;

/// A histogram of durations.
#[derive(Clone, Debug)]
pub struct Histogram {
    buckets: Vec<u64>,
    count: u64,
    sum_ps: u128,
    min_ps: u64,
    max_ps: u64,
}

/// What a histogram comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// How many values.
    pub count: u64,
    /// Their mean, exact to a picosecond; zero without values, as all that follows.
    pub mean: Duration,
    /// The least.
    pub min: Duration,
    /// The median, within 1/128.
    pub p50: Duration,
    /// The 95th percentile, within 1/128.
    pub p95: Duration,
    /// The 99th percentile, within 1/128.
    pub p99: Duration,
    /// The greatest.
    pub max: Duration,
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram { buckets: Vec::new(), count: 0, sum_ps: 0, min_ps: u64::MAX, max_ps: 0 }
    }
}

fn bucket_of(ps: u64) -> usize {
    if ps < 2 * SUB {
        return ps as usize;
    }
    let shift = 63 - SUB_BITS - ps.leading_zeros();
    ((u64::from(shift) + 1) * SUB + (ps >> shift) - SUB) as usize
}

fn middle_of(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < 2 * SUB {
        return bucket;
    }
    let shift = bucket / SUB - 1;
    let low = (SUB + bucket % SUB) << shift;
    low + (1 << shift) / 2
}

impl Histogram {
    /// Adds a value.
    pub fn add(&mut self, value: Duration) {
        let ps = value.as_ps();
        let bucket = bucket_of(ps);
        if bucket >= self.buckets.len() {
            self.buckets.resize(bucket + 1, 0);
        }
        self.buckets[bucket] += 1;
        self.count += 1;
        self.sum_ps += u128::from(ps);
        self.min_ps = self.min_ps.min(ps);
        self.max_ps = self.max_ps.max(ps);
    }

    /// The value that a share `quantile` of the values does not exceed, within 1/128.
    pub fn quantile(&self, quantile: f64) -> Duration {
        let rank = (quantile * self.count as f64) as u64;
        let mut below = 0;
        for (bucket, &count) in self.buckets.iter().enumerate() {
            below += count;
            if below > rank {
                return Duration::from_ps(middle_of(bucket).clamp(self.min_ps, self.max_ps));
            }
        }
        Duration::from_ps(self.max_ps)
    }

    /// What it comes to.
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
        fn percentiles_are_within_a_128th(mut values in prop::collection::vec(0u64..1 << 45, 1..400)) {
            let mut histogram = Histogram::default();
            values.iter().for_each(|&ps| histogram.add(Duration::from_ps(ps)));
            values.sort_unstable();
            let summary = histogram.summary();
            let exact = |q: f64| values[((q * values.len() as f64) as usize).min(values.len() - 1)];
            for (got, q) in [(summary.p50, 0.5), (summary.p95, 0.95), (summary.p99, 0.99)] {
                let error = got.as_ps().abs_diff(exact(q));
                prop_assert!(error as f64 <= exact(q) as f64 / 128.0 + 1.0, "{} for {}", got, exact(q));
            }
            prop_assert_eq!(summary.min.as_ps(), values[0]);
            prop_assert_eq!(summary.max.as_ps(), *values.last().unwrap());
            prop_assert_eq!(summary.mean.as_ps(), values.iter().sum::<u64>() / values.len() as u64);
        }
    }

    #[test]
    fn the_widest_value_has_a_bucket() {
        let mut histogram = Histogram::default();
        histogram.add(Duration::MAX);
        assert_eq!(histogram.summary().max, Duration::MAX);
    }
}
