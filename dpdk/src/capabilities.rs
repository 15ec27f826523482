//! Capabilities of all threads (capabilities(7)).
//!
//! Linux keeps capabilities per thread, and only a thread itself can give up its own. So each
//! thread gets a signal, whose handler makes the system call. glibc's `setuid` does the same
//! (nptl(7)).

use std::io;
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use std::{fs, mem, ptr, thread};

/// How often the threads are asked, with [`WAIT`] between.
const ROUNDS: u32 = 1000;
const WAIT: Duration = Duration::from_millis(2);
/// `_LINUX_CAPABILITY_VERSION_3`, whose sets have two words of 32 bits.
const VERSION_3: u32 = 0x2008_0522;

/// What the signal's handler keeps.
static KEPT: AtomicU64 = AtomicU64::new(u64::MAX);
static HANDLER: Once = Once::new();

/// `__user_cap_header_struct` of linux/capability.h.
#[repr(C)]
struct Header {
    version: u32,
    thread: i32,
}

/// `__user_cap_data_struct` of linux/capability.h.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Sets {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// Has every thread of the process give up all capabilities but those in `kept`, bit by number.
/// Threads that start later inherit what their parents have then.
///
/// # Errors
/// The system's error, or the threads that still have others after two seconds.
pub fn keep_capabilities(kept: u64) -> io::Result<()> {
    KEPT.store(kept, Ordering::SeqCst);
    let own = keep_own(kept);
    if own < 0 {
        return Err(io::Error::from_raw_os_error(-own));
    }
    HANDLER.call_once(handle);
    for _ in 0..ROUNDS {
        let left = threads_with_others(kept)?;
        if left.is_empty() {
            return Ok(());
        }
        for thread in left {
            // SAFETY: takes numbers only. A thread that has ended is an error of no importance.
            unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, signal()) };
        }
        thread::sleep(WAIT);
    }
    let left = threads_with_others(kept)?;
    Err(io::Error::other(format!("threads {left:?} keep their capabilities")))
}

/// The last real-time signal; nothing in the process uses it.
fn signal() -> i32 {
    libc::SIGRTMAX()
}

/// Installs the handler, which stays.
fn handle() {
    // SAFETY: an empty mask and a handler that only makes system calls and uses an atomic, as
    // signal-safety(7) requires.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        let handler: extern "C" fn(i32) = on_signal;
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(signal(), &action, ptr::null_mut());
    }
}

extern "C" fn on_signal(_signal: i32) {
    // SAFETY: errno is the thread's own; the code that was interrupted may be about to read it.
    let errno = unsafe { *libc::__errno_location() };
    keep_own(KEPT.load(Ordering::SeqCst));
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}

/// Gives up this thread's other capabilities. Returns 0 or a negative errno.
fn keep_own(kept: u64) -> i32 {
    let mut header = Header { version: VERSION_3, thread: 0 };
    let mut sets = [Sets::default(); 2];
    // SAFETY: version 3 reads a header and reads or writes two sets.
    let code = unsafe {
        let got = libc::syscall(libc::SYS_capget, &raw mut header, sets.as_mut_ptr());
        if got == 0 {
            for (set, word) in sets.iter_mut().zip([kept as u32, (kept >> 32) as u32]) {
                set.permitted &= word;
                set.effective = set.permitted;
                set.inheritable = 0;
            }
            libc::syscall(libc::SYS_capset, &raw mut header, sets.as_ptr())
        } else {
            got
        }
    };
    // SAFETY: errno is the thread's own.
    if code == 0 { 0 } else { unsafe { -*libc::__errno_location() } }
}

/// The threads that have a capability which is not kept, or pass one on.
fn threads_with_others(kept: u64) -> io::Result<Vec<i32>> {
    let mut found = vec![];
    for entry in fs::read_dir("/proc/self/task")? {
        let entry = entry?;
        // A thread may end meanwhile.
        let Ok(status) = fs::read_to_string(entry.path().join("status")) else { continue };
        let has_others = set(&status, "CapPrm:") & !kept != 0 || set(&status, "CapInh:") != 0;
        let thread = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok());
        found.extend(thread.filter(|_| has_others));
    }
    Ok(found)
}

/// A set of capabilities in a thread's status (proc_pid_status(5)); all if it is absent.
fn set(status: &str, name: &str) -> u64 {
    let text = status.lines().find_map(|line| line.strip_prefix(name));
    text.and_then(|text| u64::from_str_radix(text.trim(), 16).ok()).unwrap_or(u64::MAX)
}
