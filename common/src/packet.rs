//! A packet: real bytes in front, and a length that stands for the zero bytes behind them.

/// A packet on a wire, from the Ethernet header on, without the frame check sequence.
///
/// Simulated bulk data is zeros; `data` holds the bytes that matter (all headers, a payload's
/// stamp) and `zeros` counts those that don't, so a 1,500-byte segment moves as some 80 bytes.
/// Where all bytes are real, `zeros` is 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// The packet's first bytes.
    pub data: Vec<u8>,
    /// How many zero bytes follow them.
    pub zeros: u32,
}

impl Packet {
    /// A packet of real bytes only.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Packet { data: bytes.to_vec(), zeros: 0 }
    }

    /// The length on the wire in bytes, Ethernet header included, check sequence not.
    pub fn len(&self) -> usize {
        self.data.len() + self.zeros as usize
    }

    /// True when there is not a byte in it.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Empties it and keeps its memory.
    pub fn clear(&mut self) {
        self.data.clear();
        self.zeros = 0;
    }

    /// Cuts it to `len` bytes; no effect when it is no longer than that.
    pub fn truncate(&mut self, len: usize) {
        if len <= self.data.len() {
            self.data.truncate(len);
            self.zeros = 0;
        } else {
            self.zeros = self.zeros.min((len - self.data.len()) as u32);
        }
    }

    /// All its bytes, the zeros written out.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.data.clone();
        bytes.resize(self.len(), 0);
        bytes
    }
}

/// A store of emptied packets, so that a busy world allocates none.
#[derive(Debug, Default)]
pub struct PacketPool {
    free: Vec<Packet>,
}

impl PacketPool {
    /// An empty packet.
    pub fn take(&mut self) -> Packet {
        self.free.pop().unwrap_or_else(|| Packet { data: Vec::with_capacity(192), zeros: 0 })
    }

    /// Takes a packet back.
    pub fn give(&mut self, mut packet: Packet) {
        packet.clear();
        self.free.push(packet);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncates_in_the_zeros_and_in_the_data() {
        let mut packet = Packet { data: vec![1, 2, 3], zeros: 5 };
        packet.truncate(9);
        assert_eq!(packet.len(), 8);
        packet.truncate(4);
        assert_eq!(packet.to_bytes(), [1, 2, 3, 0]);
        packet.truncate(2);
        assert_eq!(packet.to_bytes(), [1, 2]);
    }
}
