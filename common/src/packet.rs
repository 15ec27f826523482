//! A packet: real bytes, then data that stays in place: bytes in a device's memory, and a count of
//! zeros.

use crate::payload::Payload;

/// The state of a packet's checksums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checksums {
    /// The packet contains them; they must be verified.
    #[default]
    Written,
    /// The receiving device has verified them.
    Verified,
    /// The sending device writes the transport's checksum; its field holds the sum of the
    /// pseudo-header. The packet contains IPv4's checksum.
    Left {
        /// The transport's protocol number in the IPv4 header.
        protocol: u8,
    },
}

/// A packet on a wire, from the Ethernet header on, without the frame check sequence.
///
/// Simulated bulk data is zeros: `data` holds the bytes that matter (all headers, a payload's
/// stamp) and `zeros` counts the rest. So a 1,500-byte segment moves as about 80 bytes. `payload`
/// is the part of a received packet that is still in the device's memory; `zeros` is then 0.
///
/// On its way a packet is in a box, so that each step moves a pointer. Moving its fields would cost
/// more than their copy: a processor that has just written single fields waits before it can read
/// them together. The fields fill one cache line.
#[derive(Debug, Default, PartialEq, Eq)]
#[repr(align(64))]
pub struct Packet {
    /// The packet's first bytes.
    pub data: Vec<u8>,
    /// The bytes after them.
    pub payload: Option<Payload>,
    /// The number of zero bytes after these.
    pub zeros: u32,
    /// The state of its checksums.
    pub checksums: Checksums,
}

impl Packet {
    /// A packet of real bytes only.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Packet { data: bytes.to_vec(), ..Packet::default() }
    }

    /// The length on the wire in bytes, with Ethernet header, without check sequence.
    #[inline]
    pub fn len(&self) -> usize {
        self.data.len() + self.payload_len() + self.zeros as usize
    }

    /// The bytes between `data` and the zeros.
    #[inline]
    pub fn payload(&self) -> &[u8] {
        self.payload.as_ref().map_or(&[], Payload::bytes)
    }

    #[inline]
    fn payload_len(&self) -> usize {
        self.payload.as_ref().map_or(0, Payload::len)
    }

    /// Moves the first `count` bytes, which must exist, into `data`.
    pub fn materialise(&mut self, count: usize) {
        let missing = count.saturating_sub(self.data.len());
        if let Some(payload) = &mut self.payload {
            let taken = missing.min(payload.len());
            self.data.extend_from_slice(&payload.bytes()[..taken]);
            payload.cut_front(taken);
        }
        if let Some(missing) = count.checked_sub(self.data.len()) {
            self.data.resize(count, 0);
            self.zeros -= missing as u32;
        }
    }

    /// Appends the first `len` bytes of another packet, or all if it has fewer, to this empty
    /// packet.
    pub fn copy_front(&mut self, of: &Packet, len: usize) {
        let part = |bytes: &'_ [u8], before: usize| bytes.len().min(len.saturating_sub(before));
        self.data.extend_from_slice(&of.data[..part(&of.data, 0)]);
        let payload = of.payload();
        self.data.extend_from_slice(&payload[..part(payload, of.data.len())]);
        self.zeros = of.zeros.min(len.saturating_sub(self.data.len()) as u32);
    }

    /// True if it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Empties it and keeps its memory.
    #[inline]
    pub fn clear(&mut self) {
        self.data.clear();
        self.payload = None;
        self.zeros = 0;
        self.checksums = Checksums::Written;
    }

    /// Cuts it to `len` bytes; has no effect on a shorter packet.
    pub fn truncate(&mut self, len: usize) {
        let mut left = len.saturating_sub(self.data.len());
        self.data.truncate(len);
        if let Some(payload) = &mut self.payload {
            let kept = left.min(payload.len());
            payload.truncate(kept);
            left -= kept;
        }
        self.zeros = self.zeros.min(left as u32);
    }

    /// All its bytes, with the zeros written out.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = [&self.data, self.payload()].concat();
        bytes.resize(self.len(), 0);
        bytes
    }
}

impl Clone for Packet {
    /// A packet that has its own copy of the payload, in `data`.
    fn clone(&self) -> Self {
        let mut copy = Packet { checksums: self.checksums, ..Packet::default() };
        copy.copy_front(self, self.len());
        copy
    }
}

/// A pool of empty packets, so that steady traffic allocates none.
#[derive(Debug, Default)]
pub struct PacketPool {
    free: Vec<Box<Packet>>,
}

impl PacketPool {
    /// An empty packet.
    #[inline]
    pub fn take(&mut self) -> Box<Packet> {
        self.free.pop().unwrap_or_else(Self::new_packet)
    }

    /// The packet that [`PacketPool::take`] returns next, for a caller that may write into it.
    #[inline]
    pub fn peek(&mut self) -> &mut Packet {
        if self.free.is_empty() {
            self.free.push(Self::new_packet());
        }
        self.free.last_mut().expect("there is one")
    }

    fn new_packet() -> Box<Packet> {
        Box::new(Packet { data: Vec::with_capacity(192), ..Packet::default() })
    }

    /// True if it has no packet.
    pub fn is_empty(&self) -> bool {
        self.free.is_empty()
    }

    /// Takes a packet back.
    #[inline]
    pub fn give(&mut self, mut packet: Box<Packet>) {
        packet.clear();
        self.free.push(packet);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: [u8; 8] = [1, 2, 3, 4, 5, 6, 0, 0];

    /// [`BYTES`] in all three representations.
    fn packet() -> Packet {
        let payload = Some(Payload::leaked(vec![4, 5, 6]));
        Packet { data: vec![1, 2, 3], payload, zeros: 2, checksums: Checksums::Verified }
    }

    #[test]
    fn every_front_of_a_packet_is_the_front_of_its_bytes() {
        assert_eq!(packet().to_bytes(), BYTES);
        for len in 0..10 {
            let front = &BYTES[..len.min(8)];
            let mut cut = packet();
            cut.truncate(len);
            assert_eq!((cut.to_bytes().as_slice(), cut.len()), (front, front.len()));
            let mut copy = Packet::default();
            copy.copy_front(&packet(), len);
            assert_eq!((copy.to_bytes().as_slice(), copy.payload), (front, None));
        }
    }

    #[test]
    fn bytes_that_become_real_are_no_others() {
        for count in 0..=8 {
            let mut packet = packet();
            packet.materialise(count);
            assert_eq!((packet.data.as_slice(), packet.len()), (&BYTES[..count.max(3)], 8));
            assert_eq!(packet.to_bytes(), BYTES);
        }
    }

    #[test]
    fn the_fields_are_one_line_of_memory() {
        assert_eq!(size_of::<Packet>(), 64);
    }

    #[test]
    fn a_packet_that_was_given_back_has_no_payload() {
        let mut pool = PacketPool::default();
        pool.give(Box::new(packet()));
        assert_eq!(*pool.take(), Packet::default());
    }
}
