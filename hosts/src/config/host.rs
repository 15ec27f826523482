//! A host and its link to the switch.

use crate::compat::ns2::ack_reconstruction::Spacing;
use crate::wire::addr::Mac;
use core::net::Ipv4Addr;
use narrows_queueing::LinkConfig;
use schemars::JsonSchema;
use serde::Deserialize;

/// A host.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostConfig {
    /// Its name.
    pub name: String,
    /// Its Ethernet address.
    pub mac: Mac,
    /// Its IPv4 address.
    pub ip: Ipv4Addr,
    /// Where it sends everything: the switch's port.
    pub gateway_mac: Mac,
    /// Its link to the switch.
    pub access: LinkConfig,
    /// A node before it spreads out again what a slow path has left of the ACKs.
    #[serde(default)]
    pub reconstructs_acks: Option<Spacing>,
    /// Whether the device that sends its packets writes their transport's checksum; where it runs
    /// decides that, no plan.
    #[serde(skip)]
    pub leaves_checksums: bool,
}
