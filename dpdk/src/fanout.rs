//! Packet sockets that pass on fragments as they are (`net_af_packet`).
//!
//! DPDK's driver makes each socket a member of a fanout group with `PACKET_FANOUT_FLAG_DEFRAG`
//! (22.11). Then the kernel reassembles IPv4 fragments before the port, and fragments without their
//! rest are lost uncounted. A port with one queue needs no group. So a thread with a system call
//! filter (seccomp(2)) opens it: the filter answers `PACKET_FANOUT` with success, and does nothing.

use std::thread;

/// Runs `probe` so that packet sockets that it opens join no fanout group, if the kernel has system
/// call filters.
pub(crate) fn without_fanout<T: Send>(probe: impl FnOnce() -> T + Send) -> T {
    let filtered = || {
        #[cfg(target_os = "linux")]
        linux::answer_fanout();
        probe()
    };
    // A filter belongs to a thread and stays.
    thread::scope(|scope| match scope.spawn(filtered).join() {
        Ok(value) => value,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}

#[cfg(target_os = "linux")]
mod linux {
    use core::mem::offset_of;

    /// `PACKET_FANOUT` of linux/if_packet.h.
    const PACKET_FANOUT: u32 = 18;
    /// Where the low half of a 64-bit argument is.
    const LOW_BYTES: usize = if cfg!(target_endian = "little") { 0 } else { 4 };
    const ARGUMENT_BYTES: usize = 8;

    /// From now on this thread's calls of `setsockopt` with `PACKET_FANOUT` return 0.
    pub(super) fn answer_fanout() {
        let argument = |number: usize| {
            offset_of!(libc::seccomp_data, args) + number * ARGUMENT_BYTES + LOW_BYTES
        };
        let wanted = [
            (offset_of!(libc::seccomp_data, nr), libc::SYS_setsockopt as u32),
            (argument(1), libc::SOL_PACKET as u32),
            (argument(2), PACKET_FANOUT),
        ];
        let mut program = vec![];
        for (number, &(offset, value)) in wanted.iter().enumerate() {
            program.push(instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset as u32, 0));
            // To the last instruction if they differ.
            let others = (2 * (wanted.len() - 1 - number) + 1) as u8;
            program.push(instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, value, others));
        }
        for answer in [libc::SECCOMP_RET_ERRNO, libc::SECCOMP_RET_ALLOW] {
            program.push(instruction(libc::BPF_RET | libc::BPF_K, answer, 0));
        }
        let filter =
            libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr().cast() };
        // SAFETY: the program lives until the calls return, which copy it. Without filters in the
        // kernel the second call fails, and the sockets join groups.
        unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter);
        }
    }

    fn instruction(code: u32, k: u32, jf: u8) -> libc::sock_filter {
        libc::sock_filter { code: code as u16, jt: 0, jf, k }
    }
}
