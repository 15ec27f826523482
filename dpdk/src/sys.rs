//! The shim's functions (`shim/`), found in the shared library that `load` loads. Every path
//! to them starts with a [`crate::Eal`], which exists only when that has succeeded.

use core::ffi::{c_char, c_int, c_uint};
use std::sync::OnceLock;

use libloading::os::unix::Library;

use crate::load;

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
        struct Functions {
            $($name: unsafe extern "C" fn($($kind),*) $(-> $returns)?,)*
        }

        impl Functions {
            fn of(library: &Library) -> Result<Functions, libloading::Error> {
                // SAFETY: the shim defines each of these with this type. It is never unloaded.
                unsafe {
                    Ok(Functions { $($name: *library.get(stringify!($name).as_bytes())?,)* })
                }
            }
        }

        $(
            #[inline]
            pub(crate) unsafe fn $name($($argument: $kind),*) $(-> $returns)? {
                // SAFETY: the caller's.
                unsafe { (functions().$name)($($argument),*) }
            }
        )*
    };
}

static FUNCTIONS: OnceLock<Result<Functions, String>> = OnceLock::new();

/// Loads libdpdk at the first call.
///
/// # Errors
/// Why it cannot be loaded.
pub(crate) fn ready() -> Result<(), &'static str> {
    let found = FUNCTIONS.get_or_init(|| {
        let library = load::shim()?;
        let functions = Functions::of(&library).map_err(|error| error.to_string());
        core::mem::forget(library);
        functions
    });
    found.as_ref().map(|_| ()).map_err(String::as_str)
}

#[inline]
fn functions() -> &'static Functions {
    match FUNCTIONS.get() {
        Some(Ok(functions)) => functions,
        _ => unreachable!("an Eal exists only when the shim is loaded"),
    }
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
    fn nrw_mbuf_alloc_bulk(
        pool: *mut RawPool, mbufs: *mut *mut RawMbuf, count: c_uint
    ) -> c_int;
    fn nrw_mbuf_free(mbuf: *mut RawMbuf);
    fn nrw_mbuf_free_bulk(mbufs: *mut *mut RawMbuf, count: c_uint);
    fn nrw_mbuf_data(mbuf: *mut RawMbuf, length: *mut u32) -> *mut u8;
    fn nrw_mbuf_frame(mbuf: *mut RawMbuf, start: u32, length: u32, front: u32) -> *mut u8;
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
