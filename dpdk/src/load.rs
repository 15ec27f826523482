//! Loads the shim and, with it, libdpdk.
//!
//! A shim is bound to one release of DPDK by the names of its libraries, such as
//! `librte_eal.so.23`. A build embeds one or more; the first whose libraries are installed is
//! taken. It is loaded from memory, so that nothing must be installed or written beside the engine.

use std::ffi::CStr;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

/// The shims of this build.
const SHIMS: &[&[u8]] = include!(concat!(env!("OUT_DIR"), "/shims.rs"));
const NAME: &CStr = c"narrows-dpdk-shim";

/// Loads the first shim whose libraries are there.
///
/// # Errors
/// Why none can be loaded, in a sentence.
pub(crate) fn shim() -> Result<Library, String> {
    if SHIMS.is_empty() {
        return Err("this build has no part for DPDK (libdpdk-dev was not there)".to_owned());
    }
    let mut reasons = Vec::new();
    for content in SHIMS {
        match load(content) {
            Ok(library) => return Ok(library),
            Err(reason) => reasons.push(reason),
        }
    }
    Err(format!("libdpdk cannot be loaded: {}", reasons.join("; ")))
}

fn load(content: &[u8]) -> Result<Library, String> {
    // SAFETY: a constant C string; the descriptor is ours alone.
    let mut file = unsafe {
        let descriptor = libc::memfd_create(NAME.as_ptr(), libc::MFD_CLOEXEC);
        if descriptor < 0 {
            return Err(std::io::Error::last_os_error().to_string());
        }
        File::from_raw_fd(descriptor)
    };
    file.write_all(content).map_err(|error| error.to_string())?;
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    // SAFETY: the shim and DPDK's libraries have constructors that only register drivers.
    match unsafe { Library::open(Some(&path), RTLD_NOW | RTLD_LOCAL) } {
        Ok(library) => {
            // The loader knows the shim by this path: no other file may get the descriptor.
            let _ = file.into_raw_fd();
            Ok(library)
        }
        Err(error) => Err(reason(&error).trim_start_matches(&format!("{path}: ")).to_owned()),
    }
}

/// The loader's own words.
fn reason(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}
