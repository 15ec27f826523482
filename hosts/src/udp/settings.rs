//! What a flow of datagrams comes to, from its configuration.

use crate::compat::profiles::PROFILES;
use crate::config::{FlowConfig, FlowError, by_name, check_flow, in_range};
use crate::tcp::api::SegmentSize;
use crate::udp::record::Record;
use crate::udp::senders::SENDERS;
use crate::udp::tfrc::TFRC;
use crate::wire::datagram::{MOST_PAYLOAD_BYTES, UDP_BYTES};
use crate::wire::segment::TCP_BYTES;
use narrows_traffic::message::HEADER_BYTES;

/// Where a message is cut, both halves hold a header.
const LEAST_SEGMENT_BYTES: u32 = 2 * HEADER_BYTES;

/// A flow's configuration with every default filled in and every name looked up.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The flow's number.
    pub flow: u32,
    /// How it sends.
    pub record: &'static Record,
    /// The longest part of a message in a datagram.
    pub segment_bytes: u32,
}

impl Settings {
    /// The sender keeps to TFRC's rate, and the receiver reports.
    pub(super) fn is_tfrc(&self) -> bool {
        self.record.name == TFRC.name
    }

    /// Fills in and checks a flow's configuration; what is TCP's in it is not looked at.
    ///
    /// # Errors
    /// The first name that is unknown, value out of range, or application that needs a stream.
    pub fn resolve(flow: &FlowConfig) -> Result<Settings, FlowError> {
        let id = flow.id;
        let record = by_name(id, "variant", &flow.variant, SENDERS, |record| record.name)?;
        let profile = by_name(id, "profile", &flow.profile, PROFILES, |profile| profile.name)?;
        check_flow(flow)?;
        let workload = flow.app.record();
        if workload.answers || (record.needs_pace && !workload.has_messages) {
            let need = if workload.answers { "a stream both ways" } else { "a stream" };
            let (field, value) = ("variant", record.name);
            return Err(FlowError::Unmet { flow: id, what: workload.name, need, field, value });
        }
        let segment_bytes = flow.segment_bytes.unwrap_or(match profile.segment {
            // As long a packet as a full segment without options makes.
            SegmentSize::Mss(mss) => mss + (TCP_BYTES - UDP_BYTES) as u32 - record.header_bytes,
            SegmentSize::Payload(bytes) => bytes,
        });
        let most = MOST_PAYLOAD_BYTES - record.header_bytes;
        let range = (LEAST_SEGMENT_BYTES.into(), most.into());
        in_range(id, "segment_bytes", segment_bytes.into(), range.0, range.1)?;
        Ok(Settings { flow: id, record, segment_bytes })
    }

    /// The same of a flow whose datagrams leave as they are written, whoever sends them.
    ///
    /// # Errors
    /// Those of [`Settings::resolve`], or when the flow's rate is controlled.
    pub(crate) fn resolve_uncontrolled(flow: &FlowConfig) -> Result<Settings, FlowError> {
        let settings = Settings::resolve(flow)?;
        if settings.is_tfrc() {
            return Err(FlowError::Unmet {
                flow: flow.id,
                what: settings.record.name,
                need: "a host of ours",
                field: "variant",
                value: settings.record.name,
            });
        }
        Ok(settings)
    }
}
