//! A flow as a plan describes it.

use crate::config::error::{FlowError, in_range};
use crate::wire::addr::Endpoint;
use core::num::NonZeroU8;
use narrows_common::{Duration, Time};
use narrows_traffic::AppConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A flow: one connection, or datagrams, and what it carries. Both hosts get the same.
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
    /// Congestion control, by name; ns-2's name of a source sets what else that differs in. The
    /// name of a sender of datagrams ([`crate::udp::SENDERS`]) makes it a flow of them.
    pub variant: String,
    /// Loss recovery, by name; ns-2's name of a source stands for its recovery.
    pub recovery: String,
    /// Where the defaults of all that follows come from, by name.
    pub profile: String,
    /// Payload bytes of a full segment.
    #[serde(default)]
    pub segment_bytes: Option<u32>,
    /// What the receiver offers in bytes; also its buffer.
    #[serde(default)]
    pub window_bytes: Option<u64>,
    /// What may be unacknowledged of messages written, in bytes; a message that does not fit is left
    /// out. Absent: no limit.
    #[serde(default)]
    pub send_buffer_bytes: Option<u64>,
    /// First congestion window in segments.
    #[serde(default)]
    pub initial_window: Option<u32>,
    /// First slow-start threshold in segments.
    #[serde(default)]
    pub initial_ssthresh: Option<u32>,
    /// An ns-2 sink by name, for what is absent of `sack` and `delayed_ack`.
    #[serde(default)]
    pub sink: Option<String>,
    /// Whether the receiver delays ACKs.
    #[serde(default)]
    pub delayed_ack: Option<bool>,
    /// Selective acknowledgments.
    #[serde(default)]
    pub sack: Option<bool>,
    /// Timestamps.
    #[serde(default)]
    pub timestamps: Option<bool>,
    /// Explicit congestion notification; off by default.
    #[serde(default)]
    pub ecn: Option<bool>,
    /// Least retransmission time-out.
    #[serde(rename = "min_rto_ps", default)]
    pub min_rto: Option<Duration>,
    /// Nagle's algorithm.
    #[serde(default)]
    pub nagle: Option<bool>,
    /// The first segment of the sender's data leaves with its SYN (T/TCP); off by default.
    #[serde(default)]
    pub data_on_syn: Option<bool>,
    /// Time to live of the sender's packets; 64 by default.
    #[serde(default)]
    pub ttl: Option<NonZeroU8>,
    /// Segments that leave at once, the rest of a window spread over the round trip (ns-2's
    /// `maxburst_` of its Asym sources); without limit by default.
    #[serde(default)]
    pub max_burst: Option<u32>,
    /// Keep-alives; none by default.
    #[serde(default)]
    pub keep_alive: Option<KeepAlive>,
    /// How long what is sent may wait for an answer before the connection is given up; for ever
    /// by default.
    #[serde(rename = "user_timeout_ps", default)]
    pub user_timeout: Option<Duration>,
    /// The variant's own parameters.
    #[serde(default)]
    pub params: BTreeMap<String, f64>,
    /// What the flow carries.
    pub app: AppConfig,
    /// When the sender's state is recorded.
    #[serde(default)]
    pub record: Recording,
}

/// Keep-alives of a connection. Linux's defaults are 7,200 s, 75 s and 9.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeepAlive {
    /// Nothing came for so long: the peer is probed.
    #[serde(rename = "idle_ps")]
    pub idle: Duration,
    /// Between two probes.
    #[serde(rename = "interval_ps")]
    pub interval: Duration,
    /// Probes without an answer after which the connection is given up.
    pub probes: u32,
}

/// When a sender's state is recorded: `"off"`, `"ack"`, `{"interval_ps": 10000000000}`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Recording {
    /// Never.
    #[default]
    Off,
    /// At every ACK that arrives.
    Ack,
    /// At the first ACK of each interval of this length.
    IntervalPs(Duration),
}

/// Checks what a flow has whatever carries it.
pub(crate) fn check_flow(flow: &FlowConfig) -> Result<(), FlowError> {
    let id = flow.id;
    in_range(id, "id", id.into(), 1, u32::MAX.into())?;
    for port in [flow.source.port, flow.destination.port] {
        in_range(id, "port", port.into(), 1, u16::MAX.into())?;
    }
    flow.app.check().map_err(|error| FlowError::App { flow: id, error })
}
