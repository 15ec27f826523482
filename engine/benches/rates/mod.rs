//! A rate of a machine on which others run too.

use narrows_common::Duration;

/// The rate is the median of those over so long: most are not disturbed by what else runs.
const WINDOW: Duration = Duration::from_us(200);

/// Rates, window by window.
#[derive(Default)]
pub struct Rates {
    spent: Duration,
    count: usize,
    each: Vec<f64>,
}

impl Rates {
    /// Counts `count` packets, which took `spent`.
    pub fn add(&mut self, spent: Duration, count: usize) {
        self.spent += spent;
        self.count += count;
        if self.spent > WINDOW {
            self.each.push(self.count as f64 / self.spent.as_secs_f64());
            (self.spent, self.count) = (Duration::ZERO, 0);
        }
    }

    /// Packets a second.
    pub fn median(mut self) -> f64 {
        self.each.sort_by(f64::total_cmp);
        self.each[self.each.len() / 2]
    }
}
