//! A host and its link to the switch.

use crate::compat::ns2::ack_reconstruction::Spacing;
use crate::wire::addr::Mac;
use core::net::IpAddr;
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
    /// Its IPv4 or IPv6 address.
    pub ip: IpAddr,
    /// The destination MAC address of all its packets: the switch's port.
    pub gateway_mac: Mac,
    /// Its link to the switch.
    pub access: LinkConfig,
    /// The spacing of a node in front of it that reconstructs ACKs; `None` for no such node.
    #[serde(default)]
    pub reconstructs_acks: Option<Spacing>,
    /// Whether the sending device writes transport checksums. The target decides this, not the
    /// plan.
    #[serde(skip)]
    pub leaves_checksums: bool,
}
