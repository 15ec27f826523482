//! Sequence numbers: 32 bits on the wire, 64 bits inside.
//!
//! Inside, a byte is identified by its position in the stream: the SYN is position 0, the first
//! data byte 1, and the FIN follows the last byte. Positions never wrap, so comparisons are simple.
//! Only this file has the wire's arithmetic modulo 2^32 (RFC 9293 section 3.4).

/// The wire number of `position` in a stream that began at `isn`.
pub fn to_wire(isn: u32, position: u64) -> u32 {
    isn.wrapping_add(position as u32)
}

/// The position nearest to `near` whose wire number is `seq`; `None` before the stream's start.
///
/// RFC 9293's windows stay below 2^30 bytes, so the nearest position (within 2^31) is unambiguous
/// for an acceptable segment.
pub fn to_position(isn: u32, seq: u32, near: u64) -> Option<u64> {
    let distance = seq.wrapping_sub(to_wire(isn, near)) as i32;
    near.checked_add_signed(i64::from(distance))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_numbers_around_the_wrap() {
        let isn = u32::MAX - 1;
        assert_eq!(to_wire(isn, 0), 0xffff_fffe);
        assert_eq!(to_wire(isn, 1), 0xffff_ffff);
        assert_eq!(to_wire(isn, 2), 0);
        assert_eq!(to_position(isn, 0, 1), Some(2));
        assert_eq!(to_position(isn, 0xffff_ffff, 2), Some(1));
        assert_eq!(to_position(isn, 0xffff_fffd, 0), None);
        // The third wrap of the numbers.
        assert_eq!(to_position(0, 5, 3 << 32), Some((3 << 32) + 5));
        assert_eq!(to_position(0, u32::MAX, 3 << 32), Some((3 << 32) - 1));
    }

    proptest! {
        #[test]
        fn a_position_survives_the_wire(isn: u32, near in 0u64..1 << 50, offset in -(1i64 << 31) + 1..1i64 << 31) {
            if let Some(position) = near.checked_add_signed(offset) {
                prop_assert_eq!(to_position(isn, to_wire(isn, position), near), Some(position));
            }
        }
    }
}
