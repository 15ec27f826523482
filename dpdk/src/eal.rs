//! DPDK's environment abstraction layer: one a process, from its start to its end.

use std::ffi::{CString, c_char, c_int};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::error::{Error, reason};
use crate::sys;

/// Lines of DPDK's log that are kept until they are taken.
const LOG_LINES: usize = 1000;
/// Lines of it that an error repeats.
const ERROR_LINES: usize = 8;

/// How EAL is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EalConfig {
    /// Whether packets' memory comes from hugepages, which must be there.
    pub hugepages: bool,
    /// Memory in MiB where it does not.
    pub memory_mib: u32,
    /// Whether network cards are looked for; vdevs need none.
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
    /// Starts EAL. A second call with the same configuration gives the one that runs.
    ///
    /// # Errors
    /// [`Error::Absent`], [`Error::Started`], or why EAL does not start.
    pub fn start(config: &EalConfig) -> Result<Eal, Error> {
        if !crate::AVAILABLE {
            return Err(Error::Absent);
        }
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
        // SAFETY: the callback lives for ever; argv is a null-terminated array of C strings that
        // EAL permutes and does not write through, and that it copies what it keeps of.
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

    /// libdpdk's version; `None` when this was built without it.
    pub fn version() -> Option<String> {
        if !crate::AVAILABLE {
            return None;
        }
        // SAFETY: a constant C string.
        let text = unsafe { core::ffi::CStr::from_ptr(sys::nrw_version()) };
        Some(text.to_string_lossy().into_owned())
    }

    /// What DPDK logged since the last call, oldest first.
    pub fn take_log() -> Vec<String> {
        core::mem::take(&mut LOG.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The last lines of the log for an error's end, each after a line break.
    pub(crate) fn last_log() -> String {
        let lines = Self::take_log();
        let skip = lines.len().saturating_sub(ERROR_LINES);
        lines.iter().skip(skip).map(|line| format!("\n  {line}")).collect()
    }
}

fn arguments(config: &EalConfig) -> Vec<CString> {
    // SAFETY: no arguments, reads this thread's affinity.
    let cpu = unsafe { sys::nrw_first_cpu() };
    // One thread, ours: others register.
    let mut arguments = vec!["narrows".to_owned(), format!("--lcores=0@{cpu}")];
    arguments.push("--no-telemetry".to_owned());
    if config.hugepages {
        arguments.push("--in-memory".to_owned());
    } else {
        // EAL refuses --in-memory here; without shared configuration it makes no file either.
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
    // SAFETY: the C library gives `length` readable bytes.
    let bytes = unsafe { core::slice::from_raw_parts(text.cast::<u8>(), length) };
    let mut log = LOG.lock().unwrap_or_else(PoisonError::into_inner);
    for line in String::from_utf8_lossy(bytes).lines().filter(|line| !line.trim().is_empty()) {
        if log.len() < LOG_LINES {
            log.push(line.trim_end().to_owned());
        }
    }
}
