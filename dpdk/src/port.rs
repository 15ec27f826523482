//! Ethernet ports, by the device strings of DPDK's own programs: `net_memif0,role=client`,
//! `net_af_packet0,iface=veth1`, `net_pcap0,iface=eth0`, or a card's PCI address.

use core::sync::atomic::{AtomicU32, Ordering};
use std::ffi::{CString, c_char};
use std::sync::Arc;

use crate::eal::Eal;
use crate::error::{Error, reason};
use crate::fanout::without_fanout;
use crate::mbuf::{Mbuf, Mempool};
use crate::packet_sockets::PacketSockets;
use crate::sys;

/// The most packets of a burst.
pub const BURST: usize = 32;
/// Descriptors to request per queue; a driver may have fewer.
const DESCRIPTORS: u16 = 1024;
/// Checks of the link between two attempts to connect.
const PATIENCE: u32 = 5;
/// Packets that a pair of rings holds, in each direction; a power of two.
const RING_PACKETS: u32 = 4096;

/// A port's counts, from its driver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounts {
    /// Packets received.
    pub received: u64,
    /// Packets sent.
    pub sent: u64,
    /// Packets that found the receive ring full.
    pub missed: u64,
    /// Packets received with errors.
    pub errors: u64,
    /// Packets dropped because the pool was empty.
    pub without_memory: u64,
}

/// The tasks that a device takes over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offloads {
    /// It verifies the checksums of IPv4, TCP and UDP.
    pub verifies_checksums: bool,
    /// It timestamps received packets.
    pub stamps: bool,
    /// It writes the TCP and UDP checksums that [`Mbuf::leave_checksum`] leaves to it.
    pub writes_checksums: bool,
}

impl Offloads {
    const VERIFIES: u32 = 1;
    const STAMPS: u32 = 2;
    const WRITES: u32 = 4;

    fn to_bits(self) -> u32 {
        u32::from(self.verifies_checksums) * Self::VERIFIES
            + u32::from(self.stamps) * Self::STAMPS
            + u32::from(self.writes_checksums) * Self::WRITES
    }

    fn from_bits(bits: u32) -> Self {
        Offloads {
            verifies_checksums: bits & Self::VERIFIES != 0,
            stamps: bits & Self::STAMPS != 0,
            writes_checksums: bits & Self::WRITES != 0,
        }
    }
}

/// A DPDK Ethernet device. Dropping it closes it.
#[derive(Debug)]
struct Device {
    id: u16,
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: the port exists, and nothing uses it any more.
        unsafe { sys::nrw_port_close(self.id) }
    }
}

/// A receive queue of a started port, for one thread, possibly not the port's.
#[derive(Debug)]
pub struct Queue {
    device: Arc<Device>,
    number: u16,
    /// Packets of several segments that did not fit into one.
    broken: u64,
}

impl Queue {
    /// Appends received packets, at most a burst. Returns their number.
    pub fn receive(&mut self, packets: &mut Vec<Mbuf>) -> usize {
        packets.reserve(BURST);
        let spare = packets.spare_capacity_mut().as_mut_ptr().cast();
        let (port, most) = (self.device.id, BURST as u16);
        // SAFETY: there is room for BURST pointers, an Mbuf is a non-null pointer, and the shim
        // returns how many it wrote; each of these is ours now.
        unsafe {
            let got = sys::nrw_receive(port, self.number, spare, most, &mut self.broken);
            packets.set_len(packets.len() + usize::from(got));
            got.into()
        }
    }

    /// The device's clock, which timestamps packets; `None` if it has none.
    pub fn device_clock(&self) -> Option<u64> {
        let mut ticks = 0;
        // SAFETY: the port exists.
        (unsafe { sys::nrw_port_clock(self.device.id, &mut ticks) } == 0).then_some(ticks)
    }

    /// Packets of several segments that did not fit into one.
    pub fn broken(&self) -> u64 {
        self.broken
    }
}

/// A started, promiscuous port with one transmit queue. It closes once the port and all its receive
/// queues have been dropped.
///
/// A memif client starts only once its server exists, and goes down with its server. Such a port
/// counts as open anyway, and [`Port::look`] retries.
#[derive(Debug)]
pub struct Port {
    id: u16,
    device: String,
    offloads: Offloads,
    is_started: bool,
    /// Checks since it was last up.
    looks_down: u32,
    first: Queue,
    others: Vec<Queue>,
    sockets: PacketSockets,
}

impl Port {
    /// Opens and starts the device, and receives into mbufs of `pool`. It takes over the tasks in
    /// `wanted` as far as it can ([`Port::offloads`]).
    ///
    /// # Errors
    /// If no driver accepts the string, or the device fails.
    pub fn open(eal: Eal, device: &str, pool: Mempool, wanted: Offloads) -> Result<Port, Error> {
        Port::open_with(eal, device, pool, wanted, 1)
    }

    /// Like `open`, with this many receive queues: a card's, or those of a device configured with
    /// as many (`qpairs=2`).
    ///
    /// # Errors
    /// Those of [`Port::open`]; or if the device has fewer queues, or is a memif client, which may
    /// restart at any time.
    pub fn open_with(
        _: Eal,
        device: &str,
        pool: Mempool,
        wanted: Offloads,
        queues: u16,
    ) -> Result<Port, Error> {
        let name = device.split(',').next().unwrap_or(device).to_owned();
        let text = |text: &str| CString::new(text).map_err(|_| Error::Text(text.to_owned()));
        let (device_text, name_text) = (text(device)?, text(&name)?);
        let _ = Eal::take_log();
        let mut id = 0;
        // SAFETY: EAL runs; DPDK copies the strings.
        let mut probe = || unsafe {
            match sys::nrw_device_port(name_text.as_ptr(), &mut id) {
                0 => -EEXIST,
                _ => match sys::nrw_device_probe(device_text.as_ptr()) {
                    0 => sys::nrw_device_port(name_text.as_ptr(), &mut id),
                    code => code,
                },
            }
        };
        let is_packet_socket = device.starts_with("net_af_packet");
        let code = if is_packet_socket && queues == 1 { without_fanout(probe) } else { probe() };
        if code < 0 {
            return Err(refused(device, code));
        }
        let port = Port::of(id, device, wanted, queues);
        if queues > 1 && port.is_client() {
            let reason =
                "a memif's client has one receive queue: its server may come and go".to_owned();
            return Err(Error::Device { device: device.to_owned(), reason, log: String::new() });
        }
        port.set_up(pool)
    }

    fn of(id: u16, device: &str, offloads: Offloads, queues: u16) -> Port {
        let (device, shared) = (device.to_owned(), Arc::new(Device { id }));
        let queue = |number| Queue { device: shared.clone(), number, broken: 0 };
        let (first, others) = (queue(0), (1..queues).map(queue).collect());
        let sockets = PacketSockets::of(&device);
        Port { id, device, offloads, is_started: false, looks_down: 0, first, others, sockets }
    }

    /// Two ports connected by rings in this process: each receives what the other sends.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn pair(_: Eal, pool: Mempool) -> Result<[Port; 2], Error> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let device = format!("narrows_pair{number}");
        let names = ["a", "b"]
            .map(|end| CString::new(format!("narrows_{number}{end}")).expect("no zero byte"));
        let pointers: [*const c_char; 2] = [names[0].as_ptr(), names[1].as_ptr()];
        let mut ids = [0; 2];
        // SAFETY: EAL runs; both arrays have two elements; DPDK copies the names.
        let code = unsafe { sys::nrw_ring_pair(pointers.as_ptr(), RING_PACKETS, ids.as_mut_ptr()) };
        if code < 0 {
            return Err(refused(&device, code));
        }
        let [a, b] = ids.map(|id| Port::of(id, &device, Offloads::default(), 1).set_up(pool));
        Ok([a?, b?])
    }

    fn set_up(mut self, pool: Mempool) -> Result<Port, Error> {
        let (mut offloads, queues) = (self.offloads.to_bits(), 1 + self.others.len() as u16);
        // SAFETY: the port exists and belongs to this value.
        let code = unsafe {
            sys::nrw_port_set_up(self.id, pool.as_ptr(), DESCRIPTORS, queues, &mut offloads)
        };
        self.offloads = Offloads::from_bits(offloads);
        let code = if code == 0 { self.start() } else { code };
        if self.device.starts_with("net_af_packet") {
            self.discard_received();
        }
        if self.is_started || (code != 0 && self.is_client()) {
            return Ok(self);
        }
        Err(refused(&self.device, code))
    }

    fn start(&mut self) -> i32 {
        // SAFETY: the port is set up and belongs to this value.
        let code = unsafe { sys::nrw_port_start(self.id) };
        self.is_started = code == 0;
        code
    }

    /// Discards received packets, and resets the driver's counts.
    ///
    /// The driver of packet sockets (`net_af_packet`) opens a socket for all interfaces and binds
    /// it later. Until then its ring takes the frames of every interface of the machine.
    fn discard_received(&mut self) {
        let mut packets = vec![];
        for queue in core::iter::once(&mut self.first).chain(&mut self.others) {
            for _ in 0..usize::from(DESCRIPTORS) / BURST {
                if queue.receive(&mut packets) == 0 {
                    break;
                }
                packets.clear();
            }
            queue.broken = 0;
        }
        // SAFETY: the port exists and belongs to this value.
        unsafe { sys::nrw_port_reset_counts(self.id) };
        self.sockets.reset();
    }

    /// Whether it is a memif client, the driver's default role, which connects to another's socket.
    fn is_client(&self) -> bool {
        let serves = ["role=server", "role=master"].iter().any(|role| self.device.contains(role));
        self.device.starts_with("net_memif") && !serves
    }

    /// Its device string.
    pub fn device(&self) -> &str {
        &self.device
    }

    /// The tasks that the device takes over.
    pub fn offloads(&self) -> Offloads {
        self.offloads
    }

    /// The device's clock, which timestamps packets; `None` if it has none.
    pub fn device_clock(&self) -> Option<u64> {
        self.first.device_clock()
    }

    /// Appends received packets, at most a burst. Returns their number.
    pub fn receive(&mut self, packets: &mut Vec<Mbuf>) -> usize {
        if !self.is_started {
            return 0;
        }
        self.first.receive(packets)
    }

    /// Its receive queues except the first, which [`Port::receive`] reads; a second call returns
    /// none.
    pub fn take_queues(&mut self) -> Vec<Queue> {
        core::mem::take(&mut self.others)
    }

    /// Sends the first packets of `packets`, at most a burst, and removes those that were sent.
    pub fn transmit(&mut self, packets: &mut Vec<Mbuf>) -> usize {
        if !self.is_started {
            return 0;
        }
        let count = packets.len().min(BURST) as u16;
        // SAFETY: the first `count` elements are pointers to mbufs of ours; those that were sent
        // belong to the driver and are forgotten below.
        let sent = unsafe { sys::nrw_transmit(self.id, packets.as_mut_ptr().cast(), count) };
        packets.drain(..usize::from(sent)).for_each(Mbuf::forget);
        sent.into()
    }

    /// Whether its link is up.
    pub fn is_up(&self) -> bool {
        // SAFETY: the port exists.
        self.is_started && unsafe { sys::nrw_port_is_up(self.id) != 0 }
    }

    /// Like `is_up`; a memif client that is down reconnects at the first check and at every
    /// [`PATIENCE`]th one after that. Call it about ten times a second: a connection takes a few
    /// milliseconds, and much longer if the driver's thread waits for a core.
    pub fn look(&mut self) -> bool {
        let is_up = self.is_up();
        if !is_up && self.is_client() && self.looks_down % PATIENCE == 0 {
            self.start();
        }
        self.looks_down = if is_up { 0 } else { self.looks_down + 1 };
        is_up
    }

    /// Sets its link down or up; false if the driver can't.
    pub fn set_link(&mut self, up: bool) -> bool {
        // SAFETY: the port exists.
        unsafe { sys::nrw_port_set_link(self.id, up.into()) == 0 }
    }

    /// Its counts.
    pub fn counts(&self) -> PortCounts {
        let mut counts = [0; 5];
        // SAFETY: the port exists, and the array has as many elements as the shim writes.
        unsafe { sys::nrw_port_counts(self.id, counts.as_mut_ptr()) };
        let [received, sent, missed, errors, without_memory] = counts;
        let (missed, errors) = (missed + self.sockets.missed(), errors + self.first.broken);
        PortCounts { received, sent, missed, errors, without_memory }
    }
}

/// Linux's "File exists".
const EEXIST: i32 = 17;

fn refused(device: &str, code: i32) -> Error {
    Error::Device { device: device.to_owned(), reason: reason(code), log: Eal::last_log() }
}
