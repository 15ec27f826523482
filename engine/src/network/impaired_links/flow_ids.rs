//! The flow of a packet, by the addresses and ports in its headers. They may be in two parts of the
//! packet, of which no library reads more than one.

use core::net::IpAddr;
use narrows_common::Packet;
use narrows_hosts::{Endpoint, FlowConfig};
use rustc_hash::FxHashMap;

/// Two ends: source and destination.
type Ends = (Endpoint, Endpoint);

/// Numbers of flows by their ends, in both directions.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowIds(FxHashMap<Ends, u32>);

const ETHERNET_BYTES: usize = 14;
const IPV6_BYTES: usize = 40;
/// Ethernet, the longest IP header, and two ports.
const PREFIX_BYTES: usize = ETHERNET_BYTES + 60 + 4;

impl FlowIds {
    /// Those of these flows.
    pub(crate) fn new<'a>(flows: impl Iterator<Item = &'a FlowConfig>) -> Self {
        let ends = flows.flat_map(|flow| {
            let (from, to) = (flow.source, flow.destination);
            [((from, to), flow.id), ((to, from), flow.id)]
        });
        FlowIds(ends.collect())
    }

    /// The flow of a packet; 0 if it belongs to none.
    pub(crate) fn of(&self, packet: &Packet) -> u32 {
        if self.0.is_empty() {
            return 0;
        }
        let mut bytes = [0; PREFIX_BYTES];
        let present = packet.data.iter().chain(packet.payload());
        bytes.iter_mut().zip(present).for_each(|(to, from)| *to = *from);
        let ends = ends(&bytes[ETHERNET_BYTES..]);
        ends.and_then(|ends| self.0.get(&ends)).copied().unwrap_or(0)
    }
}

/// The ends of an IP packet.
fn ends(ip: &[u8]) -> Option<Ends> {
    let (addresses, ports) = if ip[0] >> 4 == 6 {
        let octets = |at: usize| ip.get(at..)?.first_chunk::<16>().map(|&octets| octets.into());
        ([octets(8)?, octets(24)?], IPV6_BYTES)
    } else {
        let octets = |at: usize| ip.get(at..)?.first_chunk::<4>().map(|&octets| octets.into());
        ([octets(12)?, octets(16)?], usize::from(ip[0] & 0xf) * 4)
    };
    let [source, destination]: [IpAddr; 2] = addresses;
    let &[a, b, c, d] = ip.get(ports..)?.first_chunk()?;
    let (from, to) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    Some((Endpoint { ip: source, port: from }, Endpoint { ip: destination, port: to }))
}
