//! Hash algorithms, with bmv2's parameters.
//!
//! CRC parameters come from the catalogue of parametrised CRC algorithms (reveng), with its names
//! in brackets: crc16 [CRC-16/ARC], crcCCITT [CRC-16/IBM-3740], crc32 [CRC-32/ISO-HDLC]. The
//! `_custom` algorithms start with bmv2's defaults: CRC-8/SMBUS, crc16, crc32 and a reflected
//! CRC-64 of polynomial 0x1b. csum16 follows RFC 1071.

mod short_crc32;

pub(crate) use short_crc32::SHORT_BYTES;

use crc::{CRC_8_SMBUS, CRC_16_ARC, CRC_16_IBM_3740, CRC_32_ISO_HDLC, Crc};
use short_crc32::short_crc32;

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

    /// The hash of the last `count` bytes of `bytes`.
    pub(crate) fn digest_short(self, bytes: [u8; SHORT_BYTES], count: usize) -> u64 {
        match (self, short_crc32(bytes, count)) {
            (Algorithm::Crc32, Some(crc)) => crc.into(),
            _ => self.digest(&[&bytes[SHORT_BYTES - count..]], 0),
        }
    }

    /// The hash of `parts`, then `zeros` zero bytes.
    pub(crate) fn digest(self, parts: &[&[u8]], zeros: usize) -> u64 {
        /// The final value of a CRC's register.
        macro_rules! crc {
            ($crc:ident) => {{
                let mut digest = $crc.digest();
                feed(parts, zeros, |bytes| digest.update(bytes));
                digest.finalize().into()
            }};
        }
        match self {
            Algorithm::Crc8 => crc!(CRC8),
            Algorithm::Crc16 => crc!(CRC16),
            Algorithm::CrcCcitt => crc!(CRC_CCITT),
            Algorithm::Crc32 => crc!(CRC32),
            Algorithm::Crc64 => crc!(CRC64),
            Algorithm::Identity => {
                let mut identity = 0;
                let mut free = 8usize;
                feed(parts, zeros.min(8), |bytes| {
                    let taken = &bytes[..bytes.len().min(free)];
                    identity = taken.iter().fold(identity, |id, &byte| id << 8 | u64::from(byte));
                    free -= taken.len();
                });
                identity
            }
            // Zeros change the length, but neither a sum nor an exclusive-or.
            Algorithm::Csum16 => {
                let mut words = Words::default();
                feed(parts, zeros % 2, |bytes| words.add(bytes));
                fold_sum(words.value)
            }
            Algorithm::Xor16 => exclusive_or(parts, 2),
            Algorithm::Xor32 => exclusive_or(parts, 4),
        }
    }
}

const CRC8: Crc<u8> = Crc::<u8>::new(&CRC_8_SMBUS);
const CRC16: Crc<u16> = Crc::<u16>::new(&CRC_16_ARC);
const CRC_CCITT: Crc<u16> = Crc::<u16>::new(&CRC_16_IBM_3740);
const CRC32: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);
const CRC64: Crc<u64> = Crc::<u64>::new(&crc::Algorithm {
    width: 64,
    poly: 0x1b,
    init: 0,
    refin: true,
    refout: true,
    xorout: 0,
    check: 0,
    residue: 0,
});

/// Feeds the parts one by one, then zeros.
fn feed(parts: &[&[u8]], zeros: usize, mut update: impl FnMut(&[u8])) {
    parts.iter().for_each(|part| update(part));
    let block = [0u8; 64];
    (0..zeros).step_by(block.len()).for_each(|at| update(&block[..(zeros - at).min(block.len())]));
}

/// A sum of 16-bit words.
#[derive(Default)]
struct Words {
    value: u64,
    /// Whether the next byte is the low half of a word.
    is_within: bool,
}

impl Words {
    fn add(&mut self, mut bytes: &[u8]) {
        if self.is_within
            && let Some((&low, rest)) = bytes.split_first()
        {
            self.value += u64::from(low);
            (bytes, self.is_within) = (rest, false);
        }
        let mut words = bytes.chunks_exact(2);
        for word in &mut words {
            self.value += u64::from(u16::from_be_bytes([word[0], word[1]]));
        }
        if let [high] = words.remainder() {
            self.value += u64::from(*high) << 8;
            self.is_within = true;
        }
    }
}

/// Exclusive-or of words of `size` bytes, the last one padded with zeros.
fn exclusive_or(parts: &[&[u8]], size: usize) -> u64 {
    let bytes = parts.iter().copied().flatten().enumerate();
    bytes.fold(0, |value, (i, &byte)| value ^ u64::from(byte) << (8 * (size - 1 - i % size)))
}

/// Folds a sum of 16-bit words to a checksum (RFC 1071): end-around carries, then the complement.
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

    /// The example header of RFC 1071's checksum: a UDP/IPv4 header whose checksum is b861
    /// (Wikipedia, "Internet checksum").
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
