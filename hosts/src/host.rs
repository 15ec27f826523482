//! A host: connections, their applications, one set of timers and one way out.
//!
//! Timers: each connection has at most one entry in a heap, at or before its next deadline. An
//! entry that comes too early is put back at the deadline as it is then, so moving a deadline
//! later, which every ACK does, costs nothing. Output: connections with something to send take
//! turns, a segment each, in the order in which they became ready.

use crate::ack_reconstruction::AckReconstruction;
use crate::addr::{Endpoint, Mac};
use crate::config::{FlowConfig, FlowError, HostConfig, Recording, Settings};
use crate::report::FlowReport;
use crate::tcp::sender::SenderCounters;
use crate::tcp::wire::{self, Discard, Emitter, Flags, Header, Segment};
use crate::tcp::{Connection, State};
use crate::user::{self, End, User, application_rng};
use core::cmp::Reverse;
use core::net::Ipv4Addr;
use narrows_common::record::{FlowRecord, MessageRecord};
use narrows_common::{Duration, Packet, Rng, Time};
use rustc_hash::FxHashMap;
use std::collections::{BinaryHeap, VecDeque};

/// Resets that may wait to be sent; more are left out.
const MAX_RESETS: usize = 64;

/// A host with its connections.
#[derive(Debug)]
pub struct Host {
    mac: Mac,
    ip: Ipv4Addr,
    gateway_mac: Mac,
    rng: Rng,
    /// Where the flows' own random numbers come from.
    traffic_seed: u64,
    flows: Vec<Flow>,
    /// By our port and the peer's address and port.
    by_ends: FxHashMap<(u16, Endpoint), usize>,
    /// The node that its packets pass.
    reconstruction: Option<AckReconstruction>,
    timers: BinaryHeap<Reverse<(Time, usize)>>,
    ready: VecDeque<usize>,
    resets: VecDeque<Packet>,
    discards: [u64; Discard::ALL.len()],
    flow_records: Vec<FlowRecord>,
    message_records: Vec<MessageRecord>,
    /// Sending flows that completed since the last poll.
    newly_complete: usize,
}

#[derive(Debug)]
struct Flow {
    id: u32,
    connection: Connection,
    user: User,
    starts_at: Time,
    has_started: bool,
    recording: Recording,
    next_record_at: Time,
    /// The heap's entry for it; [`Time::MAX`] without one.
    wakes_at: Time,
    is_ready: bool,
    /// It has been counted as complete.
    is_counted: bool,
}

impl Host {
    /// A host without flows.
    pub fn new(config: &HostConfig, rng: Rng) -> Self {
        Host {
            traffic_seed: traffic_seed(&rng),
            mac: config.mac,
            ip: config.ip,
            gateway_mac: config.gateway_mac,
            rng,
            flows: Vec::new(),
            by_ends: FxHashMap::default(),
            reconstruction: config.reconstructs_acks.then(AckReconstruction::default),
            timers: BinaryHeap::new(),
            ready: VecDeque::new(),
            resets: VecDeque::new(),
            discards: [0; Discard::ALL.len()],
            flow_records: Vec::new(),
            message_records: Vec::new(),
            newly_complete: 0,
        }
    }

    /// Opens the sending end of a flow: it connects at its start, then its application writes.
    ///
    /// # Errors
    /// What is wrong with the configuration.
    pub fn open_flow(&mut self, flow: &FlowConfig) -> Result<(), FlowError> {
        self.check_ip(flow, "source", flow.source.ip)?;
        let settings = Settings::resolve(flow)?;
        let mut emitter = self.emitter(flow.source.port, flow.destination);
        if let Some(ttl) = flow.ttl {
            emitter = emitter.with_ttl(ttl.get());
        }
        let connection = Connection::connect(settings, emitter, &mut self.rng);
        self.add(flow, flow.source.port, flow.destination, connection, true)
    }

    /// Opens the receiving end of a flow: it waits for the sender and reads all that comes.
    ///
    /// # Errors
    /// What is wrong with the configuration.
    pub fn listen(&mut self, flow: &FlowConfig) -> Result<(), FlowError> {
        self.check_ip(flow, "destination", flow.destination.ip)?;
        let settings = Settings::resolve(flow)?;
        let emitter = self.emitter(flow.destination.port, flow.source);
        let connection = Connection::listen(settings, emitter, &mut self.rng);
        self.add(flow, flow.destination.port, flow.source, connection, false)
    }

    fn check_ip(
        &self,
        flow: &FlowConfig,
        field: &'static str,
        ip: Ipv4Addr,
    ) -> Result<(), FlowError> {
        if ip == self.ip {
            return Ok(());
        }
        Err(FlowError::NotThisHost { flow: flow.id, field, value: ip, expected: self.ip })
    }

    fn emitter(&self, port: u16, peer: Endpoint) -> Emitter {
        Emitter::new((self.mac, self.gateway_mac), (self.ip, peer.ip), (port, peer.port))
    }

    fn add(
        &mut self,
        flow: &FlowConfig,
        port: u16,
        peer: Endpoint,
        connection: Connection,
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
        self.flows.push(Flow {
            id: flow.id,
            connection,
            user: User::new(flow, is_sender, self.traffic_seed),
            starts_at: flow.start,
            has_started: !is_sender,
            recording: if is_sender { flow.record } else { Recording::Off },
            next_record_at: Time::ZERO,
            wakes_at: Time::MAX,
            is_ready: false,
            is_counted: !is_sender,
        });
        self.schedule(index);
        Ok(())
    }

    /// A packet arrived.
    pub fn handle_packet(&mut self, now: Time, packet: &Packet) {
        let is_taken_apart = match &mut self.reconstruction {
            Some(node) => !node.handle_packet(now, packet),
            None => false,
        };
        if is_taken_apart {
            self.take_reconstructed(now);
        } else {
            self.hand_over(now, packet);
        }
    }

    /// The ACKs that are due of those taken apart.
    fn take_reconstructed(&mut self, now: Time) {
        while let Some(packet) = self.reconstruction.as_mut().and_then(|node| node.poll_packet(now))
        {
            self.hand_over(now, &packet);
        }
    }

    fn hand_over(&mut self, now: Time, packet: &Packet) {
        if let Err(reason) = self.take_packet(now, packet) {
            self.discards[reason as usize] += 1;
        }
    }

    fn take_packet(&mut self, now: Time, packet: &Packet) -> Result<(), Discard> {
        let segment = wire::parse(packet)?;
        let (source, destination) = segment.ips;
        if segment.macs.1 != self.mac || destination != self.ip {
            return Err(Discard::NotForUs);
        }
        let peer = Endpoint { ip: source, port: segment.ports.0 };
        let found = self.by_ends.get(&(segment.ports.1, peer)).copied();
        let Some(index) = found.filter(|&index| self.flows[index].has_started) else {
            self.refuse(&segment, peer);
            return Err(Discard::NoConnection);
        };
        let flow = &mut self.flows[index];
        if flow.connection.state() == State::Closed {
            self.refuse(&segment, peer);
            return Err(Discard::NoConnection);
        }
        flow.connection.handle_segment(now, &segment);
        let read_before = self.message_records.len();
        flow.user.handle_readable(now, &mut flow.connection, &mut self.message_records);
        if flow.is_record_due(now) {
            self.flow_records.push(flow.connection.record(now));
        }
        self.after(index);
        let records = &mut self.message_records;
        for written in user::react(&mut self.flows, index, records, read_before) {
            self.after(written);
        }
        Ok(())
    }

    /// A segment to no connection is answered with a reset (RFC 9293 section 3.10.7.1).
    fn refuse(&mut self, segment: &Segment<'_>, peer: Endpoint) {
        if segment.flags.has(Flags::RST) || self.resets.len() >= MAX_RESETS {
            return;
        }
        let header = if segment.flags.has(Flags::ACK) {
            Header { seq: segment.ack, flags: Flags::RST, ..Header::default() }
        } else {
            let occupied = u32::from(segment.flags.has(Flags::SYN))
                + u32::from(segment.flags.has(Flags::FIN))
                + segment.payload.len();
            let ack = segment.seq.wrapping_add(occupied);
            Header { ack, flags: Flags::RST.with(Flags::ACK), ..Header::default() }
        };
        let mut emitter = self.emitter(segment.ports.1, peer);
        let mut packet = Packet::default();
        emitter.begin(&header, &mut packet);
        emitter.finish(&mut packet);
        self.resets.push_back(packet);
    }

    /// Does what is due at `now`.
    pub fn handle_timeout(&mut self, now: Time) {
        self.take_reconstructed(now);
        while let Some(&Reverse((at, index))) = self.timers.peek() {
            if at > now {
                break;
            }
            self.timers.pop();
            let flow = &mut self.flows[index];
            if flow.wakes_at != at {
                continue;
            }
            flow.wakes_at = Time::MAX;
            if flow.next_deadline().is_some_and(|deadline| deadline <= now) {
                flow.handle_timeout(now);
                self.after(index);
            } else {
                self.schedule(index);
            }
        }
    }

    /// Writes the next segment into an emptied packet; false when there is none. To be called
    /// after every input until it returns false.
    pub fn poll_transmit(&mut self, now: Time, packet: &mut Packet) -> bool {
        if let Some(reset) = self.resets.pop_front() {
            *packet = reset;
            return true;
        }
        while let Some(index) = self.ready.pop_front() {
            let flow = &mut self.flows[index];
            if flow.connection.poll_transmit(now, packet) {
                if let Some(node) = &mut self.reconstruction {
                    node.on_sent(packet);
                }
                self.ready.push_back(index);
                return true;
            }
            flow.is_ready = false;
            self.schedule(index);
        }
        false
    }

    /// When [`Host::handle_timeout`] is to be called; a call may find nothing to do.
    pub fn poll_timeout(&self) -> Option<Time> {
        let reconstructed = self.reconstruction.as_ref().and_then(AckReconstruction::poll_timeout);
        let timer = self.timers.peek().map(|&Reverse((at, _))| at);
        [timer, reconstructed].into_iter().flatten().min()
    }

    /// The rows recorded since they were last drained.
    pub fn flow_records(&mut self) -> &mut Vec<FlowRecord> {
        &mut self.flow_records
    }

    /// The messages read since they were last drained; a bulk transfer has none.
    pub fn message_records(&mut self) -> &mut Vec<MessageRecord> {
        &mut self.message_records
    }

    /// True when there are rows to be drained.
    pub fn has_records(&self) -> bool {
        !self.flow_records.is_empty() || !self.message_records.is_empty()
    }

    /// Packets that were not taken, by reason.
    pub fn discards(&self) -> impl Iterator<Item = (Discard, u64)> + '_ {
        Discard::ALL.iter().map(|&reason| (reason, self.discards[reason as usize]))
    }

    /// The flows of this host, sending and receiving, in the order in which they were opened.
    pub fn flow_ids(&self) -> impl Iterator<Item = u32> + '_ {
        self.flows.iter().map(|flow| flow.id)
    }

    /// How many sending flows completed, or were reset, since the last call.
    pub fn poll_completed(&mut self) -> usize {
        core::mem::take(&mut self.newly_complete)
    }

    /// True when every sending flow with an end is complete, and every such flow received.
    pub fn is_complete(&self) -> bool {
        self.flows.iter().all(Flow::is_complete)
    }

    /// What a flow has come to; `None` when this host does not have it.
    pub fn flow_report(&self, id: u32) -> Option<FlowReport> {
        self.flows.iter().find(|flow| flow.id == id).map(Flow::report)
    }

    /// What a flow's sender has counted; `None` when this host does not have it.
    pub fn sender_counters(&self, id: u32) -> Option<SenderCounters> {
        let flow = self.flows.iter().find(|flow| flow.id == id)?;
        Some(flow.connection.sender_counters())
    }

    /// After an input of a connection: it may have something to send, and other deadlines.
    fn after(&mut self, index: usize) {
        let flow = &mut self.flows[index];
        if !flow.is_ready {
            flow.is_ready = true;
            self.ready.push_back(index);
        }
        if !flow.is_counted && flow.is_complete() {
            flow.is_counted = true;
            self.newly_complete += 1;
        }
    }

    fn schedule(&mut self, index: usize) {
        let flow = &mut self.flows[index];
        if let Some(deadline) = flow.next_deadline().filter(|&at| at < flow.wakes_at) {
            flow.wakes_at = deadline;
            self.timers.push(Reverse((deadline, index)));
        }
    }
}

impl End for Flow {
    type Stream = Connection;

    fn parts(&mut self) -> (&mut User, &mut Connection) {
        (&mut self.user, &mut self.connection)
    }
}

impl Flow {
    fn next_deadline(&self) -> Option<Time> {
        if !self.has_started {
            return Some(self.starts_at);
        }
        [self.connection.poll_timeout(), self.user.poll_timeout()].into_iter().flatten().min()
    }

    fn handle_timeout(&mut self, now: Time) {
        self.has_started = true;
        self.connection.handle_timeout(now);
        self.user.handle_timeout(now, &mut self.connection);
    }

    fn is_record_due(&mut self, now: Time) -> bool {
        match self.recording {
            Recording::Off => false,
            Recording::Ack => true,
            Recording::IntervalPs(interval) => {
                let is_due = now >= self.next_record_at;
                if is_due {
                    let interval_ps = interval.as_ps().max(1);
                    let into = Duration::from_ps(now.as_ps() % interval_ps);
                    self.next_record_at = now - into + Duration::from_ps(interval_ps);
                }
                is_due
            }
        }
    }

    fn completed_at(&self) -> Option<Time> {
        if self.user.is_sender() {
            self.connection.all_acked_at()
        } else if self.connection.is_read_to_end() {
            self.connection.last_delivered_at()
        } else {
            None
        }
    }

    fn is_complete(&self) -> bool {
        self.completed_at().is_some() || self.connection.was_reset()
    }

    fn report(&self) -> FlowReport {
        let connection = &self.connection;
        FlowReport {
            flow: self.id,
            state: connection.state(),
            was_reset: connection.was_reset(),
            established_at: connection.established_at(),
            completed_at: self.completed_at(),
            acked_bytes: connection.acked_bytes(),
            sent: connection.sender_counters(),
            received: connection.receiver_counters(),
            messages: self.user.messages(),
            skipped_messages: self.user.skipped_messages(),
            rtt: connection.rtt_summary(),
            one_way_delay: connection.one_way_delay_summary(),
        }
    }
}

/// The randomness of a flow's application, from that of the host that sends it.
pub fn flow_rng(host: &Rng, flow: u32) -> Rng {
    application_rng(traffic_seed(host), flow)
}

/// From a copy, so that the connections' numbers are what they are without traffic.
fn traffic_seed(host: &Rng) -> u64 {
    host.clone().u64()
}
