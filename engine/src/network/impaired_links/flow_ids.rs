//! The flow of a packet, by the addresses and ports in its headers. They may be in two parts of the
//! packet, of which no library reads more than one.

use narrows_common::Packet;
use narrows_hosts::FlowConfig;
use rustc_hash::FxHashMap;

/// Two ends: address and port of source and destination.
type Ends = ([u8; 4], u16, [u8; 4], u16);

/// Numbers of flows by their ends, in both directions.
#[derive(Debug, Default)]
pub(crate) struct FlowIds(FxHashMap<Ends, u32>);

const ETHERNET_BYTES: usize = 14;
/// Ethernet, the longest IPv4 header, and two ports.
const PREFIX_BYTES: usize = ETHERNET_BYTES + 60 + 4;

impl FlowIds {
    /// Those of these flows.
    pub(crate) fn new<'a>(flows: impl Iterator<Item = &'a FlowConfig>) -> Self {
        let ends = flows.flat_map(|flow| {
            let (id, from, to) = (flow.id, &flow.source, &flow.destination);
            let there = (from.ip.octets(), from.port, to.ip.octets(), to.port);
            let back = (to.ip.octets(), to.port, from.ip.octets(), from.port);
            [(there, id), (back, id)]
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
        let (_, ip) = bytes.split_at(ETHERNET_BYTES);
        let ports = &ip[usize::from(ip[0] & 0xf) * 4..];
        let [Some(source), Some(destination)] =
            [12, 16].map(|at| ip[at..].first_chunk::<4>().copied())
        else {
            return 0;
        };
        let &[a, b, c, d, ..] = ports else { return 0 };
        let ends = (source, u16::from_be_bytes([a, b]), destination, u16::from_be_bytes([c, d]));
        self.0.get(&ends).copied().unwrap_or(0)
    }
}
