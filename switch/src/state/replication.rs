//! Clone sessions and multicast groups.

use schemars::JsonSchema;
use serde::Deserialize;

/// A copy of a packet: its output port and its replication id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Replica {
    /// Output port.
    pub port: u16,
    /// `standard_metadata.egress_rid`.
    #[serde(default)]
    pub rid: u16,
}

/// A multicast group.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MulticastGroup {
    /// Its number in the program, not 0.
    pub id: u32,
    /// The copies to make of a packet.
    pub replicas: Vec<Replica>,
}

/// A clone (mirror) session.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CloneSession {
    /// Its number in the program.
    pub id: u32,
    /// The copies to make of a packet.
    pub replicas: Vec<Replica>,
    /// Truncates clones to this many bytes, before their egress; headers stay whole.
    #[serde(default)]
    pub truncate_bytes: Option<u32>,
}
