//! TCP options on the wire: MSS (RFC 9293), window scale and timestamps (RFC 7323), SACK (RFC
//! 2018), and an experimental one of our own for ns-2's Asym senders (RFC 6994). Unknown options
//! are skipped.

/// The most SACK blocks that fit into 40 bytes of options.
pub const MAX_SACK_BLOCKS: usize = 4;

const END: u8 = 0;
const NOP: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;
const EXPERIMENT: u8 = 253;
/// Our experiment's identifier, which is not registered.
const SENDER_REPORT: [u8; 2] = *b"Na";

/// The options of one segment; absent ones are `None`, `false` or empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Maximum segment size in bytes.
    pub mss: Option<u16>,
    /// Window scale shift.
    pub window_scale: Option<u8>,
    /// SACK permitted.
    pub sack_permitted: bool,
    /// Timestamps: TSval and TSecr.
    pub timestamps: Option<(u32, u32)>,
    /// SACK blocks, `[left, right)` in wire numbers.
    pub sack: SackBlocks,
    /// The highest acknowledgment that the sender has received, as a wire number, and the bytes
    /// after it that it may send (`compat/ns2/ack_control.rs`).
    pub sender_report: Option<(u32, u32)>,
}

/// Up to four SACK blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(u32, u32); MAX_SACK_BLOCKS],
    len: u8,
}

impl SackBlocks {
    /// Appends a block; ignores a fifth one.
    pub fn push(&mut self, left: u32, right: u32) {
        if let Some(slot) = self.blocks.get_mut(self.len as usize) {
            *slot = (left, right);
            self.len += 1;
        }
    }

    /// The blocks in wire order.
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.blocks[..self.len as usize]
    }

    /// Bytes of `count` blocks, including alignment padding.
    pub const fn wire_bytes(count: usize) -> usize {
        if count == 0 { 0 } else { 4 + 8 * count }
    }
}

/// Bytes of the timestamps option, including padding.
pub const TIMESTAMPS_BYTES: usize = 12;

impl Options {
    /// No options: the default as a constant, which is copied as a whole. A segment whose options
    /// are written field by field waits for them when it is copied.
    pub const NONE: Options = Options {
        mss: None,
        window_scale: None,
        sack_permitted: false,
        timestamps: None,
        sack: SackBlocks { blocks: [(0, 0); MAX_SACK_BLOCKS], len: 0 },
        sender_report: None,
    };

    /// Appends the options, each padded in front to a multiple of 4 bytes.
    #[inline(always)]
    pub fn emit(&self, out: &mut Vec<u8>) {
        if let Some(mss) = self.mss {
            out.extend_from_slice(&[MSS, 4, (mss >> 8) as u8, mss as u8]);
        }
        if let Some(shift) = self.window_scale {
            out.extend_from_slice(&[NOP, WINDOW_SCALE, 3, shift]);
        }
        if self.sack_permitted {
            out.extend_from_slice(&[NOP, NOP, SACK_PERMITTED, 2]);
        }
        if let Some((value, echo)) = self.timestamps {
            let mut option = [NOP, NOP, TIMESTAMPS, 10, 0, 0, 0, 0, 0, 0, 0, 0];
            option[4..8].copy_from_slice(&value.to_be_bytes());
            option[8..12].copy_from_slice(&echo.to_be_bytes());
            out.extend_from_slice(&option);
        }
        if let Some((acked, window)) = self.sender_report {
            let mut option =
                [EXPERIMENT, 12, SENDER_REPORT[0], SENDER_REPORT[1], 0, 0, 0, 0, 0, 0, 0, 0];
            option[4..8].copy_from_slice(&acked.to_be_bytes());
            option[8..12].copy_from_slice(&window.to_be_bytes());
            out.extend_from_slice(&option);
        }
        let sack = self.sack.as_slice();
        if !sack.is_empty() {
            out.extend_from_slice(&[NOP, NOP, SACK, 2 + 8 * sack.len() as u8]);
            for (left, right) in sack {
                out.extend_from_slice(&left.to_be_bytes());
                out.extend_from_slice(&right.to_be_bytes());
            }
        }
    }

    /// Adds the options in `bytes`; `None` if a length is impossible.
    pub fn read(&mut self, mut bytes: &[u8]) -> Option<()> {
        while let Some((&kind, rest)) = bytes.split_first() {
            match kind {
                END => break,
                NOP => bytes = rest,
                _ => {
                    let len = usize::from(*rest.first()?);
                    let body = bytes.get(2..len)?;
                    self.take(kind, body)?;
                    bytes = &bytes[len..];
                }
            }
        }
        Some(())
    }

    fn take(&mut self, kind: u8, body: &[u8]) -> Option<()> {
        match (kind, body) {
            (MSS, &[high, low]) => self.mss = Some(u16::from_be_bytes([high, low])),
            (WINDOW_SCALE, &[shift]) => self.window_scale = Some(shift),
            (SACK_PERMITTED, []) => self.sack_permitted = true,
            (TIMESTAMPS, body) if body.len() == 8 => {
                self.timestamps = Some((be32(&body[..4]), be32(&body[4..])));
            }
            (SACK, body) if !body.is_empty() && body.len() % 8 == 0 => {
                for block in body.chunks_exact(8) {
                    self.sack.push(be32(&block[..4]), be32(&block[4..]));
                }
            }
            (EXPERIMENT, body) if body.len() == 10 && body[..2] == SENDER_REPORT => {
                self.sender_report = Some((be32(&body[2..6]), be32(&body[6..])));
            }
            (MSS | WINDOW_SCALE | SACK_PERMITTED | TIMESTAMPS | SACK, _) => return None,
            _ => {}
        }
        Some(())
    }
}

fn be32(bytes: &[u8]) -> u32 {
    u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(bytes: &[u8]) -> Option<Options> {
        let mut options = Options::default();
        options.read(bytes).map(|()| options)
    }

    #[test]
    fn no_options_are_the_default() {
        assert_eq!(Options::NONE, Options::default());
    }

    #[test]
    fn the_syn_of_a_linux_host() {
        // mss 1460, sackOK, TS val 0x01020304 ecr 0, nop, wscale 7, as seen in captures.
        let bytes = [2, 4, 0x05, 0xb4, 4, 2, 8, 10, 1, 2, 3, 4, 0, 0, 0, 0, 1, 3, 3, 7];
        let options = Options {
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            timestamps: Some((0x01020304, 0)),
            ..Options::default()
        };
        assert_eq!(read(&bytes), Some(options));
    }

    #[test]
    fn impossible_lengths_are_refused_and_unknown_kinds_passed_over() {
        for bad in [
            &[2u8, 4, 5][..],
            &[2, 0],
            &[2, 1],
            &[2],
            &[8, 9, 0, 0, 0, 0, 0, 0, 0],
            &[5, 9, 0, 0, 0, 0, 0, 0, 0],
            &[3, 2],
        ] {
            assert_eq!(read(bad), None, "{bad:?}");
        }
        let parsed = read(&[254, 4, 0xab, 0xcd, 1, 4, 2, 0, 99]).unwrap();
        assert_eq!(parsed, Options { sack_permitted: true, ..Options::default() });
    }

    proptest! {
        #[test]
        fn what_is_emitted_is_read_back(mss: Option<u16>, shift in prop::option::of(0u8..15), permitted: bool, blocks in prop::collection::vec(any::<(u32, u32)>(), 0..3)) {
            let mut options = Options { mss, window_scale: shift, sack_permitted: permitted, timestamps: Some((7, 9)), ..Options::default() };
            blocks.iter().for_each(|&(left, right)| options.sack.push(left, right));
            let mut bytes = Vec::new();
            options.emit(&mut bytes);
            prop_assert_eq!(bytes.len() % 4, 0);
            prop_assert_eq!(read(&bytes), Some(options));
        }
    }
}
