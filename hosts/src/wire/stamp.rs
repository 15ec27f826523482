//! The stamp at the start of a segment's payload.
//!
//! Layout, big-endian, 16 bytes: magic `0x6e72_7773` ("nrws", 4 bytes), flow (4 bytes), transmit
//! time in picoseconds since the run began (8 bytes). It replaces zeros of the stream in every data
//! segment with at least 16 payload bytes; a retransmission has its own transmit time. The receiver
//! measures one-way delay from it, on every target.

use narrows_common::{Packet, Time};

/// Length of a stamp.
pub const STAMP_BYTES: usize = 16;

const MAGIC: [u8; 4] = *b"nrws";

/// The stamp of a segment of `flow`, sent at `sent_at`.
#[inline]
pub fn emit(flow: u32, sent_at: Time) -> [u8; STAMP_BYTES] {
    let mut stamp = [0; STAMP_BYTES];
    stamp[..4].copy_from_slice(&MAGIC);
    stamp[4..8].copy_from_slice(&flow.to_be_bytes());
    stamp[8..].copy_from_slice(&sent_at.as_ps().to_be_bytes());
    stamp
}

/// The sum of a stamp for the Internet checksum, of 32-bit words.
#[inline(always)]
pub fn sum(flow: u32, sent_at: Time) -> u64 {
    let time = sent_at.as_ps();
    u64::from(u32::from_be_bytes(MAGIC)) + u64::from(flow) + (time >> 32) + (time & 0xffff_ffff)
}

/// Appends `zeros`, replacing the first of them by a stamp if there is room. Returns true if there
/// is.
#[inline(always)]
pub fn append(zeros: u32, flow: u32, sent_at: Time, packet: &mut Packet) -> bool {
    let behind = zeros.checked_sub(STAMP_BYTES as u32);
    if behind.is_some() {
        packet.data.extend_from_slice(&emit(flow, sent_at));
    }
    packet.zeros += behind.unwrap_or(zeros);
    behind.is_some()
}

/// The transmit time of a segment with this payload, if it carries a stamp of `flow`.
#[inline]
pub fn parse(flow: u32, payload: &[u8]) -> Option<Time> {
    let stamp: &[u8; STAMP_BYTES] = payload.first_chunk()?;
    let (name, time) = stamp.split_at(8);
    let named = name[..4] == MAGIC && name[4..] == flow.to_be_bytes();
    named.then(|| Time::from_ps(u64::from_be_bytes(time.try_into().expect("8 bytes"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_found_only_in_its_own_flow() {
        let stamp = emit(7, Time::from_ps(0x0102_0304_0506_0708));
        assert_eq!(stamp, *b"nrws\0\0\0\x07\x01\x02\x03\x04\x05\x06\x07\x08");
        assert_eq!(parse(7, &stamp), Some(Time::from_ps(0x0102_0304_0506_0708)));
        assert_eq!(parse(8, &stamp), None);
        assert_eq!(parse(7, &stamp[..15]), None);
        assert_eq!(parse(7, &[0; 16]), None);
    }
}
