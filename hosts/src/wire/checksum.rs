//! The Internet checksum (RFC 1071). Zero bytes after the real ones do not change it.

/// The sum of `bytes` as big-endian 16-bit words, folded to 33 bits; an odd last byte is the high
/// half of a word. Sums of even-length parts may be added.
///
/// Sums words of eight bytes in the machine's byte order with end-around carry, and swaps bytes at
/// the end (RFC 1071 section 2, B and C).
#[inline(always)]
pub fn sum(bytes: &[u8]) -> u64 {
    let add = |sum: u64, word: u64| {
        let (sum, has_carry) = sum.overflowing_add(word);
        sum + u64::from(has_carry)
    };
    let (mut sum, mut rest) = (0, bytes);
    while let Some((word, behind)) = rest.split_first_chunk() {
        (sum, rest) = (add(sum, u64::from_ne_bytes(*word)), behind);
    }
    if let Some((word, behind)) = rest.split_first_chunk() {
        (sum, rest) = (add(sum, u32::from_ne_bytes(*word).into()), behind);
    }
    if !rest.is_empty() {
        let mut word = [0; 4];
        word[..rest.len()].copy_from_slice(rest);
        sum = add(sum, u32::from_ne_bytes(word).into());
    }
    sum = u64::from_be(sum);
    (sum & 0xffff_ffff) + (sum >> 32)
}

/// The sum folded to 16 bits, not complemented.
#[inline]
pub fn fold(sum: u64) -> u16 {
    // A word plus itself with halves swapped has the sum of the halves, including the carry, in its
    // upper half.
    let half = (sum.wrapping_add(sum.rotate_left(32)) >> 32) as u32;
    (half.wrapping_add(half.rotate_left(16)) >> 16) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_rfc_1071_section_3() {
        assert_eq!(fold(sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7])), 0xddf2);
        // The same sum by 16-bit words, with an odd byte at the end.
        assert_eq!(fold(sum(&[0x12, 0x34, 0x56])), 0x1234 + 0x5600);
        // 1234 + 5678 + 9a00 + 0100 = 1 03ac, folded 03ad.
        assert_eq!(fold(sum(&[0x12, 0x34, 0x56, 0x78, 0x9a, 0x00, 0x01])), 0x03ad);
        assert_eq!(fold(sum(&[0xff; 64])), 0xffff);
    }
}
