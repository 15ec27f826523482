//! The end of a packet that stays in a device's memory while the packet travels.

use core::fmt;

/// What lends memory to packets, such as a device's driver. It lives as long as the process.
pub trait Lender: fmt::Debug + Sync {
    /// All bytes of the memory with this handle, which the lender gave to [`Payload::new`].
    fn bytes<'a>(&'a self, handle: &'a usize) -> &'a [u8];
    /// Takes the memory back.
    fn take_back(&self, handle: usize);
    /// Asks the processor for what the lender needs first when the memory comes back.
    fn prefetch(&self, _handle: usize) {}
}

/// Some of the bytes of lent memory. Its length is known without a look there.
pub struct Payload {
    lender: &'static dyn Lender,
    handle: usize,
    start: u16,
    len: u16,
}

impl Payload {
    /// `len` bytes from `start` on of the memory with this handle; it goes back to the lender when
    /// the payload is dropped.
    pub fn new(lender: &'static dyn Lender, handle: usize, start: u16, len: u16) -> Self {
        Payload { lender, handle, start, len }
    }

    /// A payload of ordinary memory that is never freed, for tests.
    ///
    /// # Panics
    /// If there are 64 KiB or more.
    pub fn leaked(bytes: Vec<u8>) -> Self {
        let len = u16::try_from(bytes.len()).expect("less than 64 KiB");
        Payload::new(Box::leak(Box::new(bytes)), 0, 0, len)
    }

    /// The number of bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.len.into()
    }

    /// True if it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.lender.bytes(&self.handle)[self.start.into()..][..self.len.into()]
    }

    /// Asks the processor for what its lender needs first when the memory comes back.
    #[inline]
    pub fn prefetch(&self) {
        self.lender.prefetch(self.handle);
    }

    /// Removes the first `count` bytes.
    ///
    /// # Panics
    /// If it has fewer.
    pub fn cut_front(&mut self, count: usize) {
        assert!(count <= self.len(), "{count} of {} bytes", self.len);
        self.start += count as u16;
        self.len -= count as u16;
    }

    /// Keeps the first `len` bytes, or all if it has fewer.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len().min(len) as u16;
    }

    /// Gives the memory back to its lender: the handle, where the bytes start, and how many they
    /// are.
    ///
    /// # Errors
    /// The payload, if this is not its lender.
    pub fn give_back(self, lender: &'static dyn Lender) -> Result<(usize, u16, u16), Payload> {
        if !core::ptr::addr_eq(self.lender, lender) {
            return Err(self);
        }
        let parts = (self.handle, self.start, self.len);
        core::mem::forget(self);
        Ok(parts)
    }
}

impl Drop for Payload {
    fn drop(&mut self) {
        self.lender.take_back(self.handle);
    }
}

impl PartialEq for Payload {
    fn eq(&self, other: &Payload) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for Payload {}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Payload").field(&self.bytes()).finish()
    }
}

/// Ordinary memory, which stays.
impl Lender for Vec<u8> {
    fn bytes<'a>(&'a self, _: &'a usize) -> &'a [u8] {
        self
    }

    fn take_back(&self, _: usize) {}
}
