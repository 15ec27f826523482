//! Hash algorithms, with bmv2's parameters.
//!
//! CRCs: parameters from the catalogue of parametrised CRC algorithms (reveng), names in
//! brackets: crc16 [CRC-16/ARC], crcCCITT [CRC-16/IBM-3740], crc32 [CRC-32/ISO-HDLC], and the
//! `_custom` ones start with bmv2's defaults, which are CRC-8/SMBUS, crc16, crc32 and a
//! reflected CRC-64 of polynomial 0x1b. csum16: RFC 1071.

/// A hash algorithm by p4c's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Algorithm {
    Crc8,
    Crc16,
    CrcCcitt,
    Crc32,
    Crc64,
    Csum16,
    Identity,
    Xor16,
    Xor32,
}

impl Algorithm {
    pub(crate) fn from_name(name: &str) -> Option<Algorithm> {
        Some(match name {
            "crc8_custom" => Algorithm::Crc8,
            "crc16" | "crc16_custom" => Algorithm::Crc16,
            "crcCCITT" => Algorithm::CrcCcitt,
            "crc32" | "crc32_custom" => Algorithm::Crc32,
            "crc64_custom" => Algorithm::Crc64,
            "csum16" | "cksum16" => Algorithm::Csum16,
            "identity" => Algorithm::Identity,
            "xor16" => Algorithm::Xor16,
            "xor32" => Algorithm::Xor32,
            _ => return None,
        })
    }

    /// The hash of `parts`, then `zeros` zero bytes.
    pub(crate) fn digest(self, parts: &[&[u8]], zeros: usize) -> u64 {
        let mut state = State::new(self);
        parts.iter().for_each(|part| state.update(part));
        let block = [0u8; 64];
        let mut left = zeros;
        // Zeros leave a sum and an exclusive-or as they were, but for their length.
        if matches!(self, Algorithm::Csum16 | Algorithm::Xor16 | Algorithm::Xor32) {
            left %= 4;
        }
        while left > 0 {
            let count = left.min(block.len());
            state.update(&block[..count]);
            left -= count;
        }
        state.finish()
    }
}

const fn table16(polynomial: u16) -> [u16; 256] {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        let (mut value, mut bit) = (i as u16, 0);
        while bit < 8 {
            value = if value & 1 != 0 { value >> 1 ^ polynomial } else { value >> 1 };
            bit += 1;
        }
        table[i] = value;
        i += 1;
    }
    table
}

const fn table32(polynomial: u32) -> [u32; 256] {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        let (mut value, mut bit) = (i as u32, 0);
        while bit < 8 {
            value = if value & 1 != 0 { value >> 1 ^ polynomial } else { value >> 1 };
            bit += 1;
        }
        table[i] = value;
        i += 1;
    }
    table
}

/// Reflected 0x8005.
const CRC16: [u16; 256] = table16(0xa001);
/// Reflected 0x04c11db7.
const CRC32: [u32; 256] = table32(0xedb8_8320);

struct State {
    algorithm: Algorithm,
    value: u64,
    /// Bytes taken so far.
    count: usize,
}

impl State {
    fn new(algorithm: Algorithm) -> Self {
        let value = match algorithm {
            Algorithm::CrcCcitt => 0xffff,
            Algorithm::Crc32 => 0xffff_ffff,
            _ => 0,
        };
        State { algorithm, value, count: 0 }
    }

    fn update(&mut self, bytes: &[u8]) {
        match self.algorithm {
            Algorithm::Crc16 => {
                let step = |crc: u16, &byte: &u8| crc >> 8 ^ CRC16[usize::from(crc as u8 ^ byte)];
                self.value = u64::from(bytes.iter().fold(self.value as u16, step));
            }
            Algorithm::Crc32 => {
                let step = |crc: u32, &byte: &u8| crc >> 8 ^ CRC32[usize::from(crc as u8 ^ byte)];
                self.value = u64::from(bytes.iter().fold(self.value as u32, step));
            }
            Algorithm::Crc8 => {
                for &byte in bytes {
                    self.value ^= u64::from(byte);
                    for _ in 0..8 {
                        let carry = self.value & 0x80 != 0;
                        self.value = self.value << 1 & 0xff ^ if carry { 0x07 } else { 0 };
                    }
                }
            }
            Algorithm::CrcCcitt => {
                for &byte in bytes {
                    self.value ^= u64::from(byte) << 8;
                    for _ in 0..8 {
                        let carry = self.value & 0x8000 != 0;
                        self.value = self.value << 1 & 0xffff ^ if carry { 0x1021 } else { 0 };
                    }
                }
            }
            Algorithm::Crc64 => {
                for &byte in bytes {
                    self.value ^= u64::from(byte);
                    for _ in 0..8 {
                        let carry = self.value & 1 != 0;
                        // Reflected 0x1b.
                        let polynomial = 0xd800_0000_0000_0000;
                        self.value = self.value >> 1 ^ if carry { polynomial } else { 0 };
                    }
                }
            }
            Algorithm::Csum16 => self.sum(bytes),
            Algorithm::Identity => {
                let free = 8usize.saturating_sub(self.count);
                for &byte in bytes.iter().take(free) {
                    self.value = self.value << 8 | u64::from(byte);
                }
            }
            Algorithm::Xor16 => self.exclusive_or(bytes, 2),
            Algorithm::Xor32 => self.exclusive_or(bytes, 4),
        }
        self.count += bytes.len();
    }

    /// Adds 16-bit words; a piece may begin with the low half of one.
    fn sum(&mut self, mut bytes: &[u8]) {
        if self.count % 2 == 1
            && let Some((&low, rest)) = bytes.split_first()
        {
            self.value += u64::from(low);
            bytes = rest;
        }
        let mut words = bytes.chunks_exact(2);
        for word in &mut words {
            self.value += u64::from(u16::from_be_bytes([word[0], word[1]]));
        }
        if let [high] = words.remainder() {
            self.value += u64::from(*high) << 8;
        }
    }

    fn exclusive_or(&mut self, bytes: &[u8], size: usize) {
        for (i, &byte) in bytes.iter().enumerate() {
            let place = size - 1 - (self.count + i) % size;
            self.value ^= u64::from(byte) << (8 * place);
        }
    }

    fn finish(self) -> u64 {
        match self.algorithm {
            Algorithm::Crc32 => self.value ^ 0xffff_ffff,
            Algorithm::Csum16 => fold_sum(self.value),
            _ => self.value,
        }
    }
}

/// A sum of 16-bit words to a checksum (RFC 1071): end-around carries, then the complement.
#[inline]
pub(crate) fn fold_sum(mut sum: u64) -> u64 {
    sum = (sum & 0xffff_ffff) + (sum >> 32);
    sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    !sum & 0xffff
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Check values of "123456789" from the reveng catalogue.
    #[test]
    fn the_catalogues_check_values() {
        for (algorithm, check) in [
            (Algorithm::Crc8, 0xf4),
            (Algorithm::Crc16, 0xbb3d),
            (Algorithm::CrcCcitt, 0x29b1),
            (Algorithm::Crc32, 0xcbf4_3926),
        ] {
            assert_eq!(algorithm.digest(&[b"123456789"], 0), check, "{algorithm:?}");
            assert_eq!(algorithm.digest(&[b"1234", b"56789"], 0), check, "{algorithm:?} in pieces");
        }
    }

    /// The header in RFC 1071's style example of common use: a UDP/IPv4 header whose checksum
    /// is b861 (Wikipedia, "Internet checksum").
    #[test]
    fn an_internet_checksum() {
        let header = [
            0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0x00, 0x00, 0xc0, 0xa8,
            0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7,
        ];
        for cut in 0..header.len() {
            let (head, tail) = header.split_at(cut);
            assert_eq!(Algorithm::Csum16.digest(&[head, tail], 77), 0xb861, "cut at {cut}");
        }
    }

    #[test]
    fn zeros_count_as_bytes() {
        for name in ["crc8_custom", "crc16", "crcCCITT", "crc32", "crc64_custom", "csum16"]
            .into_iter()
            .chain(["identity", "xor16", "xor32"])
        {
            let algorithm = Algorithm::from_name(name).unwrap();
            let mut written = b"abc".to_vec();
            written.resize(3 + 101, 0);
            let virtual_zeros = algorithm.digest(&[b"abc"], 101);
            assert_eq!(virtual_zeros, algorithm.digest(&[&written], 0), "{name}");
        }
    }

    #[test]
    fn identity_takes_eight_bytes_and_xor_pads_at_the_end() {
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8, 9];
        assert_eq!(Algorithm::Identity.digest(&[&bytes], 0), 0x0102_0304_0506_0708);
        assert_eq!(Algorithm::Identity.digest(&[&[0xab], &[0xcd]], 0), 0xabcd);
        assert_eq!(Algorithm::Xor16.digest(&[&[0xab, 0xcd, 0x12]], 0), 0xb9cd);
    }
}
