//! The end of this process.

/// Ends the process now, whatever its threads do: no destructor and no exit handler runs.
pub fn exit_now(status: i32) -> ! {
    // SAFETY: takes a number only, and does not return.
    unsafe { libc::_exit(status) }
}
