//! The functions and structures of `fpga/model/core.h`, loaded at run time.

use libloading::Library;
use std::ffi::{CStr, c_char, c_int};
use std::path::Path;

/// `CORE_ABI` of the header that this file follows.
const ABI: u32 = 2;

/// `core_t`, whose contents are the library's.
#[repr(C)]
pub(crate) struct Opaque {
    contents: [u8; 0],
}

/// `core_settings_t`.
#[repr(C)]
#[derive(Default)]
pub(crate) struct Settings {
    pub rate_bps: u64,
    pub limit: u64,
    pub ecn_packets: u64,
    pub ecn_bytes: u64,
    pub ecn_time_ps: u64,
    pub loss_threshold: u64,
    pub loss_state: [u64; 4],
    pub codel_target_ps: u64,
    pub codel_interval_ps: u64,
    pub codel_mtu: u32,
    pub basis: u8,
    pub limit_kind: u8,
    pub ecn_enable: u8,
    pub loss_set_state: u8,
    pub codel_enable: u8,
    pub codel_marks: u8,
}

/// `core_row_t`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct Row {
    pub number: u64,
    pub at_ps: u64,
    pub bytes: u64,
    pub sojourn_ps: u64,
    pub packets: u32,
    pub counted: u32,
    pub kind: u8,
    pub reason: u8,
}

/// `core_dequeued_t`.
#[repr(C)]
#[derive(Default)]
pub(crate) struct Dequeued {
    pub number: u64,
    pub at_ps: u64,
    pub is_marked: u8,
}

/// The library's functions, and the library, which keeps them valid.
pub(crate) struct Api {
    pub new: unsafe extern "C" fn() -> *mut Opaque,
    pub free: unsafe extern "C" fn(*mut Opaque),
    pub set: unsafe extern "C" fn(*mut Opaque, u64, *const Settings) -> c_int,
    pub offer: unsafe extern "C" fn(*mut Opaque, u64, u32, c_int) -> c_int,
    pub due: unsafe extern "C" fn(*const Opaque, *mut u64) -> c_int,
    pub dequeue: unsafe extern "C" fn(*mut Opaque, u64, *mut Dequeued) -> c_int,
    pub finish: unsafe extern "C" fn(*mut Opaque, c_int, u32, *mut u64, *mut u64) -> c_int,
    pub rows: unsafe extern "C" fn(*mut Opaque, *mut Row, u32) -> c_int,
    error: unsafe extern "C" fn(*const Opaque) -> *const c_char,
    _library: Library,
}

impl Api {
    /// Loads the library at a path.
    ///
    /// # Errors
    /// If it cannot be loaded, or its functions are not those of this version.
    pub(crate) fn load(path: &Path) -> Result<Self, String> {
        let failed = |error: libloading::Error| format!("{}: {error}", path.display());
        // SAFETY: the library is Verilator's model and a shim; its constructors only set up C++'s
        // own state.
        let library = unsafe { Library::new(path) }.map_err(failed)?;
        macro_rules! function {
            ($name:literal) => {
                // SAFETY: the header gives the function this type, and `ABI` changes with it.
                *unsafe { library.get(concat!("core_", $name, "\0").as_bytes()) }.map_err(failed)?
            };
        }
        let abi: unsafe extern "C" fn() -> u32 = function!("abi");
        // SAFETY: it takes nothing and returns a constant.
        let abi = unsafe { abi() };
        if abi != ABI {
            return Err(format!("{}: its ABI is {abi}; expected {ABI}", path.display()));
        }
        Ok(Api {
            new: function!("new"),
            free: function!("free"),
            set: function!("set"),
            offer: function!("offer"),
            due: function!("due"),
            dequeue: function!("dequeue"),
            finish: function!("finish"),
            rows: function!("rows"),
            error: function!("error"),
            _library: library,
        })
    }

    /// What the library says of a core's failure.
    pub(crate) fn error(&self, core: *const Opaque) -> String {
        // SAFETY: the core is alive; the text is a C string of its own that lives until its next
        // call, and is copied here.
        unsafe { CStr::from_ptr((self.error)(core)) }.to_string_lossy().into_owned()
    }
}
