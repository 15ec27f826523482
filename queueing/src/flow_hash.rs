//! A packet's flow as a number: what fair queues tell flows apart by.

use narrows_common::Packet;

const ETHERNET: usize = 14;
const IPV4_FRAGMENT: u8 = 0x3f;
const IPV6_BYTES: usize = 40;

/// A hash of addresses, protocol and ports, perturbed by a seed (RFC 8290 section 4.1.1). A fragment
/// has no ports, a packet that is not IP nothing of these.
#[inline]
pub fn flow_hash(packet: &Packet, seed: u64) -> u64 {
    let data = &packet.data[..];
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
    let word = |bytes: &[u8]| bytes.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
    let hash = addresses
        .chunks_exact(8)
        .fold(mix(seed, protocol.into()), |hash, part| mix(hash, word(part)));
    let ports = transport.and_then(|at| ip.get(at..at + 4));
    mix(hash, ports.map_or(0, word))
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
