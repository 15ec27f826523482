//! Cables that lose, duplicate, reorder or delay packets by more than a fixed time.
//!
//! A packet enters such a link direction behind its port's serializer, or behind its host's access
//! link, and is in flight until it leaves. In real time a link direction from a switch decides when
//! its wire sends the packet.

mod flow_ids;

use narrows_common::{Rng, Time};
use narrows_queueing::impairments::{Fate, ImpairedDirection, ImpairmentConfig};

pub(crate) use flow_ids::FlowIds;

use crate::error::{EngineError, plan_error};
use crate::record::link_rows::{LinkDirection, LinkEvent, LinkRow};

/// A link direction with impairments.
#[derive(Debug)]
pub(crate) struct ImpairedLink {
    /// The switch and port at one end.
    pub switch: usize,
    pub port: u16,
    pub towards: LinkDirection,
    pub direction: ImpairedDirection,
    /// The link direction of its packets in flight.
    pub exit: usize,
    /// Packets that entered.
    pub packets: u64,
}

impl ImpairedLink {
    /// An idle link at a port of the switch of this name. `end` is the index of switch, and port.
    pub(crate) fn new(
        config: &ImpairmentConfig,
        (seed, name): (u64, &str),
        (switch, port): (usize, u16),
        towards: LinkDirection,
        exit: usize,
    ) -> Result<Self, EngineError> {
        let link = format!("{name} port {port} {}", towards.name());
        let rng = |impairment: &str| Rng::for_component(seed, &format!("{link}/{impairment}"));
        let direction = ImpairedDirection::new(config, rng)
            .map_err(|error| plan_error(format!("plan: link at {link}: {error}")))?;
        Ok(ImpairedLink { switch, port, towards, direction, exit, packets: 0 })
    }

    /// The row of a packet's fate. `packet` is its number, its flow and its length.
    pub(crate) fn row(
        &self,
        at: Time,
        (packet, flow, length_bytes): (u64, u32, u32),
        fate: Fate,
        is_copy: bool,
    ) -> LinkRow {
        let (event, delay) = match fate {
            Fate::Lost => (LinkEvent::Drop, None),
            Fate::Arrives { at: arrival, skipped } => {
                (LinkEvent::Deliver { is_copy, skipped }, Some(arrival.since(at)))
            }
        };
        let (switch, port, towards) = (self.switch as u16, self.port, self.towards);
        LinkRow { at, switch, port, towards, packet, flow, length_bytes, event, delay }
    }
}
