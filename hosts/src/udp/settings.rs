//! The resolved settings of a flow of datagrams.

use crate::api::SegmentSize;
use crate::compat::profiles::PROFILES;
use crate::config::{FlowConfig, FlowError, by_name, check_flow, in_range};
use crate::udp::record::Record;
use crate::udp::senders::SENDERS;
use crate::udp::tfrc::TFRC;
use crate::wire::datagram::UDP_BYTES;
use crate::wire::ip::{MOST_PACKET_BYTES, beyond_ipv4_bytes, header_bytes};
use crate::wire::segment::TCP_BYTES;
use narrows_traffic::message::HEADER_BYTES;

/// When a message is split, both parts have room for a header.
const LEAST_SEGMENT_BYTES: u32 = 2 * HEADER_BYTES;

/// A flow's resolved settings, with every default and name filled in.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The flow's number.
    pub flow: u32,
    /// The sender's record.
    pub record: &'static Record,
    /// The longest part of a message per datagram.
    pub segment_bytes: u32,
}

impl Settings {
    /// True if the sender follows TFRC's rate and the receiver reports.
    pub(super) fn is_tfrc(&self) -> bool {
        self.record.name == TFRC.name
    }

    /// Resolves and checks a flow's configuration; ignores TCP's fields.
    ///
    /// # Errors
    /// The first unknown name, value out of range, or application that requires a stream.
    pub fn resolve(flow: &FlowConfig) -> Result<Settings, FlowError> {
        let id = flow.id;
        let record = by_name(id, "variant", &flow.variant, SENDERS, |record| record.name)?;
        let profile = by_name(id, "profile", &flow.profile, PROFILES, |profile| profile.name)?;
        check_flow(flow)?;
        let workload = flow.app.record();
        if workload.answers || (record.needs_pace && !workload.has_messages) {
            let need = if workload.answers { "a stream in both directions" } else { "a stream" };
            let (field, value) = ("variant", record.name);
            return Err(FlowError::Unmet { flow: id, what: workload.name, need, field, value });
        }
        let segment_bytes = flow.segment_bytes.unwrap_or(match profile.segment {
            // The packet is as long as that of a full segment without options.
            SegmentSize::Mss(mss) => {
                mss + (TCP_BYTES - UDP_BYTES) as u32
                    - record.header_bytes
                    - beyond_ipv4_bytes(flow.source.ip)
            }
            SegmentSize::Payload(bytes) => bytes,
        });
        let headers = header_bytes(flow.source.ip) + UDP_BYTES as u32 + record.header_bytes;
        let most = MOST_PACKET_BYTES - headers;
        let range = (LEAST_SEGMENT_BYTES.into(), most.into());
        in_range(id, "segment_bytes", segment_bytes.into(), range.0, range.1)?;
        Ok(Settings { flow: id, record, segment_bytes })
    }

    /// Like `resolve`, for a flow whose datagrams leave when they are written, over any socket.
    ///
    /// # Errors
    /// Those of [`Settings::resolve`], or if the flow's rate is controlled.
    pub(crate) fn resolve_uncontrolled(flow: &FlowConfig) -> Result<Settings, FlowError> {
        let settings = Settings::resolve(flow)?;
        if settings.is_tfrc() {
            return Err(FlowError::Unmet {
                flow: flow.id,
                what: settings.record.name,
                need: "one of our own hosts",
                field: "variant",
                value: settings.record.name,
            });
        }
        Ok(settings)
    }
}
