//! The bytes of a frame that count against a rate or a limit.

use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Ethernet's header: addresses and type.
const HEADER_BYTES: u64 = 14;
/// Ethernet's frame check sequence.
const CHECK_BYTES: u64 = 4;
/// The shortest frame, including its check sequence (IEEE 802.3 clause 4).
const SHORTEST_BYTES: u64 = 64;
/// 7 + 1 bytes of preamble and 12 of gap (IEEE 802.3 clause 4).
const PREAMBLE_AND_GAP_BYTES: u64 = 20;

/// The bytes of a frame that count against a rate or a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LengthBasis {
    /// The IP packet: the frame without its header.
    Ip,
    /// The Ethernet frame without its check sequence: [`crate::Packet::len`].
    #[default]
    Frame,
    /// The frame on the wire: with check sequence, padding to 64 bytes, preamble and gap.
    Wire,
}

impl LengthBasis {
    /// The name in scenarios and plans.
    pub const fn name(self) -> &'static str {
        match self {
            LengthBasis::Ip => "ip",
            LengthBasis::Frame => "frame",
            LengthBasis::Wire => "wire",
        }
    }

    /// The counted bytes of a frame with `frame_bytes`, without its check sequence.
    #[inline]
    pub fn bytes(self, frame_bytes: u64) -> Bytes {
        Bytes::new(match self {
            LengthBasis::Ip => frame_bytes.saturating_sub(HEADER_BYTES),
            LengthBasis::Frame => frame_bytes,
            LengthBasis::Wire => {
                (frame_bytes + CHECK_BYTES).max(SHORTEST_BYTES) + PREAMBLE_AND_GAP_BYTES
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::LengthBasis::{Frame, Ip, Wire};

    #[test]
    fn bytes_of_a_full_and_of_the_shortest_frame() {
        assert_eq!([Ip, Frame, Wire].map(|basis| basis.bytes(1514).get()), [1500, 1514, 1538]);
        assert_eq!(Wire.bytes(54).get(), 84, "64 bytes at least, and 20 of preamble and gap");
        assert_eq!(Ip.bytes(10).get(), 0);
    }
}
