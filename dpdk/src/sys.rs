//! The shim's functions (`shim/shim.c`). Without libdpdk the same names exist but can't be reached,
//! because every path to them starts with a [`crate::Eal`], which can't be created then.

use core::ffi::{c_char, c_int, c_uint};

/// `struct rte_mbuf`.
#[repr(C)]
pub(crate) struct RawMbuf {
    opaque: [u8; 0],
}

/// `struct rte_mempool`.
#[repr(C)]
pub(crate) struct RawPool {
    opaque: [u8; 0],
}

pub(crate) type LogLine = extern "C" fn(*const c_char, usize);

macro_rules! shim {
    ($(fn $name:ident($($argument:ident: $kind:ty),*) $(-> $returns:ty)?;)*) => {
        #[cfg(has_dpdk)]
        unsafe extern "C" {
            $(pub(crate) fn $name($($argument: $kind),*) $(-> $returns)?;)*
        }
        #[cfg(not(has_dpdk))]
        mod absent {
            use super::*;
            $(pub(crate) unsafe fn $name($(_: $kind),*) $(-> $returns)? {
                unreachable!("built without libdpdk")
            })*
        }
        #[cfg(not(has_dpdk))]
        pub(crate) use absent::*;
    };
}

shim! {
    fn nrw_version() -> *const c_char;
    fn nrw_log_to(line: LogLine) -> c_int;
    fn nrw_eal_start(argc: c_int, argv: *mut *mut c_char) -> c_int;
    fn nrw_first_cpu() -> c_int;
    fn nrw_thread_fifo() -> c_int;
    fn nrw_thread_register() -> c_int;
    fn nrw_tsc() -> u64;
    fn nrw_raw_ns() -> u64;
    fn nrw_pool_create(
        name: *const c_char, count: c_uint, data_bytes: c_uint, pool: *mut *mut RawPool
    ) -> c_int;
    fn nrw_pool_available(pool: *const RawPool) -> c_uint;
    fn nrw_pool_stock(pool: *const RawPool) -> c_uint;
    fn nrw_mbuf_alloc(pool: *mut RawPool) -> *mut RawMbuf;
    fn nrw_mbuf_free(mbuf: *mut RawMbuf);
    fn nrw_mbuf_data(mbuf: *mut RawMbuf, length: *mut u32) -> *mut u8;
    fn nrw_mbuf_resize(mbuf: *mut RawMbuf, length: u32) -> *mut u8;
    fn nrw_mbuf_set_length(mbuf: *mut RawMbuf, length: u32) -> *mut u8;
    fn nrw_device_probe(device: *const c_char) -> c_int;
    fn nrw_device_port(name: *const c_char, port: *mut u16) -> c_int;
    fn nrw_ring_pair(names: *const *const c_char, packets: c_uint, ports: *mut u16) -> c_int;
    fn nrw_mbuf_is_checked(mbuf: *const RawMbuf) -> c_int;
    fn nrw_mbuf_leave_checksum(mbuf: *mut RawMbuf, is_udp: c_int, header_bytes: u8);
    fn nrw_mbuf_stamp(mbuf: *const RawMbuf, ticks: *mut u64) -> c_int;
    fn nrw_port_set_up(
        port: u16, pool: *mut RawPool, descriptors: u16, queues: u16, offloads: *mut c_uint
    ) -> c_int;
    fn nrw_port_clock(port: u16, ticks: *mut u64) -> c_int;
    fn nrw_port_start(port: u16) -> c_int;
    fn nrw_port_set_link(port: u16, up: c_int) -> c_int;
    fn nrw_port_reset_counts(port: u16);
    fn nrw_port_close(port: u16);
    fn nrw_port_is_up(port: u16) -> c_int;
    fn nrw_port_counts(port: u16, counts: *mut u64) -> c_int;
    fn nrw_receive(
        port: u16, queue: u16, packets: *mut *mut RawMbuf, most: u16, broken: *mut u64
    ) -> u16;
    fn nrw_transmit(port: u16, packets: *mut *mut RawMbuf, count: u16) -> u16;
}
