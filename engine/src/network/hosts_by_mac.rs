//! Finds a host by its MAC address.

use rustc_hash::FxHashMap;

/// Hosts by their MAC address. Scenarios number their hosts' addresses one after the other: these
/// are in a list, of which 16 hosts share a cache line.
#[derive(Clone, Debug, Default)]
pub(crate) struct HostsByMac {
    /// The first host's address.
    first: u64,
    /// The hosts with this address and those after it.
    in_a_row: Vec<u32>,
    others: FxHashMap<u64, u32>,
}

impl HostsByMac {
    /// Adds a host; false if another one has its address.
    pub fn add(&mut self, mac: [u8; 6], host: usize) -> bool {
        if self.get(mac).is_some() {
            return false;
        }
        let (mac, host) = (number(mac), host as u32);
        if self.in_a_row.is_empty() {
            self.first = mac;
        }
        if mac.wrapping_sub(self.first) == self.in_a_row.len() as u64 {
            self.in_a_row.push(host);
        } else {
            self.others.insert(mac, host);
        }
        true
    }

    /// The host with this address.
    #[inline]
    pub fn get(&self, mac: [u8; 6]) -> Option<usize> {
        let mac = number(mac);
        let place = usize::try_from(mac.wrapping_sub(self.first)).ok();
        let in_a_row = place.and_then(|place| self.in_a_row.get(place));
        in_a_row.or_else(|| self.others.get(&mac)).map(|&host| host as usize)
    }
}

/// An address as a number.
fn number([a, b, c, d, e, f]: [u8; 6]) -> u64 {
    // In two parts: the compiler puts eight bytes of an array together by vector instructions.
    u64::from(u32::from_be_bytes([a, b, c, d])) << 16 | u64::from(u16::from_be_bytes([e, f]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Compares with a map.
        #[test]
        fn each_host_is_found_by_its_address(last in prop::collection::vec(any::<u8>(), 0..40)) {
            let mac = |last: u8| [2, 0, 0, 0, 0, last];
            let (mut hosts, mut map) = (HostsByMac::default(), BTreeMap::new());
            for (index, &last) in last.iter().enumerate() {
                prop_assert_eq!(hosts.add(mac(last), index), !map.contains_key(&last));
                map.entry(last).or_insert(index);
            }
            for last in 0..=u8::MAX {
                prop_assert_eq!(hosts.get(mac(last)), map.get(&last).copied());
            }
            prop_assert_eq!(hosts.get([2, 0, 0, 1, 0, 0]), None);
        }

        #[test]
        fn addresses_in_a_row_are_in_the_list(first in any::<u16>(), count in 0usize..40) {
            let mac = |n: usize| {
                let [.., c, d, e, f] = (u64::from(first) + n as u64).to_be_bytes();
                [2, 0, c, d, e, f]
            };
            let mut hosts = HostsByMac::default();
            (0..count).for_each(|n| assert!(hosts.add(mac(n), n)));
            prop_assert!(hosts.others.is_empty());
            prop_assert!((0..count).all(|n| hosts.get(mac(n)) == Some(n)));
        }
    }
}
