//! A switch's counts, without those of its ports.

/// A switch's counts, without those of its ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Packets that arrived.
    pub received: u64,
    /// Packets whose parsing ended with an error; most of them are still forwarded.
    pub parser_errors: u64,
    /// Packets with a wrong checksum; they are still forwarded.
    pub checksum_errors: u64,
    /// Packets that ingress dropped.
    pub dropped_ingress: u64,
    /// Packets that egress dropped.
    pub dropped_egress: u64,
    /// Packets for a port that does not exist.
    pub no_such_port: u64,
    /// Packets for a multicast group that does not exist.
    pub no_such_group: u64,
    /// Second copies of packets for the same port.
    pub duplicated: u64,
    /// Packets aborted by an assertion or an endless loop of the program.
    pub aborted: u64,
    /// Packets dropped, or not copied, because they or their copies reentered the parser too often
    /// (`crate::budgets`).
    pub endless: u64,
    /// Digests lost since too many waited for the control plane.
    pub digests_lost: u64,
}

impl core::ops::Add for Statistics {
    type Output = Statistics;

    fn add(self, other: Statistics) -> Statistics {
        Statistics {
            received: self.received + other.received,
            parser_errors: self.parser_errors + other.parser_errors,
            checksum_errors: self.checksum_errors + other.checksum_errors,
            dropped_ingress: self.dropped_ingress + other.dropped_ingress,
            dropped_egress: self.dropped_egress + other.dropped_egress,
            no_such_port: self.no_such_port + other.no_such_port,
            no_such_group: self.no_such_group + other.no_such_group,
            duplicated: self.duplicated + other.duplicated,
            aborted: self.aborted + other.aborted,
            endless: self.endless + other.endless,
            digests_lost: self.digests_lost + other.digests_lost,
        }
    }
}
