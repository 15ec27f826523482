//! The maximum of the last few periods (rounds, or cycles of probing).

/// A maximum over `N` periods, including the current one.
#[derive(Clone, Debug)]
pub struct PeriodMax<const N: usize> {
    /// The maximum of each period; the current one's index is `period % N`.
    slots: [u64; N],
    period: u64,
}

impl<const N: usize> Default for PeriodMax<N> {
    fn default() -> Self {
        PeriodMax { slots: [0; N], period: 0 }
    }
}

impl<const N: usize> PeriodMax<N> {
    /// Adds a value of a period, which must not precede the last one.
    pub fn update(&mut self, period: u64, value: u64) {
        for passed in 0..period.saturating_sub(self.period).min(N as u64) {
            self.slots[((period - passed) % N as u64) as usize] = 0;
        }
        self.period = self.period.max(period);
        let slot = &mut self.slots[(self.period % N as u64) as usize];
        *slot = value.max(*slot);
    }

    /// The maximum; 0 before the first value.
    pub fn get(&self) -> u64 {
        self.slots.iter().copied().max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_lasts_n_periods() {
        let mut max = PeriodMax::<3>::default();
        max.update(0, 9);
        max.update(0, 4);
        max.update(1, 5);
        max.update(2, 3);
        assert_eq!(max.get(), 9);
        max.update(3, 1);
        assert_eq!(max.get(), 5);
        max.update(9, 2);
        assert_eq!(max.get(), 2);
    }
}
