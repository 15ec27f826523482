//! CRC-32/ISO-HDLC of a few bytes, such as a flow's addresses and ports.
//!
//! A CRC is linear. So the register after some bytes is the exclusive-or of what each byte would
//! leave there alone, with zeros behind it: one look-up for each, and none waits for another.

/// The most bytes.
pub(crate) const SHORT_BYTES: usize = 16;
/// As many bytes as the register has.
const REGISTER: usize = 4;
/// The generator polynomial, its bits reflected.
const POLYNOMIAL: u32 = 0xedb8_8320;

/// `LEFT[behind][byte]`: what a byte leaves in the register with so many zero bytes behind it.
static LEFT: [[u32; 256]; SHORT_BYTES] = left();

const fn left() -> [[u32; 256]; SHORT_BYTES] {
    let mut left = [[0; 256]; SHORT_BYTES];
    let mut byte = 0;
    while byte < 256 {
        let (mut register, mut bit) = (byte as u32, 0);
        while bit < 8 {
            let is_odd = register & 1 == 1;
            register >>= 1;
            if is_odd {
                register ^= POLYNOMIAL;
            }
            bit += 1;
        }
        left[0][byte] = register;
        byte += 1;
    }
    let mut behind = 1;
    while behind < SHORT_BYTES {
        let mut byte = 0;
        while byte < 256 {
            let before = left[behind - 1][byte];
            left[behind][byte] = (before >> 8) ^ left[0][(before & 0xff) as usize];
            byte += 1;
        }
        behind += 1;
    }
    left
}

/// The CRC of the last `count` bytes of `bytes`, from 4 to 16; `None` for other counts.
#[inline]
pub(crate) fn short_crc32(bytes: [u8; SHORT_BYTES], count: usize) -> Option<u32> {
    if !(REGISTER..=SHORT_BYTES).contains(&count) {
        return None;
    }
    let mut bytes = bytes;
    let first = SHORT_BYTES - count;
    // The register starts with ones.
    bytes[first..first + REGISTER].iter_mut().for_each(|byte| *byte = !*byte);
    let pairs = bytes.iter().rev().zip(&LEFT).take(count);
    Some(!pairs.fold(0, |register, (&byte, left)| register ^ left[usize::from(byte)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crc::{CRC_32_ISO_HDLC, Crc};

    #[test]
    fn equals_the_crc_byte_by_byte() {
        let crc = Crc::<u32>::new(&CRC_32_ISO_HDLC);
        let bytes: [u8; SHORT_BYTES] = std::array::from_fn(|i| (i * 37 + 200) as u8);
        for count in 0..=SHORT_BYTES + 1 {
            let expected = (REGISTER..=SHORT_BYTES)
                .contains(&count)
                .then(|| crc.checksum(&bytes[SHORT_BYTES - count..]));
            assert_eq!(short_crc32(bytes, count), expected, "{count} bytes");
        }
    }
}
