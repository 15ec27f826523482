//! Integers in the JSON: hexadecimal strings of any width, with a sign.

/// An integer of any size: sign and magnitude, least significant limb first, without leading zeros.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Integer {
    pub negative: bool,
    pub limbs: Vec<u64>,
}

impl Integer {
    /// Parses `0x1f`, `1f` or `-0x1f`. `None` if the text is not such a number or absurdly long.
    pub(crate) fn from_hex(text: &str) -> Option<Integer> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let digits = digits.strip_prefix("0x").unwrap_or(digits);
        if digits.is_empty() || digits.len() > 1 << 16 || !digits.is_ascii() {
            return None;
        }
        let mut limbs = Vec::with_capacity(digits.len() / 16 + 1);
        for chunk in digits.as_bytes().rchunks(16) {
            let chunk = core::str::from_utf8(chunk).ok()?;
            // `from_str_radix` accepts a sign, which must not occur inside a number.
            if chunk.starts_with(['+', '-']) {
                return None;
            }
            limbs.push(u64::from_str_radix(chunk, 16).ok()?);
        }
        Some(Integer::new(negative, limbs))
    }

    /// Parses an unsigned number, decimal or hexadecimal with `0x`, for the control plane.
    pub(crate) fn parse(text: &str) -> Option<Integer> {
        if text.starts_with("0x") {
            return Integer::from_hex(text);
        }
        if text.is_empty() || text.len() > 1 << 12 {
            return None;
        }
        let mut limbs = vec![0u64];
        for byte in text.bytes() {
            if !byte.is_ascii_digit() {
                return None;
            }
            let mut carry = u128::from(byte - b'0');
            for limb in &mut limbs {
                let wide = u128::from(*limb) * 10 + carry;
                *limb = wide as u64;
                carry = wide >> 64;
            }
            if carry != 0 {
                limbs.push(carry as u64);
            }
        }
        Some(Integer::new(false, limbs))
    }

    pub(crate) fn new(negative: bool, mut limbs: Vec<u64>) -> Integer {
        while limbs.last() == Some(&0) {
            limbs.pop();
        }
        Integer { negative: negative && !limbs.is_empty(), limbs }
    }

    /// The number of bits of the magnitude.
    pub(crate) fn bits(&self) -> u32 {
        match self.limbs.last() {
            Some(top) => self.limbs.len() as u32 * 64 - top.leading_zeros(),
            None => 0,
        }
    }

    pub(crate) fn to_u64(&self) -> Option<u64> {
        match (self.negative, self.limbs.as_slice()) {
            (_, []) => Some(0),
            (false, [limb]) => Some(*limb),
            _ => None,
        }
    }

    /// Two's complement in `count` limbs, truncated.
    pub(crate) fn to_limbs(&self, count: usize) -> Vec<u64> {
        let mut limbs: Vec<u64> =
            (0..count).map(|i| self.limbs.get(i).copied().unwrap_or(0)).collect();
        if self.negative {
            let mut carry = true;
            for limb in &mut limbs {
                let (sum, over) = (!*limb).overflowing_add(u64::from(carry));
                *limb = sum;
                carry = over;
            }
        }
        limbs
    }

    /// The limbs of an unsigned value of `width` bits; `None` if it does not fit.
    pub(crate) fn to_width(&self, width: u32) -> Option<Vec<u64>> {
        (!self.negative && self.bits() <= width)
            .then(|| self.to_limbs(super::slot::limbs(width) as usize))
    }
}

/// Formats limbs as `0x...`, without leading zeros.
pub(crate) fn to_hex(limbs: &[u64]) -> String {
    let top = limbs.iter().rposition(|&limb| limb != 0).unwrap_or(0);
    let mut text = format!("0x{:x}", limbs.get(top).copied().unwrap_or(0));
    for limb in limbs[..top].iter().rev() {
        text.push_str(&format!("{limb:016x}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_numbers_of_any_width() {
        let wide = Integer::from_hex("0x123456789abcdef0112233445566778899").unwrap();
        assert_eq!(wide.limbs, [0x2233_4455_6677_8899, 0x3456_789a_bcde_f011, 0x12]);
        assert_eq!(to_hex(&wide.limbs), "0x123456789abcdef0112233445566778899");
        assert_eq!(wide.bits(), 133);
        let decimal = Integer::parse("340282366920938463463374607431768211456").unwrap();
        assert_eq!(decimal.limbs, [0, 0, 1], "2^128");
        assert_eq!(Integer::from_hex("-0x1").unwrap().to_limbs(2), [u64::MAX, u64::MAX]);
        for bad in ["", "0x", "-", "0xg", "0x+1", "1.5", "0x00000000000000000-1"] {
            assert_eq!(Integer::from_hex(bad), None, "{bad}");
        }
        assert_eq!(Integer::parse("12a"), None);
    }
}
