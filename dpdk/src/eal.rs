//! DPDK's environment abstraction layer: one per process, for the rest of the process's life.

use std::ffi::{CString, c_char, c_int};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::error::{Error, reason};
use crate::sys;

/// The most lines of DPDK's log kept until they are read.
const LOG_LINES: usize = 1000;
/// The lines of the log that an error repeats.
const ERROR_LINES: usize = 8;

/// EAL's start options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EalConfig {
    /// Whether packet memory comes from hugepages, which must then exist.
    pub hugepages: bool,
    /// Memory in MiB without hugepages.
    pub memory_mib: u32,
    /// Whether to look for network cards; vdevs need none.
    pub pci: bool,
}

impl Default for EalConfig {
    fn default() -> Self {
        EalConfig { hugepages: false, memory_mib: 256, pci: false }
    }
}

static STARTED: OnceLock<EalConfig> = OnceLock::new();
static START: Mutex<()> = Mutex::new(());
static LOG: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Proof that EAL runs.
#[derive(Clone, Copy, Debug)]
pub struct Eal(());

impl Eal {
    /// Starts EAL. A second call with the same configuration returns the running one.
    ///
    /// # Errors
    /// [`Error::Absent`], [`Error::Started`], or the reason why EAL does not start.
    pub fn start(config: &EalConfig) -> Result<Eal, Error> {
        sys::ready().map_err(Error::Absent)?;
        let _guard = START.lock().unwrap_or_else(PoisonError::into_inner);
        match STARTED.get() {
            Some(running) if running == config => return Ok(Eal(())),
            Some(_) => return Err(Error::Started),
            None => {}
        }
        let arguments = arguments(config);
        let mut pointers: Vec<*mut c_char> =
            arguments.iter().map(|argument| argument.as_ptr().cast_mut()).collect();
        pointers.push(core::ptr::null_mut());
        let count = arguments.len() as c_int;
        // SAFETY: the callback lives forever. argv is a null-terminated array of C strings; EAL
        // permutes the array, does not write to the strings, and copies what it keeps.
        let code = unsafe {
            let _ = sys::nrw_log_to(log_line);
            sys::nrw_eal_start(count, pointers.as_mut_ptr())
        };
        // EAL keeps pointers to some of its arguments.
        core::mem::forget(arguments);
        if code < 0 {
            return Err(Error::Start { reason: reason(code), log: Self::last_log() });
        }
        STARTED.set(config.clone()).expect("the guard admits one");
        Ok(Eal(()))
    }

    /// libdpdk's version; `None` if it cannot be loaded.
    pub fn version() -> Option<String> {
        sys::ready().ok()?;
        // SAFETY: a constant C string.
        let text = unsafe { core::ffi::CStr::from_ptr(sys::nrw_version()) };
        Some(text.to_string_lossy().into_owned())
    }

    /// DPDK's log since the last call, oldest line first.
    pub fn take_log() -> Vec<String> {
        core::mem::take(&mut LOG.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The last lines of the log to append to an error, each after a line break.
    pub(crate) fn last_log() -> String {
        let lines = Self::take_log();
        let skip = lines.len().saturating_sub(ERROR_LINES);
        lines.iter().skip(skip).map(|line| format!("\n  {line}")).collect()
    }
}

fn arguments(config: &EalConfig) -> Vec<CString> {
    // SAFETY: takes no arguments, and reads this thread's affinity.
    let cpu = unsafe { sys::nrw_first_cpu() };
    // One thread, ours; other threads register themselves.
    let mut arguments = vec!["narrows".to_owned(), format!("--lcores=0@{cpu}")];
    arguments.push("--no-telemetry".to_owned());
    if config.hugepages {
        arguments.push("--in-memory".to_owned());
    } else {
        // Without hugepages EAL rejects --in-memory; without shared configuration it creates no
        // file either.
        arguments.extend(["--no-huge".to_owned(), "--no-shconf".to_owned()]);
        arguments.push(format!("-m{}", config.memory_mib));
    }
    if !config.pci {
        arguments.push("--no-pci".to_owned());
    }
    let owned = arguments.into_iter().map(|text| CString::new(text).expect("no zero byte"));
    owned.collect()
}

extern "C" fn log_line(text: *const c_char, length: usize) {
    // SAFETY: the C library provides `length` readable bytes.
    let bytes = unsafe { core::slice::from_raw_parts(text.cast::<u8>(), length) };
    let mut log = LOG.lock().unwrap_or_else(PoisonError::into_inner);
    for line in String::from_utf8_lossy(bytes).lines().filter(|line| !line.trim().is_empty()) {
        if log.len() < LOG_LINES {
            log.push(line.trim_end().to_owned());
        }
    }
}
