//! Asks the processor for memory before it is needed.
//!
//! A packet that waited, in a queue or on a link, has left the nearest caches. Reading it costs as
//! much as some hundred instructions. A request ahead of time costs one. It changes no value, and
//! so no result.

/// Asks for the first 64 bytes of a value.
#[inline(always)]
pub fn prefetch<T: ?Sized>(value: &T) {
    line((value as *const T).cast());
}

/// Asks for the first `bytes` of a slice, a cache line of 64 at a time; for all if it has fewer.
#[inline(always)]
pub fn prefetch_slice<T>(slice: &[T], bytes: usize) {
    let bytes = bytes.min(size_of_val(slice));
    let mut at = 0;
    while at < bytes {
        line(slice.as_ptr().cast::<u8>().wrapping_add(at));
        at += 64;
    }
}

/// Where bytes begin, for a thread that asks for them before it has what points to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address(usize);

impl Address {
    /// The address of something of a foreign type.
    pub fn new(address: usize) -> Self {
        Address(address)
    }

    /// The address of a slice.
    #[inline(always)]
    pub fn of<T>(slice: &[T]) -> Self {
        Address(slice.as_ptr() as usize)
    }

    /// Asks for so many bytes there, a cache line of 64 at a time.
    #[inline(always)]
    pub fn prefetch(self, bytes: usize) {
        for at in (0..bytes).step_by(64) {
            line(self.0.wrapping_add(at) as *const u8);
        }
    }
}

/// Asks for the cache line of an address, which need not exist.
#[inline(always)]
#[cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "an intrinsic of the processor"))]
fn line(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every processor of this architecture has the instruction. It neither faults nor
        // changes anything that a program can read, whatever the address is.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_value_and_any_length_may_be_asked_for() {
        let (empty, some): (&[u64], _) = (&[], [7u64; 100]);
        for bytes in [0, 1, 64, 800, usize::MAX] {
            prefetch_slice(empty, bytes);
            prefetch_slice(&some, bytes);
        }
        prefetch("");
        Address::of(&some).prefetch(800);
        Address(usize::MAX).prefetch(64);
        prefetch(&some);
        assert_eq!(some, [7; 100]);
    }
}
