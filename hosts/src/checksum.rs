//! The Internet checksum (RFC 1071). Zero bytes behind the real ones add nothing to it.

/// The sum of `bytes` as big-endian 16-bit words, not folded; an odd last byte counts as the
/// high half of a word. Sums of even-length parts may be added.
pub fn sum(bytes: &[u8]) -> u64 {
    let mut words = bytes.chunks_exact(4);
    let mut sum = 0u64;
    for word in &mut words {
        sum += u64::from(u32::from_be_bytes([word[0], word[1], word[2], word[3]]));
    }
    match *words.remainder() {
        [a] => sum += u64::from(a) << 8,
        [a, b] => sum += u64::from(a) << 8 | u64::from(b),
        [a, b, c] => sum += (u64::from(a) << 8 | u64::from(b)) + (u64::from(c) << 8),
        _ => {}
    }
    sum
}

/// The sum folded to 16 bits, not complemented.
pub fn fold(mut sum: u64) -> u16 {
    sum = (sum & 0xffff_ffff) + (sum >> 32);
    sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_rfc_1071_section_3() {
        assert_eq!(fold(sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7])), 0xddf2);
        // The same sum by 16-bit words, an odd byte at the end.
        assert_eq!(fold(sum(&[0x12, 0x34, 0x56])), 0x1234 + 0x5600);
        // 1234 + 5678 + 9a00 + 0100 = 1 03ac, folded 03ad.
        assert_eq!(fold(sum(&[0x12, 0x34, 0x56, 0x78, 0x9a, 0x00, 0x01])), 0x03ad);
        assert_eq!(fold(sum(&[0xff; 64])), 0xffff);
    }
}
