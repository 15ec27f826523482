//! The mean length of sent segments.

/// A moving mean of datagram lengths.
#[derive(Clone, Copy, Debug)]
pub(super) struct MeanSize(pub(super) f64);

impl MeanSize {
    /// Adds a datagram with a weight of one tenth.
    pub(super) fn add(&mut self, bytes: u32) {
        self.0 = 0.9 * self.0 + 0.1 * f64::from(bytes);
    }
}
