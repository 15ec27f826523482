//! The header of every message in a stream.
//!
//! Layout, big-endian, 24 bytes: magic `0x6e72_776d` ("nrwm", 4 bytes), length of the message
//! including this header (4 bytes), number of the message in its flow from 0 (8 bytes), time of
//! writing in picoseconds since the run began (8 bytes). Zeros follow up to the message's length,
//! then the next header. So the receiver finds every message's end in the stream, on every target.
//! A bulk transfer has no messages and no headers.

use narrows_common::Time;

/// Length of a header, and of the shortest message.
pub const HEADER_BYTES: u32 = 24;

const MAGIC: [u8; 4] = *b"nrwm";

/// The fields of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Length of the message including its header.
    pub length_bytes: u32,
    /// Number of the message in its flow, from 0. A forwarded message has its origin in the upper
    /// half.
    pub number: u64,
    /// When the application wrote it.
    pub written_at: Time,
}

impl Header {
    /// The flow on which a forwarded message was first written.
    pub fn origin(number: u64) -> u32 {
        (number >> 32) as u32
    }

    /// The header of this message when forwarded from the flow `origin`.
    pub fn sent_on(self, origin: u32) -> Header {
        Header { number: u64::from(origin) << 32 | self.number & 0xffff_ffff, ..self }
    }

    /// The header's bytes.
    pub fn emit(&self) -> [u8; HEADER_BYTES as usize] {
        let mut bytes = [0; HEADER_BYTES as usize];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4..8].copy_from_slice(&self.length_bytes.to_be_bytes());
        bytes[8..16].copy_from_slice(&self.number.to_be_bytes());
        bytes[16..].copy_from_slice(&self.written_at.as_ps().to_be_bytes());
        bytes
    }

    /// Parses a header; `None` if the bytes are not a header.
    pub fn parse(bytes: &[u8]) -> Option<Header> {
        let bytes: &[u8; HEADER_BYTES as usize] = bytes.try_into().ok()?;
        let length_bytes = u32::from_be_bytes(bytes[4..8].try_into().ok()?);
        let header = Header {
            length_bytes,
            number: u64::from_be_bytes(bytes[8..16].try_into().ok()?),
            written_at: Time::from_ps(u64::from_be_bytes(bytes[16..].try_into().ok()?)),
        };
        (bytes[..4] == MAGIC && length_bytes >= HEADER_BYTES).then_some(header)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_the_bytes_of_its_layout_and_nothing_else_is_one() {
        let header = Header { length_bytes: 80, number: 259, written_at: Time::from_ps(1 << 40) };
        let bytes = *b"nrwm\0\0\0\x50\0\0\0\0\0\0\x01\x03\0\0\x01\0\0\0\0\0";
        assert_eq!(header.emit(), bytes);
        assert_eq!(Header::parse(&bytes), Some(header));
        assert_eq!(Header::parse(&bytes[..23]), None);
        assert_eq!(Header::parse(&[0; 24]), None);
        let too_short = *b"nrwm\0\0\0\x17\0\0\0\0\0\0\x01\x03\0\0\x01\0\0\0\0\0";
        assert_eq!(Header::parse(&too_short), None);
    }
}
