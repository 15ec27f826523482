//! The greatest value of the last few periods (rounds, or cycles of probing).

/// A maximum over `N` periods, the present one included.
#[derive(Clone, Debug)]
pub struct PeriodMax<const N: usize> {
    /// The greatest of each period, the present one's place being `period % N`.
    slots: [u64; N],
    period: u64,
}

impl<const N: usize> Default for PeriodMax<N> {
    fn default() -> Self {
        PeriodMax { slots: [0; N], period: 0 }
    }
}

impl<const N: usize> PeriodMax<N> {
    /// A value of the given period, which is not before the last.
    pub fn update(&mut self, period: u64, value: u64) {
        for passed in 0..period.saturating_sub(self.period).min(N as u64) {
            self.slots[((period - passed) % N as u64) as usize] = 0;
        }
        self.period = self.period.max(period);
        let slot = &mut self.slots[(self.period % N as u64) as usize];
        *slot = value.max(*slot);
    }

    /// The greatest; 0 before the first.
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
