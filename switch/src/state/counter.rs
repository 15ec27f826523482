//! Counters: always both packets and bytes, as in bmv2.

/// Packets and bytes counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Bytes of frames, as received by the switch.
    pub bytes: u64,
}

impl core::ops::Add for Count {
    type Output = Count;

    fn add(self, other: Count) -> Count {
        Count { packets: self.packets + other.packets, bytes: self.bytes + other.bytes }
    }
}

impl Count {
    pub(crate) fn note(&mut self, bytes: u64) {
        self.packets += 1;
        self.bytes += bytes;
    }
}
