//! A rate measured on a machine that also runs other processes.

use narrows_common::Duration;

/// The rate is the median over windows of this length: other processes disturb few of them.
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

    /// Packets per second.
    pub fn median(mut self) -> f64 {
        self.each.sort_by(f64::total_cmp);
        self.each[self.each.len() / 2]
    }
}
