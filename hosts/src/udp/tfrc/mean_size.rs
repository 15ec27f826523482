//! The mean length of the segments sent.

/// Where a datagram's length enters the mean.
#[derive(Clone, Copy, Debug)]
pub(super) struct MeanSize(pub(super) f64);

impl MeanSize {
    /// The newest datagram counts a tenth.
    pub(super) fn add(&mut self, bytes: u32) {
        self.0 = 0.9 * self.0 + 0.1 * f64::from(bytes);
    }
}
