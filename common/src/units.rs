//! Bits per second and bytes as types, to prevent mix-ups.

use core::fmt;
use core::ops::{Add, AddAssign, Sub, SubAssign};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A rate in bits per second; never zero in a [`crate::Serializer`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Rate(u64);

impl Rate {
    /// `bps` bits per second.
    #[inline]
    pub const fn from_bps(bps: u64) -> Self {
        Rate(bps)
    }
    /// Bits per second.
    #[inline]
    pub const fn as_bps(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name) = match self.0 {
            1_000_000_000_000.. => (1e12, "Tbps"),
            1_000_000_000.. => (1e9, "Gbps"),
            1_000_000.. => (1e6, "Mbps"),
            1_000.. => (1e3, "kbps"),
            _ => (1.0, "bps"),
        };
        write!(f, "{}{name}", self.0 as f64 / unit)
    }
}
impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// A number of bytes.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Bytes(u64);

impl Bytes {
    /// Zero.
    pub const ZERO: Bytes = Bytes(0);

    /// `n` bytes.
    #[inline]
    pub const fn new(n: u64) -> Self {
        Bytes(n)
    }
    /// The number of bytes.
    #[inline]
    pub const fn get(self) -> u64 {
        self.0
    }
    /// The number of bits.
    #[inline]
    pub const fn bits(self) -> u64 {
        self.0 * 8
    }
}

impl Add for Bytes {
    type Output = Bytes;
    #[inline]
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0 + other.0)
    }
}
impl AddAssign for Bytes {
    #[inline]
    fn add_assign(&mut self, other: Bytes) {
        self.0 += other.0;
    }
}
impl Sub for Bytes {
    type Output = Bytes;
    #[inline]
    fn sub(self, other: Bytes) -> Bytes {
        Bytes(self.0 - other.0)
    }
}
impl SubAssign for Bytes {
    #[inline]
    fn sub_assign(&mut self, other: Bytes) {
        self.0 -= other.0;
    }
}
impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}B", self.0)
    }
}
