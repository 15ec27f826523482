//! A packet's flow as a number: what fair queues tell flows apart by.
//!
//! It reads the headers itself, for two reasons. Zeros at a packet's end are counted, not stored,
//! and the checks of etherparse and smoltcp refuse a packet whose bytes are fewer than its length
//! field. And each packet of a fair queue is hashed: that takes 64 instructions here, 474 with
//! etherparse 0.19 (`LaxSlicedPacket`) and 156 with smoltcp 0.12 (IPv4 unchecked), measured with
//! `valgrind --tool=callgrind` over 100,000 TCP segments. The ECN field (`ecn.rs`) takes 17, 37 and
//! 21.

use narrows_common::Packet;

const ETHERNET: usize = 14;
const IPV4_FRAGMENT: u8 = 0x3f;
const IPV6_BYTES: usize = 40;

/// A hash of addresses, protocol and ports, perturbed by a seed (RFC 8290 section 4.1.1). A
/// fragment has no ports, a packet that is not IP nothing of these.
#[inline]
pub fn flow_hash(packet: &Packet, seed: u64) -> u64 {
    usual(&packet.data, seed).unwrap_or_else(|| any(&packet.data, seed))
}

/// The hash of any packet.
#[cold]
fn any(data: &[u8], seed: u64) -> u64 {
    let Some(ip) = data.get(ETHERNET..) else { return mix(seed, 0) };
    let (addresses, protocol, transport) = match data[12..ETHERNET] {
        [8, 0] if ip.len() >= 20 => {
            let is_fragment = ip[6] & IPV4_FRAGMENT != 0 || ip[7] != 0;
            let transport = usize::from(ip[0] & 15) * 4;
            (&ip[12..20], ip[9], (!is_fragment).then_some(transport))
        }
        [0x86, 0xdd] if ip.len() >= IPV6_BYTES => (&ip[8..40], ip[6], Some(IPV6_BYTES)),
        _ => return mix(seed, 0),
    };
    let word = |part: &[u8]| part.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes));
    let parts = addresses.chunks_exact(8);
    let hash = parts.fold(mix(seed, protocol.into()), |hash, part| mix(hash, word(part)));
    let ports = transport.and_then(|at| ip.get(at..)?.first_chunk());
    mix(hash, ports.map_or(0, |ports| u32::from_be_bytes(*ports).into()))
}

/// The same of IPv4 without options, not a fragment: its fields stand at fixed places.
#[inline]
fn usual(data: &[u8], seed: u64) -> Option<u64> {
    let head: &[u8; ETHERNET + 24] = data.first_chunk()?;
    let ip: &[u8; 24] = head.last_chunk()?;
    let is_usual = head[12..15] == [8, 0, 0x45] && ip[6] & IPV4_FRAGMENT == 0 && ip[7] == 0;
    let addresses = u64::from_be_bytes(*ip[12..].first_chunk()?);
    let ports = u32::from_be_bytes(*ip.last_chunk()?);
    is_usual.then(|| mix(mix(mix(seed, ip[9].into()), addresses), ports.into()))
}

/// The finaliser of SplitMix64 over the sum.
#[inline]
fn mix(hash: u64, word: u64) -> u64 {
    let mut x = hash.wrapping_add(word).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(source: u8, port: u16, fragment: u8) -> Packet {
        let mut data = vec![0; 54];
        data[12..14].copy_from_slice(&[8, 0]);
        (data[14], data[20], data[23], data[29]) = (0x45, fragment, 6, source);
        data[34..36].copy_from_slice(&port.to_be_bytes());
        Packet { data, ..Packet::default() }
    }

    #[test]
    fn addresses_and_ports_tell_flows_apart() {
        let hash = |packet| flow_hash(&packet, 1);
        assert_eq!(hash(frame(1, 80, 0)), hash(frame(1, 80, 0)));
        assert_ne!(hash(frame(1, 80, 0)), hash(frame(1, 81, 0)));
        assert_ne!(hash(frame(1, 80, 0)), hash(frame(2, 80, 0)));
        assert_eq!(hash(frame(1, 80, 0x20)), hash(frame(1, 81, 0x20)), "fragments have no ports");
        assert_ne!(flow_hash(&frame(1, 80, 0), 1), flow_hash(&frame(1, 80, 0), 2));
        assert_eq!(hash(Packet::from_bytes(&[1; 60])), hash(Packet::from_bytes(&[2; 9])));
    }

    #[test]
    fn flows_spread_over_the_queues() {
        let queue = |port| (flow_hash(&frame(1, port, 0), 3) % 64) as usize;
        let mut counts = [0; 64];
        (0..64_000).for_each(|n: u32| counts[queue(n as u16)] += 1);
        assert!(counts.iter().all(|&n| (850..1150).contains(&n)), "{counts:?}");
    }
}
