//! Ethernet ports, by the device strings that DPDK's own programs take: `net_memif0,role=client`,
//! `net_af_packet0,iface=veth1`, `net_pcap0,iface=eth0`, or a card's PCI address.

use core::sync::atomic::{AtomicU32, Ordering};
use std::ffi::{CString, c_char};
use std::sync::Arc;

use crate::eal::Eal;
use crate::error::{Error, reason};
use crate::mbuf::{Mbuf, Mempool};
use crate::{BURST, sys};

/// Descriptors that a queue is asked for; a driver may have fewer.
const DESCRIPTORS: u16 = 1024;
/// Looks between two attempts to connect.
const PATIENCE: u32 = 5;
/// Packets that a pair of rings holds, in each direction; a power of two.
const RING_PACKETS: u32 = 4096;

/// What a port has done, as its driver counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounts {
    /// Packets received.
    pub received: u64,
    /// Packets sent.
    pub sent: u64,
    /// Packets that found the receive ring full.
    pub missed: u64,
    /// Packets that came in broken.
    pub errors: u64,
    /// Packets for which there was no mbuf.
    pub without_memory: u64,
}

/// What a device does for its port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offloads {
    /// It verifies the checksums of IPv4, TCP and UDP.
    pub verifies_checksums: bool,
    /// It notes when each packet came.
    pub stamps: bool,
    /// It writes the checksums of TCP and UDP that are left to it ([`Mbuf::leave_checksum`]).
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

/// An Ethernet device of DPDK's. Dropping it closes it.
#[derive(Debug)]
struct Device {
    id: u16,
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: the port exists, and nobody uses it any more.
        unsafe { sys::nrw_port_close(self.id) }
    }
}

/// A receive queue of a started port, for one thread, which may be another than the port's.
#[derive(Debug)]
pub struct Queue {
    device: Arc<Device>,
    number: u16,
    /// Packets in several segments for whose joining there was no room.
    broken: u64,
}

impl Queue {
    /// Adds what has come in, a burst at most. Returns how many packets that is.
    pub fn receive(&mut self, packets: &mut Vec<Mbuf>) -> usize {
        packets.reserve(BURST);
        let spare = packets.spare_capacity_mut().as_mut_ptr().cast();
        let (port, most) = (self.device.id, BURST as u16);
        // SAFETY: there is room for BURST pointers, an Mbuf is one that is not null, and the
        // shim says how many it wrote, each of which is ours from now on.
        unsafe {
            let got = sys::nrw_receive(port, self.number, spare, most, &mut self.broken);
            packets.set_len(packets.len() + usize::from(got));
            got.into()
        }
    }

    /// What the device's clock shows, by which it stamps; `None` where it has none.
    pub fn device_clock(&self) -> Option<u64> {
        let mut ticks = 0;
        // SAFETY: the port exists.
        (unsafe { sys::nrw_port_clock(self.device.id, &mut ticks) } == 0).then_some(ticks)
    }

    /// Packets in several segments for whose joining there was no room.
    pub fn broken(&self) -> u64 {
        self.broken
    }
}

/// A started port with one transmit queue, promiscuous. It is closed when it has been dropped, and
/// with it all of its receive queues.
///
/// A memif's client does not start before its server is there, and stays down when its server has
/// gone: such a port is open all the same, and [`Port::look`] tries again.
#[derive(Debug)]
pub struct Port {
    id: u16,
    device: String,
    offloads: Offloads,
    is_started: bool,
    /// How often it was down since it was up.
    looks_down: u32,
    first: Queue,
    others: Vec<Queue>,
}

impl Port {
    /// Opens the device and starts it, receiving into mbufs of `pool`. It is to do what is
    /// `wanted` of it, as far as it can ([`Port::offloads`]).
    ///
    /// # Errors
    /// If no driver knows the string, or the device refuses.
    pub fn open(eal: Eal, device: &str, pool: Mempool, wanted: Offloads) -> Result<Port, Error> {
        Port::open_with(eal, device, pool, wanted, 1)
    }

    /// The same with so many receive queues: those of a card, or of a device that was told to have
    /// as many (`qpairs=2`).
    ///
    /// # Errors
    /// As [`Port::open`], or when the device has fewer, or is a memif's client, which may start
    /// anew at any time.
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
        let code = unsafe {
            match sys::nrw_device_port(name_text.as_ptr(), &mut id) {
                0 => -EEXIST,
                _ => match sys::nrw_device_probe(device_text.as_ptr()) {
                    0 => sys::nrw_device_port(name_text.as_ptr(), &mut id),
                    code => code,
                },
            }
        };
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
        Port { id, device, offloads, is_started: false, looks_down: 0, first, others }
    }

    /// Two ports joined by rings in this process: what one sends, the other receives.
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

    /// Discards the packets that have come in, and the driver's counts of them.
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
    }

    /// Whether it is a memif that connects to another's socket; the driver's default role.
    fn is_client(&self) -> bool {
        let serves = ["role=server", "role=master"].iter().any(|role| self.device.contains(role));
        self.device.starts_with("net_memif") && !serves
    }

    /// Its device string.
    pub fn device(&self) -> &str {
        &self.device
    }

    /// What the device does for it.
    pub fn offloads(&self) -> Offloads {
        self.offloads
    }

    /// What the device's clock shows, by which it stamps; `None` where it has none.
    pub fn device_clock(&self) -> Option<u64> {
        self.first.device_clock()
    }

    /// Adds what has come in, a burst at most. Returns how many packets that is.
    pub fn receive(&mut self, packets: &mut Vec<Mbuf>) -> usize {
        if !self.is_started {
            return 0;
        }
        self.first.receive(packets)
    }

    /// Its receive queues but the first, which [`Port::receive`] reads; a second call gives none.
    pub fn take_queues(&mut self) -> Vec<Queue> {
        core::mem::take(&mut self.others)
    }

    /// Sends the first packets of `packets`, a burst at most, and takes out those that went.
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

    /// The same; a memif's client that is down connects anew at the first look and at every
    /// [`PATIENCE`]th after that. To be called some ten times a second: a connection takes a few
    /// milliseconds, and much longer where the driver's own thread has to wait for a core.
    pub fn look(&mut self) -> bool {
        let is_up = self.is_up();
        if !is_up && self.is_client() && self.looks_down % PATIENCE == 0 {
            self.start();
        }
        self.looks_down = if is_up { 0 } else { self.looks_down + 1 };
        is_up
    }

    /// Takes its link down, or up; false where the driver can't.
    pub fn set_link(&mut self, up: bool) -> bool {
        // SAFETY: the port exists.
        unsafe { sys::nrw_port_set_link(self.id, up.into()) == 0 }
    }

    /// What it has done.
    pub fn counts(&self) -> PortCounts {
        let mut counts = [0; 5];
        // SAFETY: the port exists, and the array has as many elements as the shim writes.
        unsafe { sys::nrw_port_counts(self.id, counts.as_mut_ptr()) };
        let [received, sent, missed, errors, without_memory] = counts;
        let errors = errors + self.first.broken;
        PortCounts { received, sent, missed, errors, without_memory }
    }
}

/// Linux's "File exists".
const EEXIST: i32 = 17;

fn refused(device: &str, code: i32) -> Error {
    Error::Device { device: device.to_owned(), reason: reason(code), log: Eal::last_log() }
}
