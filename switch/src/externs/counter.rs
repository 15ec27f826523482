//! Counters: always packets and bytes, as bmv2 counts them.

/// Packets and bytes counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Bytes of frames as they arrived at the switch.
    pub bytes: u64,
}

impl Count {
    pub(crate) fn add(&mut self, bytes: u64) {
        self.packets += 1;
        self.bytes += bytes;
    }
}
