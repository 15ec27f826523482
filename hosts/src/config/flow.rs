//! A flow as the plan describes it.

use crate::config::error::{FlowError, in_range};
use crate::wire::addr::Endpoint;
use core::num::NonZeroU8;
use narrows_common::{Duration, Time};
use narrows_traffic::AppConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A flow: a connection, or datagrams, with an application. Both hosts get the same record.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowConfig {
    /// Its number, from 1.
    pub id: u32,
    /// The sender.
    pub source: Endpoint,
    /// The receiver.
    pub destination: Endpoint,
    /// When the sender connects.
    #[serde(rename = "start_ps", default)]
    pub start: Time,
    /// The congestion control, by name. An ns-2 source name also sets that source's other defaults.
    /// A name in [`crate::udp::SENDERS`] makes it a flow of datagrams.
    pub variant: String,
    /// The loss recovery, by name; an ns-2 source name stands for that source's recovery.
    pub recovery: String,
    /// The profile, by name: the defaults of all following fields.
    pub profile: String,
    /// Payload bytes of a full segment.
    #[serde(default)]
    pub segment_bytes: Option<u32>,
    /// The receiver's window and buffer, in bytes.
    #[serde(default)]
    pub window_bytes: Option<u64>,
    /// The most unacknowledged bytes of written messages; a message that does not fit is skipped.
    /// No limit if absent.
    #[serde(default)]
    pub send_buffer_bytes: Option<u64>,
    /// Initial congestion window in segments.
    #[serde(default)]
    pub initial_window: Option<u32>,
    /// Initial slow-start threshold in segments.
    #[serde(default)]
    pub initial_ssthresh: Option<u32>,
    /// An ns-2 sink, by name: the defaults of `sack` and `delayed_ack`.
    #[serde(default)]
    pub sink: Option<String>,
    /// True if the receiver delays ACKs.
    #[serde(default)]
    pub delayed_ack: Option<bool>,
    /// True to offer selective acknowledgments.
    #[serde(default)]
    pub sack: Option<bool>,
    /// True to offer timestamps.
    #[serde(default)]
    pub timestamps: Option<bool>,
    /// Explicit congestion notification; off by default.
    #[serde(default)]
    pub ecn: Option<bool>,
    /// The minimum retransmission time-out.
    #[serde(rename = "min_rto_ps", default)]
    pub min_rto: Option<Duration>,
    /// True to use Nagle's algorithm.
    #[serde(default)]
    pub nagle: Option<bool>,
    /// True to send the first data segment with the SYN (T/TCP); off by default.
    #[serde(default)]
    pub data_on_syn: Option<bool>,
    /// Time to live of the sender's packets; 64 by default.
    #[serde(default)]
    pub ttl: Option<NonZeroU8>,
    /// The code point (DSCP) of the flow's packets in both directions, 0 to 63; 0 by default.
    #[serde(default)]
    pub dscp: Option<u8>,
    /// The most segments that leave together; the rest of a window is spread over the round trip
    /// (ns-2's `maxburst_` of its Asym sources). No limit by default.
    #[serde(default)]
    pub max_burst: Option<u32>,
    /// Keep-alives; none by default.
    #[serde(default)]
    pub keep_alive: Option<KeepAlive>,
    /// How long sent data may wait for an answer before the connection is aborted; unlimited by
    /// default.
    #[serde(rename = "user_timeout_ps", default)]
    pub user_timeout: Option<Duration>,
    /// The variant's own parameters.
    #[serde(default)]
    pub params: BTreeMap<String, f64>,
    /// The application.
    pub app: AppConfig,
    /// When to record the sender's state.
    #[serde(default)]
    pub record: Recording,
}

/// Keep-alives of a connection. Linux's defaults are 7,200 s, 75 s and 9.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeepAlive {
    /// Time without a segment from the peer before the first probe.
    #[serde(rename = "idle_ps")]
    pub idle: Duration,
    /// Time between two probes.
    #[serde(rename = "interval_ps")]
    pub interval: Duration,
    /// Unanswered probes before the connection is aborted.
    pub probes: u32,
}

/// When to record a sender's state: `"off"`, `"ack"`, `{"interval_ps": 10000000000}`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Recording {
    /// Never.
    #[default]
    Off,
    /// At every received ACK.
    Ack,
    /// At the first ACK of each interval of this length.
    IntervalPs(Duration),
}

/// Checks the fields that do not depend on the transport.
pub(crate) fn check_flow(flow: &FlowConfig) -> Result<(), FlowError> {
    let id = flow.id;
    in_range(id, "id", id.into(), 1, u32::MAX.into())?;
    in_range(id, "dscp", flow.dscp.unwrap_or(0).into(), 0, 63)?;
    for port in [flow.source.port, flow.destination.port] {
        in_range(id, "port", port.into(), 1, u16::MAX.into())?;
    }
    if flow.source.ip.is_ipv4() != flow.destination.ip.is_ipv4() {
        let (source_end, destination) = (flow.source, flow.destination);
        return Err(FlowError::IpVersions { flow: id, source_end, destination });
    }
    flow.app.check().map_err(|error| FlowError::App { flow: id, error })
}
