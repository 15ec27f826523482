//! What the kernel drops before a packet socket (`net_af_packet`), because its ring is full. DPDK's
//! driver opens the socket, and does not read this count (22.11).

use core::sync::atomic::{AtomicU64, Ordering};
use std::ffi::c_int;

#[cfg(target_os = "linux")]
use linux::{bound_to, take_drops};

/// This process's packet sockets of one interface. They must stay open as long as this value.
#[derive(Debug, Default)]
pub(crate) struct PacketSockets {
    sockets: Vec<c_int>,
    /// What earlier reads returned.
    missed: AtomicU64,
}

impl PacketSockets {
    /// The sockets of a device string's interface; none if it is of another driver.
    pub(crate) fn of(device: &str) -> Self {
        let interface = device.split(',').find_map(|option| option.strip_prefix("iface="));
        let sockets = match interface {
            Some(name) if device.starts_with("net_af_packet") => bound_to(name),
            _ => vec![],
        };
        PacketSockets { sockets, missed: AtomicU64::new(0) }
    }

    /// Frames that found the ring full since the last [`PacketSockets::reset`].
    pub(crate) fn missed(&self) -> u64 {
        let new = self.sockets.iter().map(|&socket| u64::from(take_drops(socket))).sum();
        self.missed.fetch_add(new, Ordering::Relaxed) + new
    }

    /// Counts from zero.
    pub(crate) fn reset(&self) {
        let _ = self.missed();
        self.missed.store(0, Ordering::Relaxed);
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use core::mem;
    use std::ffi::{CString, c_int};
    use std::fs;

    /// The option that returns and resets a packet socket's counts.
    const PACKET_STATISTICS: c_int = 6;

    /// `struct tpacket_stats` of linux/if_packet.h.
    #[repr(C)]
    #[derive(Default)]
    struct Statistics {
        packets: u32,
        drops: u32,
    }

    /// This process's packet sockets that are bound to the interface.
    pub(super) fn bound_to(interface: &str) -> Vec<c_int> {
        let Ok(name) = CString::new(interface) else { return vec![] };
        // SAFETY: the name ends with a zero.
        let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
        let open = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
        open.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(|&socket| index != 0 && bound_index(socket) == Some(index))
            .collect()
    }

    /// The interface's index; `None` if the descriptor is not a packet socket.
    fn bound_index(descriptor: c_int) -> Option<u32> {
        // SAFETY: all zeros are a valid address, and the length is that of the value.
        let (code, address) = unsafe {
            let mut address: libc::sockaddr_ll = mem::zeroed();
            let mut length = mem::size_of_val(&address) as libc::socklen_t;
            (libc::getsockname(descriptor, (&raw mut address).cast(), &mut length), address)
        };
        let is_packet = code == 0 && c_int::from(address.sll_family) == libc::AF_PACKET;
        is_packet.then_some(address.sll_ifindex as u32)
    }

    /// The frames that a socket dropped since the last call.
    pub(super) fn take_drops(socket: c_int) -> u32 {
        let mut statistics = Statistics::default();
        let mut length = mem::size_of_val(&statistics) as libc::socklen_t;
        // SAFETY: the length is that of the value; another kind of socket returns an error.
        unsafe {
            let to = (&raw mut statistics).cast();
            libc::getsockopt(socket, libc::SOL_PACKET, PACKET_STATISTICS, to, &mut length);
        }
        statistics.drops
    }
}

#[cfg(not(target_os = "linux"))]
fn bound_to(_: &str) -> Vec<c_int> {
    vec![]
}

#[cfg(not(target_os = "linux"))]
fn take_drops(_: c_int) -> u32 {
    0
}
