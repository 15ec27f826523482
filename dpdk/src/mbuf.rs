//! Packet memory: [`Mempool`] and [`Mbuf`].

use core::fmt;
use core::mem::ManuallyDrop;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU32, Ordering};
use std::ffi::CString;

use narrows_common::prefetch::Address;
use narrows_common::{Lender, Payload};

use crate::eal::Eal;
use crate::error::{Error, reason};
use crate::sys::{self, RawMbuf, RawPool};

/// A pool is short if fewer than one mbuf in this many is free.
const RESERVE: u32 = 4;
/// UDP's protocol number in the IPv4 header.
const UDP: u8 = 17;
/// Bytes in a cache line.
const LINE: usize = 64;
/// Where a received frame begins in most mbufs: behind 128 bytes of fields and as many of headroom.
const FRAME_AT: usize = 256;
/// The offset of a segment's header length, after 14 bytes of Ethernet and 20 of IPv4.
const TCP_LENGTH_AT: usize = 14 + 20 + 12;

/// A pool of mbufs; it lives as long as the process.
#[derive(Clone, Copy)]
pub struct Mempool {
    pool: NonNull<RawPool>,
    count: u32,
}

// SAFETY: rte_mempool may be used from any thread; its fields are read through DPDK only.
unsafe impl Send for Mempool {}
// SAFETY: as above.
unsafe impl Sync for Mempool {}

impl Mempool {
    /// A pool of `count` mbufs, each with room for a frame of `data_bytes`.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn new(_: Eal, count: u32, data_bytes: u32) -> Result<Mempool, Error> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = CString::new(format!("narrows_{number}")).expect("no zero byte");
        let mut pool = core::ptr::null_mut();
        // SAFETY: EAL runs; DPDK copies the name.
        let code = unsafe { sys::nrw_pool_create(name.as_ptr(), count, data_bytes, &mut pool) };
        match NonNull::new(pool) {
            Some(pool) if code == 0 => Ok(Mempool { pool, count }),
            _ => Err(Error::Memory { count, data_bytes, reason: reason(code) }),
        }
    }

    /// An empty mbuf; `None` if the pool is exhausted.
    pub fn alloc(&self) -> Option<Mbuf> {
        // SAFETY: the pool exists.
        NonNull::new(unsafe { sys::nrw_mbuf_alloc(self.pool.as_ptr()) }).map(Mbuf)
    }

    /// Appends this many empty mbufs, or none if the pool has fewer.
    pub fn alloc_bulk(&self, count: usize, mbufs: &mut Vec<Mbuf>) {
        mbufs.reserve(count);
        let room = mbufs.spare_capacity_mut().as_mut_ptr().cast();
        // SAFETY: there is room for `count` pointers, and an Mbuf is a non-null pointer. If the
        // shim succeeds it has written all of them, and they are ours.
        unsafe {
            if sys::nrw_mbuf_alloc_bulk(self.pool.as_ptr(), room, count as u32) == 0 {
                mbufs.set_len(mbufs.len() + count);
            }
        }
    }

    /// The number of free mbufs.
    pub fn available(&self) -> u32 {
        // SAFETY: the pool exists.
        unsafe { sys::nrw_pool_available(self.pool.as_ptr()) }
    }

    /// Whether waiting packets should release their mbufs so that ports can receive: fewer than a
    /// quarter are free, without those in threads' caches.
    pub fn is_short(&self) -> bool {
        // SAFETY: the pool exists.
        unsafe { sys::nrw_pool_stock(self.pool.as_ptr()) < self.count / RESERVE }
    }

    pub(crate) fn as_ptr(self) -> *mut RawPool {
        self.pool.as_ptr()
    }
}

impl fmt::Debug for Mempool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mempool").field("available", &self.available()).finish()
    }
}

/// A packet's memory, in one segment. Dropping it returns it to the pool.
#[repr(transparent)]
pub struct Mbuf(NonNull<RawMbuf>);

// SAFETY: it is owned, and pools take mbufs back from any thread.
unsafe impl Send for Mbuf {}
// SAFETY: `&Mbuf` allows reads only.
unsafe impl Sync for Mbuf {}

impl Mbuf {
    /// Its bytes.
    pub fn data(&self) -> &[u8] {
        let mut length = 0;
        // SAFETY: the mbuf is ours and has one segment of `length` bytes at the pointer.
        unsafe {
            let data = sys::nrw_mbuf_data(self.0.as_ptr(), &mut length);
            core::slice::from_raw_parts(data, length as usize)
        }
    }

    /// Whether the device verified its checksums ([`Offloads::verifies_checksums`]).
    ///
    /// [`Offloads::verifies_checksums`]: crate::Offloads::verifies_checksums
    pub fn is_checked(&self) -> bool {
        // SAFETY: the mbuf is ours.
        unsafe { sys::nrw_mbuf_is_checked(self.0.as_ptr()) != 0 }
    }

    /// Lets the device write the checksum ([`Offloads::writes_checksums`]) of a TCP segment or UDP
    /// datagram, selected by `protocol`'s number. It must follow an Ethernet header and an IPv4
    /// header without options, and its checksum field must hold the sum of the pseudo-header.
    ///
    /// # Panics
    /// If a segment ends before the length field of its header.
    ///
    /// [`Offloads::writes_checksums`]: crate::Offloads::writes_checksums
    pub fn leave_checksum(&mut self, protocol: u8) {
        let is_udp = protocol == UDP;
        let header_bytes = if is_udp { 8 } else { (self.data()[TCP_LENGTH_AT] >> 4) * 4 };
        // SAFETY: the mbuf is ours.
        unsafe { sys::nrw_mbuf_leave_checksum(self.0.as_ptr(), is_udp.into(), header_bytes) }
    }

    /// The device's receive time, in ticks of [`Port::device_clock`].
    ///
    /// [`Port::device_clock`]: crate::Port::device_clock
    pub fn stamp(&self) -> Option<u64> {
        let mut ticks = 0;
        // SAFETY: the mbuf is ours.
        let is_stamped = unsafe { sys::nrw_mbuf_stamp(self.0.as_ptr(), &mut ticks) };
        (is_stamped != 0).then_some(ticks)
    }

    /// Makes it `length` bytes long by moving its end, and returns its bytes; the value of new
    /// bytes is arbitrary. `None`, and no change, if it does not fit.
    pub fn resize(&mut self, length: usize) -> Option<&mut [u8]> {
        // SAFETY: the mbuf is ours.
        let data = unsafe { sys::nrw_mbuf_set_length(self.0.as_ptr(), to_u32(length)?) };
        self.bytes(data, length)
    }

    fn bytes(&mut self, data: *mut u8, length: usize) -> Option<&mut [u8]> {
        // SAFETY: the shim made the segment `length` bytes long from `data` on, in a buffer that
        // DPDK zeroed when it created the pool, so the bytes are initialised.
        NonNull::new(data)
            .map(|data| unsafe { core::slice::from_raw_parts_mut(data.as_ptr(), length) })
    }

    /// Frees mbufs, which takes less time than one by one.
    pub fn free_all(mbufs: &mut Vec<Mbuf>) {
        let count = mbufs.len();
        // SAFETY: the pointers are mbufs of ours, which the vector forgets first.
        unsafe {
            mbufs.set_len(0);
            sys::nrw_mbuf_free_bulk(mbufs.as_mut_ptr().cast(), count as u32);
        }
    }

    /// Releases ownership without freeing it.
    pub(crate) fn forget(self) {
        let _ = ManuallyDrop::new(self);
    }
}

/// All mbufs as memory lent to packets.
#[derive(Debug)]
struct Mbufs(#[expect(dead_code, reason = "without a size, its address might not be its own")] u8);

static MBUFS: Mbufs = Mbufs(0);

/// Only [`Mbuf::into_payload`] passes `MBUFS` to a payload, and nothing else has it. So each handle
/// is an mbuf that its payload owns.
impl Lender for Mbufs {
    fn bytes<'a>(&'a self, handle: &'a usize) -> &'a [u8] {
        let mut length = 0;
        // SAFETY: the payload owns the mbuf, whose segment has `length` bytes at the pointer.
        unsafe {
            let data = sys::nrw_mbuf_data(*handle as *mut RawMbuf, &mut length);
            core::slice::from_raw_parts(data, length as usize)
        }
    }

    fn prefetch(&self, handle: usize) {
        Address::new(handle).prefetch(LINE);
        Address::new(handle + FRAME_AT).prefetch(2 * LINE);
    }

    fn take_back(&self, handle: usize) {
        // SAFETY: the payload owned the mbuf, and ends.
        unsafe { sys::nrw_mbuf_free(handle as *mut RawMbuf) }
    }
}

impl Mbuf {
    /// Lends its bytes from `start` on to a packet.
    ///
    /// # Panics
    /// If it has fewer bytes.
    pub fn into_payload(self, start: usize) -> Payload {
        let len = self.data().len().checked_sub(start).expect("the mbuf is so long");
        let handle = self.0.as_ptr() as usize;
        self.forget();
        Payload::new(&MBUFS, handle, start as u16, len as u16)
    }

    /// The mbuf of a payload, with `front` before its bytes.
    ///
    /// # Errors
    /// The payload, if its mbuf has no room there, or if it is no mbuf.
    pub fn with_front(payload: Payload, front: &[u8]) -> Result<Mbuf, Payload> {
        let (handle, start, len) = payload.give_back(&MBUFS)?;
        let (raw, length) = (handle as *mut RawMbuf, u32::try_from(front.len()));
        let length = length.unwrap_or(u32::MAX);
        // SAFETY: the payload owned the mbuf, whose segment contains these bytes.
        let data = unsafe { sys::nrw_mbuf_frame(raw, start.into(), len.into(), length) };
        let (Some(data), Some(mbuf)) = (NonNull::new(data), NonNull::new(raw)) else {
            return Err(Payload::new(&MBUFS, handle, start, len));
        };
        // SAFETY: the shim made the segment begin there, with `front` in front of those bytes.
        unsafe { core::slice::from_raw_parts_mut(data.as_ptr(), front.len()) }
            .copy_from_slice(front);
        Ok(Mbuf(mbuf))
    }
}

/// An mbuf's segment is below 64 KiB.
fn to_u32(length: usize) -> Option<u32> {
    u16::try_from(length).ok().map(u32::from)
}

impl Drop for Mbuf {
    fn drop(&mut self) {
        // SAFETY: it is ours, and nothing uses it any more.
        unsafe { sys::nrw_mbuf_free(self.0.as_ptr()) }
    }
}

impl fmt::Debug for Mbuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mbuf").field("length", &self.data().len()).finish()
    }
}
