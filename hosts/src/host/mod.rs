//! A host: flows, one set of timers and one output.
//!
//! Timers: each flow has one timer, set at or before the flow's next deadline. A timer that fires
//! early is set to the current deadline. So moving a deadline later, as every ACK does, costs
//! nothing. Output: flows with packets to send take turns, one packet each, in the order in which
//! they became ready.

mod flow_end;
mod input;

use crate::app::driver::application_rng;
use crate::compat::ns2::ack_reconstruction::AckReconstruction;
use crate::config::{FlowConfig, FlowError, HostConfig, Settings};
use crate::host::flow_end::{FlowEnd, Transport};
use crate::report::{FlowReport, SenderCounters};
use crate::tcp::connection::Connection;
use crate::udp::{self, sender_by_name};
use crate::wire::addr::{Endpoint, Mac};
use crate::wire::datagram::{self};
use crate::wire::discard::Discard;
use crate::wire::ip_emitter::IpEmitter;
use crate::wire::segment::Emitter;
use core::net::IpAddr;
use narrows_common::prefetch::prefetch_slice;
use narrows_common::record::{FlowRecord, MessageRecord};
use narrows_common::{Packet, Rng, Time, Timers};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// The most resets that wait to be sent; further ones are dropped.
const MAX_RESETS: usize = 64;

/// The first bytes of a host, which every packet touches.
const HOT_BYTES: usize = 256;
/// The first bytes of a flow's end, which most packets touch.
const HOT_BYTES_OF_FLOW: usize = 1024;

/// A host with its flows. The fields that every packet touches come first, in four cache lines.
/// With many hosts, each host has left the caches when its next packet arrives.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Host {
    /// The flow of the latest packet; the next packet often belongs to it too.
    latest: Option<((u16, Endpoint), u32)>,
    /// Sending flows that completed since the last poll.
    newly_complete: u32,
    ip: IpAddr,
    mac: Mac,
    flows: Vec<FlowEnd>,
    /// The node that reconstructs ACKs in front of this host.
    reconstruction: Option<Box<AckReconstruction>>,
    flow_records: Vec<FlowRecord>,
    message_records: Vec<MessageRecord>,
    /// The first and the last of the flows that may have packets to send; each links to the next.
    ready: Option<(usize, usize)>,
    resets: VecDeque<Packet>,
    /// One timer per flow.
    timers: Timers,
    gateway_mac: Mac,
    /// The seed of the flows' random numbers.
    traffic_seed: u64,
    leaves_checksums: bool,
    rng: Rng,
    /// By local port, and the peer's address and port.
    by_ends: FxHashMap<(u16, Endpoint), usize>,
    discards: [u64; Discard::ALL.len()],
}

impl Host {
    /// A host without flows.
    pub fn new(config: &HostConfig, rng: Rng) -> Self {
        Host {
            traffic_seed: traffic_seed(&rng),
            mac: config.mac,
            ip: config.ip,
            gateway_mac: config.gateway_mac,
            leaves_checksums: config.leaves_checksums,
            rng,
            flows: Vec::new(),
            by_ends: FxHashMap::default(),
            latest: None,
            reconstruction: config
                .reconstructs_acks
                .map(|spacing| Box::new(AckReconstruction::new(spacing))),
            timers: Timers::new(0),
            ready: None,
            resets: VecDeque::new(),
            discards: [0; Discard::ALL.len()],
            flow_records: Vec::new(),
            message_records: Vec::new(),
            newly_complete: 0,
        }
    }

    /// Asks for the memory that every packet touches: a packet arrives soon.
    pub fn prefetch(&self) {
        prefetch_slice(core::slice::from_ref(self), HOT_BYTES);
    }

    /// The same of the flow of the latest packet, which the next one often belongs to too.
    pub fn prefetch_latest_flow(&self) {
        if let Some(flow) = self.latest_flow() {
            prefetch_slice(core::slice::from_ref(flow), HOT_BYTES_OF_FLOW);
        }
    }

    /// The same of what that flow's connection points to, in two steps: the second one reads what
    /// the first one has asked for.
    pub fn prefetch_half(&self) {
        self.latest_flow()
            .and_then(FlowEnd::connection)
            .into_iter()
            .for_each(Connection::prefetch_half);
    }

    /// See [`Host::prefetch_half`].
    pub fn prefetch_parts(&self) {
        self.latest_flow()
            .and_then(FlowEnd::connection)
            .into_iter()
            .for_each(Connection::prefetch_parts);
    }

    fn latest_flow(&self) -> Option<&FlowEnd> {
        self.latest.and_then(|(_, index)| self.flows.get(index as usize))
    }

    /// Opens the sending end of a flow. At its start it connects, if its transport does, and its
    /// application writes.
    ///
    /// # Errors
    /// If the configuration is invalid: the reason.
    pub fn open_flow(&mut self, flow: &FlowConfig) -> Result<(), FlowError> {
        self.check_ip(flow, "source", flow.source.ip)?;
        let (port, peer) = (flow.source.port, flow.destination);
        let transport = if sender_by_name(&flow.variant).is_some() {
            let settings = udp::Settings::resolve(flow)?;
            let mut emitter = self.udp_emitter(flow.dscp, port, peer);
            if let Some(ttl) = flow.ttl {
                emitter = emitter.with_ip(|ip| ip.with_ttl(ttl.get()));
            }
            Transport::UdpSender(Box::new(udp::Sender::new(settings, emitter)))
        } else {
            let settings = Settings::resolve(flow)?;
            let mut emitter = self.emitter(flow.dscp, port, peer);
            if let Some(ttl) = flow.ttl {
                emitter = emitter.with_ip(|ip| ip.with_ttl(ttl.get()));
            }
            Transport::Tcp(Connection::connect(settings, emitter, &mut self.rng))
        };
        self.add(flow, port, peer, transport, true)
    }

    /// Opens the receiving end of a flow, which waits for the sender and reads everything.
    ///
    /// # Errors
    /// If the configuration is invalid: the reason.
    pub fn listen(&mut self, flow: &FlowConfig) -> Result<(), FlowError> {
        self.check_ip(flow, "destination", flow.destination.ip)?;
        let (port, peer) = (flow.destination.port, flow.source);
        let transport = if sender_by_name(&flow.variant).is_some() {
            let settings = udp::Settings::resolve(flow)?;
            let emitter = self.udp_emitter(flow.dscp, port, peer);
            Transport::UdpReceiver(Box::new(udp::Receiver::new(&settings, emitter)))
        } else {
            let settings = Settings::resolve(flow)?;
            let emitter = self.emitter(flow.dscp, port, peer);
            Transport::Tcp(Connection::listen(settings, emitter, &mut self.rng))
        };
        self.add(flow, port, peer, transport, false)
    }

    fn check_ip(
        &self,
        flow: &FlowConfig,
        field: &'static str,
        ip: IpAddr,
    ) -> Result<(), FlowError> {
        if ip == self.ip {
            return Ok(());
        }
        Err(FlowError::NotThisHost { flow: flow.id, field, value: ip, expected: self.ip })
    }

    fn emitter(&self, dscp: Option<u8>, port: u16, peer: Endpoint) -> Emitter {
        Emitter::new((self.mac, self.gateway_mac), (self.ip, peer.ip), (port, peer.port))
            .with_ip(|ip| self.configured(ip, dscp))
    }

    fn udp_emitter(&self, dscp: Option<u8>, port: u16, peer: Endpoint) -> datagram::Emitter {
        datagram::Emitter::new((self.mac, self.gateway_mac), self.ip, port, peer)
            .with_ip(|ip| self.configured(ip, dscp))
    }

    fn configured<const N: usize>(&self, ip: IpEmitter<N>, dscp: Option<u8>) -> IpEmitter<N> {
        ip.leaving_checksum(self.leaves_checksums).with_dscp(dscp.unwrap_or(0))
    }

    fn add(
        &mut self,
        flow: &FlowConfig,
        port: u16,
        peer: Endpoint,
        transport: Transport,
        is_sender: bool,
    ) -> Result<(), FlowError> {
        let index = self.flows.len();
        if let Some(&by) = self.by_ends.get(&(port, peer)) {
            return Err(FlowError::Taken {
                flow: flow.id,
                source_end: flow.source,
                destination: flow.destination,
                by: self.flows[by].id,
            });
        }
        self.by_ends.insert((port, peer), index);
        self.flows.push(FlowEnd::new(flow, transport, is_sender, self.traffic_seed));
        self.timers.add();
        self.schedule(index);
        Ok(())
    }

    /// Handles everything due at `now`.
    pub fn handle_timeout(&mut self, now: Time) {
        if self.reconstruction.is_some() {
            self.take_reconstructed(now);
        }
        while let Some((_, index)) = self.timers.first().filter(|&(at, _)| at <= now) {
            let flow = &mut self.flows[index];
            let deadline = flow.next_deadline().unwrap_or(Time::MAX);
            if deadline <= now {
                self.timers.set(index, Time::MAX);
                flow.handle_timeout(now);
                self.after(index);
            } else {
                self.timers.set(index, deadline);
            }
        }
    }

    /// Writes the next segment into an empty packet; false if there is none. Call it after every
    /// input until it returns false.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time, packet: &mut Packet) -> bool {
        let may_transmit = self.ready.is_some() || !self.resets.is_empty();
        may_transmit && self.transmit(now, packet)
    }

    fn transmit(&mut self, now: Time, packet: &mut Packet) -> bool {
        if let Some(reset) = self.resets.pop_front() {
            *packet = reset;
            return true;
        }
        while let Some((index, last)) = self.ready {
            let flow = &mut self.flows[index];
            let has_sent = flow.poll_transmit(now, packet);
            let is_ready = has_sent && flow.may_transmit();
            flow.is_ready = is_ready;
            if index == last {
                self.ready = is_ready.then_some((index, last));
            } else {
                let next = flow.next_ready;
                if is_ready {
                    self.flows[last].next_ready = index;
                }
                self.ready = Some((next, if is_ready { index } else { last }));
            }
            if !is_ready {
                self.schedule(index);
            }
            if has_sent {
                if let Some(node) = &mut self.reconstruction {
                    node.on_sent(packet);
                }
                return true;
            }
        }
        false
    }

    /// When to call [`Host::handle_timeout`]; the call may find nothing to do.
    pub fn poll_timeout(&self) -> Option<Time> {
        let reconstructed = self.reconstruction.as_ref().and_then(|node| node.poll_timeout());
        let timer = self.timers.first().map(|(at, _)| at);
        Time::earliest([timer, reconstructed])
    }

    /// The rows recorded since the caller last took them.
    pub fn flow_records(&mut self) -> &mut Vec<FlowRecord> {
        &mut self.flow_records
    }

    /// The messages read since the caller last took them; a bulk transfer has none.
    pub fn message_records(&mut self) -> &mut Vec<MessageRecord> {
        &mut self.message_records
    }

    /// True if there are rows to take.
    pub fn has_records(&self) -> bool {
        !self.flow_records.is_empty() || !self.message_records.is_empty()
    }

    /// Packets discarded, by reason.
    pub fn discards(&self) -> impl Iterator<Item = (Discard, u64)> + '_ {
        Discard::ALL.iter().map(|&reason| (reason, self.discards[reason as usize]))
    }

    /// The flows of this host, sending and receiving, in the order in which they were opened.
    pub fn flow_ids(&self) -> impl Iterator<Item = u32> + '_ {
        self.flows.iter().map(|flow| flow.id)
    }

    /// How many sending flows completed, or were reset, since the last call.
    pub fn poll_completed(&mut self) -> usize {
        core::mem::take(&mut self.newly_complete) as usize
    }

    /// True if every finite sending flow is complete, and every finite flow has been received.
    pub fn is_complete(&self) -> bool {
        self.flows.iter().all(FlowEnd::is_complete)
    }

    /// A flow's figures; `None` if this host does not have the flow.
    pub fn flow_report(&self, id: u32) -> Option<FlowReport> {
        self.flows.iter().find(|flow| flow.id == id).map(FlowEnd::report)
    }

    /// The counts of a flow's sender; `None` if this host does not have it.
    pub fn sender_counters(&self, id: u32) -> Option<SenderCounters> {
        self.flows.iter().find(|flow| flow.id == id).map(FlowEnd::sender_counters)
    }

    /// After an input of a flow: updates its ready state and its deadline.
    #[inline(always)]
    fn after(&mut self, index: usize) {
        let flow = &mut self.flows[index];
        if !flow.is_counted && flow.is_complete() {
            flow.is_counted = true;
            self.newly_complete += 1;
        }
        if flow.is_ready {
            return;
        }
        flow.is_ready = flow.may_transmit();
        if flow.is_ready {
            self.ready = match self.ready {
                Some((first, last)) => {
                    self.flows[last].next_ready = index;
                    Some((first, index))
                }
                None => Some((index, index)),
            };
        } else {
            self.schedule(index);
        }
    }

    fn schedule(&mut self, index: usize) {
        if let Some(deadline) = self.flows[index].next_deadline() {
            self.timers.bring_forward(index, deadline);
        }
    }
}

/// The random numbers of a flow's application, derived from those of its sending host.
pub fn flow_rng(host: &Rng, flow: u32) -> Rng {
    application_rng(traffic_seed(host), flow)
}

/// Uses a copy, so that the connections' random numbers do not depend on the traffic.
fn traffic_seed(host: &Rng) -> u64 {
    host.clone().u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_packet_touches_is_four_lines_of_memory() {
        // Three cache lines, plus the first timer.
        assert_eq!(core::mem::offset_of!(Host, timers), 3 * 64);
        assert_eq!(align_of::<Host>(), 64);
    }
}
