//! What a scenario says of hosts and flows, and what it comes to.

use crate::access::Counts;
use crate::cc::{Need, Parameters, VARIANTS, Variant};
use crate::compat::ns2::ack_reconstruction::Spacing;
use crate::compat::ns2::agents::{self, SINKS};
use crate::compat::profiles::{PROFILES, Profile, SegmentSize};
use crate::recovery::{RECOVERIES, Rule};
use crate::tcp::KeepAlive;
use crate::wire::addr::{Endpoint, Mac};
use crate::wire::options::TIMESTAMPS_BYTES;
use core::net::Ipv4Addr;
use core::num::NonZeroU8;
use narrows_common::{Duration, Time};
use narrows_traffic::{AppConfig, AppError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A host.
#[derive(Clone, Debug, Serialize, Deserialize)]
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
    pub access: AccessConfig,
    /// A node before it spreads out again what a slow path has left of the ACKs.
    #[serde(default)]
    pub reconstructs_acks: Option<Spacing>,
    /// Whether the device that sends its packets writes their transport's checksum; where it runs
    /// decides that, no plan.
    #[serde(skip)]
    pub leaves_checksums: bool,
}

/// A host's link to the switch, the same in both directions.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccessConfig {
    /// Rate in bits per second, above 0.
    pub rate_bps: u64,
    /// Propagation delay.
    #[serde(rename = "delay_ps")]
    pub delay: Duration,
    /// What a packet takes longer at most, drawn anew for each.
    #[serde(rename = "jitter_ps", default)]
    pub jitter: Duration,
    /// Packets that may wait, the one being sent not counted; absent: no limit.
    #[serde(default)]
    pub queue_packets: Option<u32>,
    /// Which bytes take time on it.
    #[serde(default)]
    pub counts: Counts,
}

/// A flow: one connection, or datagrams, and what it carries. Both hosts get the same.
#[derive(Clone, Debug, Serialize, Deserialize)]
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

/// When a sender's state is recorded: `"off"`, `"ack"`, `{"interval_ps": 10000000000}`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

/// Why a flow cannot be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
pub enum FlowError {
    #[error("flow {flow}: {error}")]
    App { flow: u32, error: AppError },
    #[error("flow {flow}: {field} = \"{value}\" is unknown; expected one of {expected}")]
    UnknownName { flow: u32, field: &'static str, value: String, expected: String },
    #[error("flow {flow}: {field} = {value} is out of range; expected {min} to {max}")]
    OutOfRange { flow: u32, field: &'static str, value: u64, min: u64, max: u64 },
    #[error("variant {variant}: no parameter \"{parameter}\"; expected one of {expected}")]
    Parameter { variant: &'static str, parameter: String, expected: String },
    #[error("variant {variant}: {parameter} = {value} is out of range; expected {min} to {max}")]
    ParameterValue {
        variant: &'static str,
        parameter: &'static str,
        value: f64,
        min: f64,
        max: f64,
    },
    #[error("flow {flow}: {what} needs {need}, but {field} = {value}")]
    Unmet {
        flow: u32,
        what: &'static str,
        need: &'static str,
        field: &'static str,
        value: &'static str,
    },
    #[error("flow {flow}: {field} is {value}; expected this host's address {expected}")]
    NotThisHost { flow: u32, field: &'static str, value: Ipv4Addr, expected: Ipv4Addr },
    #[error(
        "flow {flow}: {source_end} to {destination} is taken by flow {by}; expected a port of its own"
    )]
    Taken { flow: u32, source_end: Endpoint, destination: Endpoint, by: u32 },
}

/// A flow's configuration with every default filled in and every name looked up. What every segment
/// asks for lies in front, in one line of memory.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Settings {
    /// Keep-alives.
    pub keep_alive: Option<KeepAlive>,
    /// How long what is sent may wait for an answer.
    pub user_timeout: Option<Duration>,
    /// The flow's number.
    pub flow: u32,
    /// Payload bytes of a full segment.
    pub segment_bytes: u32,
    /// Whether ECN is negotiated.
    pub ecn: bool,
    /// Whether data leaves with the SYN, and is taken from it.
    pub data_on_syn: bool,
    /// The receiver thins out its ACKs when they are marked.
    pub ack_control: bool,
    /// The sender tells it of its window, and echoes the marks.
    pub reports_window: bool,
    /// Whether the receiver keeps the bytes themselves, not only their number.
    pub keeps_content: bool,
    /// The profile, with what the flow overrides.
    pub profile: Profile,
    /// Congestion control.
    pub variant: &'static Variant,
    /// Its parameters.
    pub parameters: Parameters,
    /// Loss recovery.
    pub recovery: &'static Rule,
    /// The receiver's buffer in bytes.
    pub window_bytes: u64,
    /// Segments that leave at once.
    pub max_burst: Option<u32>,
}

/// The largest window: 2^30 bytes (RFC 7323 section 2.3).
const MAX_WINDOW_BYTES: u64 = 1 << 30;
/// Fits an IPv4 packet with every option.
const MAX_SEGMENT_BYTES: u64 = 65_535 - 20 - 60;
/// ns-2's `window_` in segments.
const NS2_WINDOW_SEGMENTS: u64 = 20;
/// ns-2's delayed-ACK interval, for profiles that have none of their own.
const NS2_DELAYED_ACK: Duration = Duration::from_ms(100);

impl Settings {
    /// Fills in and checks a flow's configuration.
    ///
    /// # Errors
    /// The first name that is unknown, value out of range, or choice that lacks what it needs.
    pub fn resolve(flow: &FlowConfig) -> Result<Settings, FlowError> {
        let id = flow.id;
        let profile = by_name(id, "profile", &flow.profile, PROFILES, |profile| profile.name)?;
        let agent = agents::agent_by_name(&flow.variant);
        let variant = agent.map_or(flow.variant.as_str(), |agent| agent.variant);
        let variant = by_name(id, "variant", variant, VARIANTS, |variant| variant.name)?;
        let recovery = agents::agent_by_name(&flow.recovery);
        let recovery = recovery.map_or(flow.recovery.as_str(), |agent| agent.recovery);
        let recovery = by_name(id, "recovery", recovery, RECOVERIES, |rule| rule.name)?;
        let sink = flow.sink.as_deref().map(|name| find_sink(id, name)).transpose()?;
        let sack = flow.sack.or(sink.map(|sink| sink.sack));
        let mut profile = *profile;
        override_profile(&mut profile, flow, agent, sink);
        check_flow(flow)?;

        let option_bytes = if profile.timestamps { TIMESTAMPS_BYTES as u32 } else { 0 };
        let of_agent = agent.and_then(|agent| agent.segment_bytes);
        let segment_bytes = flow.segment_bytes.or(of_agent).unwrap_or(match profile.segment {
            SegmentSize::Mss(mss) => mss - option_bytes,
            SegmentSize::Payload(bytes) => bytes,
        });
        in_range(id, "segment_bytes", segment_bytes.into(), 1, MAX_SEGMENT_BYTES)?;
        let window_bytes = flow.window_bytes.unwrap_or(match profile.window_bytes {
            0 => NS2_WINDOW_SEGMENTS * u64::from(segment_bytes),
            bytes => bytes,
        });
        in_range(id, "window_bytes", window_bytes, 1, MAX_WINDOW_BYTES)?;
        if let Some(segments) = flow.initial_window {
            in_range(id, "initial_window", segments.into(), 1, 1 << 20)?;
        }
        if let Some(segments) = flow.initial_ssthresh {
            in_range(id, "initial_ssthresh", segments.into(), 2, 1 << 20)?;
        }
        if let Some(segments) = flow.max_burst {
            in_range(id, "max_burst", segments.into(), 1, 1 << 20)?;
        }
        let mut needs = variant.needs.iter().chain(recovery.needs);
        let needs_sack = needs.any(|need| *need == Need::Sack);
        // Who makes no use of SACK does not offer it, unless told to.
        profile.sack = sack.unwrap_or(profile.sack && needs_sack);
        if needs_sack && !profile.sack {
            let what =
                if recovery.needs.contains(&Need::Sack) { recovery.name } else { variant.name };
            return Err(FlowError::Unmet {
                flow: id,
                what,
                need: "SACK",
                field: "sack",
                value: "false",
            });
        }
        let ack_control = sink.is_some_and(|sink| sink.ack_control);
        let of_profile = profile.parameters.iter().filter(|row| row.0 == variant.name);
        let of_profile = of_profile.map(|&(_, name, value)| (name, value));
        let of_agent = agent.map_or(&[][..], |agent| agent.parameters).iter().copied();
        let defaults = of_profile.chain(of_agent);
        let mut parameters: BTreeMap<String, f64> =
            defaults.map(|(name, value)| (name.to_owned(), value)).collect();
        parameters.extend(flow.params.clone());
        Ok(Settings {
            flow: id,
            profile,
            variant,
            parameters: Parameters::resolve(variant, &parameters)?,
            recovery,
            segment_bytes,
            window_bytes,
            ecn: flow.ecn.unwrap_or_else(|| variant.needs.contains(&Need::Ecn)),
            data_on_syn: flow.data_on_syn.unwrap_or(false),
            max_burst: flow.max_burst,
            ack_control,
            reports_window: ack_control && agent.is_some_and(|agent| agent.reports_window),
            keep_alive: flow.keep_alive,
            user_timeout: flow.user_timeout,
            keeps_content: flow.app.has_messages(),
        })
    }
}

impl Settings {
    /// The variant or the recovery needs this.
    pub fn needs(&self, need: Need) -> bool {
        self.variant.needs.contains(&need) || self.recovery.needs.contains(&need)
    }
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

fn find_sink(flow: u32, name: &str) -> Result<&'static agents::Sink, FlowError> {
    // A name that is not found is looked up once more for the error's sake.
    agents::sink_by_name(name).map_or_else(|| by_name(flow, "sink", name, SINKS, |s| s.name), Ok)
}

fn override_profile(
    profile: &mut Profile,
    flow: &FlowConfig,
    agent: Option<&agents::Agent>,
    sink: Option<&agents::Sink>,
) {
    use crate::compat::profiles::{InitialSsthresh, InitialWindow};
    if let Some(agent) = agent {
        (agent.adapt)(profile);
    }
    if let Some(segments) = flow.initial_window {
        profile.initial_window = InitialWindow::Segments(segments);
    }
    if let Some(segments) = flow.initial_ssthresh {
        profile.initial_ssthresh = InitialSsthresh::Segments(segments);
    }
    if let Some(is_delayed) = flow.delayed_ack.or(sink.map(|sink| sink.delayed_ack)) {
        let delay = profile.delayed_ack.unwrap_or(NS2_DELAYED_ACK);
        profile.delayed_ack = is_delayed.then_some(delay);
    }
    profile.timestamps = flow.timestamps.unwrap_or(profile.timestamps);
    profile.min_rto = flow.min_rto.unwrap_or(profile.min_rto);
    profile.nagle = flow.nagle.unwrap_or(profile.nagle);
}

pub(crate) fn in_range(
    flow: u32,
    field: &'static str,
    value: u64,
    min: u64,
    max: u64,
) -> Result<(), FlowError> {
    if (min..=max).contains(&value) {
        Ok(())
    } else {
        Err(FlowError::OutOfRange { flow, field, value, min, max })
    }
}

pub(crate) fn by_name<T>(
    flow: u32,
    field: &'static str,
    value: &str,
    list: &'static [T],
    name: impl Fn(&T) -> &'static str,
) -> Result<&'static T, FlowError> {
    list.iter().find(|item| name(item) == value).ok_or_else(|| FlowError::UnknownName {
        flow,
        field,
        value: value.to_owned(),
        expected: list.iter().map(name).collect::<Vec<_>>().join(", "),
    })
}
