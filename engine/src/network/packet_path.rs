//! The path of a packet: host, link, switch, queue, link, host. Each step is one call.
//!
//! ```text
//! leave_host ─▶ enter_uplink ─▶ (in flight) ─▶ enter_switch ─▶ (queue) ─┐
//!  ┌────────────────────────────────────────────────────────────────────┘
//!  └▶ leave_switch ─▶ enter_cable ─▶ enter_group ─▶ (in flight) ─▶ enter_host
//! ```
//!
//! `arrive` takes the next packet in flight to its receiver. A cable between two switches connects
//! `leave_switch` to `enter_switch`; a cable to a collector ends in `enter_collector`. In real time
//! the cables are wires: a packet leaves the network at one end and enters it again at the other.
//! `impaired_links/` has the cables that do more than delay packets.

use narrows_common::prefetch::prefetch;
use narrows_common::{Duration, Packet, Time};
use narrows_queueing::impairments::Fate;
use narrows_switch::Transmit;

use super::Network;
use super::border::order::arrival_rank;
use super::impaired_links::ImpairedLink;
use super::nodes::{Cable, Delivery, FarEnd, HostStack, Receiver};
use crate::record::link_rows::LinkDirection;
use crate::record::telemetry_report::Report;

/// The steps in which a host's memory is asked for: its node, the host, its flow, the half of the
/// flow's connection that data passes, and what that half points to.
const ASK_STEPS: usize = 5;
/// How many packets ahead the memory of look-ups is asked for.
const LOOK_UPS_STEP: usize = 2;

impl Network {
    /// The next packet in flight reaches the end of its link direction.
    pub(super) fn arrive(&mut self, now: Time) {
        let Some((due, direction, packet)) = self.in_flight.poll_receive(now) else { return };
        if let Some(border) = &mut self.border {
            border.reach(now, arrival_rank(direction));
        }
        if self.in_flight.looks_ahead() {
            self.ask_ahead();
        }
        match self.directions[direction] {
            Receiver::Switch { switch, port } => match &mut self.wire_map {
                Some(wires) => wires.leave_hosts(due, switch as usize, port, packet),
                None => {
                    self.enter_switch(now, switch as usize, port, packet);
                    if let Some(look_ups) = self.look_ups.get_mut(direction) {
                        *look_ups = self.switches[switch as usize].switch.look_ups();
                    }
                }
            },
            Receiver::Host(index) => self.enter_host(now, due, index as usize, packet),
            Receiver::Group => self.enter_group(now, packet),
            Receiver::Impaired(link) => self.enter_impaired(link as usize, due, packet),
        }
    }

    /// Asks for the memory of the hosts that receive the next packets, and of the host whose timer
    /// is next: one step of each. What a step reads, the step before has asked for, one packet
    /// earlier.
    fn ask_ahead(&mut self) {
        if let Some(direction) = self.in_flight.upcoming(ASK_STEPS) {
            prefetch(&self.directions[direction]);
            prefetch(&self.look_ups[direction]);
        }
        if let Some(direction) = self.in_flight.upcoming(LOOK_UPS_STEP) {
            self.look_ups[direction].prefetch();
        }
        for step in 0..ASK_STEPS {
            let direction = self.in_flight.upcoming(ASK_STEPS - 1 - step);
            let receiver = direction.map(|direction| self.directions[direction]);
            if let Some(Receiver::Host(index)) = receiver {
                self.ask_for_host(index as usize, step);
            }
        }
        if let Some(index) = self.schedule.first_host() {
            let (known, step) = self.timer_asked;
            let step = if known == index { step } else { 0 };
            self.ask_for_host(index, step);
            self.timer_asked = (index, step + 1);
        }
    }

    /// Asks for a host's memory, one of [`ASK_STEPS`].
    #[inline(always)]
    fn ask_for_host(&self, index: usize, step: usize) {
        if step == 0 {
            self.hosts.prefetch(index);
            self.access.prefetch(index);
        } else if let Some(HostStack::Narrows(host)) = self.hosts.get(index).map(|node| &node.stack)
        {
            match step {
                1 => host.prefetch(),
                2 => host.prefetch_latest_flow(),
                3 => host.prefetch_half(),
                4 => host.prefetch_parts(),
                _ => {}
            }
        }
    }

    /// A host sends its packets and sets its next timer.
    pub(super) fn leave_host(&mut self, now: Time, index: usize) {
        loop {
            let node = &mut self.hosts[index];
            let HostStack::Narrows(host) = &mut node.stack else { return };
            if !host.poll_transmit(now, self.pool.peek()) {
                if host.has_records() && !node.has_records {
                    node.has_records = true;
                    self.hosts_with_records.push(index);
                }
                self.progress.completed_flows += host.poll_completed();
                let timeout = host.poll_timeout().unwrap_or(Time::MAX);
                if timeout != node.due {
                    node.due = timeout;
                    self.schedule.set_host(index, timeout);
                }
                return;
            }
            let packet = self.pool.take();
            self.enter_uplink(now, index, packet);
        }
    }

    /// A host's packet enters its access link, and then the cable to the switch.
    pub(crate) fn enter_uplink(&mut self, now: Time, index: usize, packet: Box<Packet>) {
        self.record_packet(now, index, true, &packet);
        let packet = match &mut self.border {
            Some(border) => border.leave_host(index, packet),
            None => Some(packet),
        };
        if let Some(packet) = packet {
            self.enter_access(now, index, packet);
        }
    }

    /// A host's packet enters its access link, which is here.
    pub(super) fn enter_access(&mut self, now: Time, index: usize, packet: Box<Packet>) {
        if self.delivery.as_ref().is_some_and(|delivery| delivery.host == index) {
            // It came first, and both directions draw their jitter from one generator.
            self.end_delivery();
        }
        let access = &mut self.access[index];
        match access.link.handle_up(now, packet.len()) {
            Some(at) => {
                let (uplink, at) = (access.uplink, at + access.cable_delay);
                self.send(uplink, at, packet);
            }
            None => self.pool.give(packet),
        }
    }

    /// A packet enters a switch by a port: parser, ingress, and the queue of its output port.
    pub(crate) fn enter_switch(&mut self, now: Time, index: usize, port: u16, packet: Box<Packet>) {
        self.progress.packets += 1;
        self.switches[index].switch.handle_packet(now, port, packet);
        self.leave_switch(index);
    }

    /// A switch sends the packets that left its queues, gives back the memory of those that it
    /// dropped, and sets its next timer.
    pub(super) fn leave_switch(&mut self, index: usize) {
        let switch = loop {
            let node = &mut self.switches[index];
            let Some(transmit) = node.switch.poll_transmit() else { break &mut node.switch };
            match node.cables[usize::from(transmit.port)] {
                Some(cable) => self.enter_cable(index, cable, transmit),
                None => node.switch.recycle(transmit.packet),
            }
        };
        while let Some(packet) = switch.poll_spare() {
            self.pool.give(packet);
        }
        let timeout = switch.poll_timeout().unwrap_or(Time::MAX);
        self.schedule.set_switch(index, timeout);
    }

    /// A packet enters the cable at a switch's port and arrives at the cable's far end.
    #[inline]
    fn enter_cable(&mut self, index: usize, cable: Cable, transmit: Transmit) {
        // Field by field: the switch has just written them, and a processor waits before it can
        // copy several of them together.
        let Transmit { port, start, end, packet } = transmit;
        if let Some(link) = cable.impaired {
            return self.enter_impaired(link, end, packet);
        }
        if let Some(wires) = &mut self.wire_map {
            let transmit = Transmit { port, start, end, packet };
            if let Some(packet) = wires.leave_switch(index, transmit, cable.delay) {
                self.switches[index].switch.recycle(packet);
            }
            return;
        }
        let arrival = end + cable.delay;
        match cable.to {
            FarEnd::Direction(direction) => self.send(direction, arrival, packet),
            FarEnd::Group => self.enter_group(arrival, packet),
            FarEnd::Collector => {
                self.enter_collector(arrival, &packet);
                self.switches[index].switch.recycle(packet);
            }
        }
    }

    /// Puts a packet in flight; it arrives by a link direction at this instant.
    #[inline]
    fn send(&mut self, direction: usize, at: Time, packet: Box<Packet>) {
        let packet = match &mut self.border {
            Some(border) => border.send(direction, at, packet),
            None => Some(packet),
        };
        if let Some(packet) = packet {
            self.in_flight.send(direction, at, packet);
        }
    }

    /// A packet enters a link direction with impairments.
    pub(super) fn enter_impaired(&mut self, index: usize, now: Time, packet: Box<Packet>) {
        let link = &mut self.impaired_links[index];
        let number = link.packets;
        link.packets += 1;
        let (own, copy) = link.direction.handle(now);
        let label = (number, self.flow_ids.of(&packet), packet.len() as u32);
        let row = link.row(now, label, own, false);
        let copy_row = copy.map(|fate| link.row(now, label, fate, true));
        self.record_link(row);
        if let Some(row) = copy_row {
            self.record_link(row);
        }
        let copied = copy.filter(|&fate| fate != Fate::Lost).map(|fate| (fate, packet.clone()));
        self.leave_impaired(index, own, packet);
        if let Some((fate, packet)) = copied {
            self.leave_impaired(index, fate, packet);
        }
    }

    /// A packet leaves a link direction with impairments, or is lost.
    fn leave_impaired(&mut self, index: usize, fate: Fate, packet: Box<Packet>) {
        let &ImpairedLink { switch, port, towards, exit, .. } = &self.impaired_links[index];
        let is_from_switch = towards == LinkDirection::Out;
        let left = match (fate, &mut self.wire_map) {
            (Fate::Lost, _) => Some(packet),
            (Fate::Arrives { at, .. }, Some(wires)) if is_from_switch => {
                // Without the span of its transmission: the wire measures no rate behind jitter.
                let transmit = Transmit { port, start: at, end: at, packet };
                wires.leave_switch(switch, transmit, Duration::ZERO)
            }
            (Fate::Arrives { at, .. }, _) => {
                self.send(exit, at, packet);
                None
            }
        };
        match left {
            Some(packet) if is_from_switch => self.switches[switch].switch.recycle(packet),
            Some(packet) => self.pool.give(packet),
            None => {}
        }
    }

    /// A packet arrives at a group and enters the access link of its host. With many hosts it waits
    /// for the next packet to do so, or for the next event that may follow from it: until then the
    /// memory of the link comes.
    pub(crate) fn enter_group(&mut self, at: Time, packet: Box<Packet>) {
        let mac = packet.data.first_chunk::<6>();
        let Some(host) = mac.and_then(|&mac| self.by_mac.get(mac)) else {
            self.misdelivered += 1;
            return self.pool.give(packet);
        };
        let delivery = Delivery { at, host, packet };
        if self.in_flight.looks_ahead() {
            self.access.prefetch(host);
            self.end_delivery();
            self.delivery = Some(delivery);
        } else {
            self.enter_downlink(delivery);
        }
    }

    /// The packet that waits at a group enters its access link.
    pub(super) fn end_delivery(&mut self) {
        if let Some(delivery) = self.delivery.take() {
            self.enter_downlink(delivery);
        }
    }

    /// A packet enters the access link of its host, unless the link's queue is full.
    #[inline]
    fn enter_downlink(&mut self, Delivery { at, host, packet }: Delivery) {
        let access = &mut self.access[host];
        match access.link.handle_down(at, packet.len()) {
            Some(at) => {
                let downlink = access.downlink;
                self.send(downlink, at, packet);
            }
            None => self.pool.give(packet),
        }
    }

    /// A packet enters a host, which may answer. `due` is when it left the access link.
    fn enter_host(&mut self, now: Time, due: Time, index: usize, packet: Box<Packet>) {
        self.record_packet(now, index, false, &packet);
        match (&mut self.hosts[index].stack, &mut self.wire_map) {
            (HostStack::Narrows(host), _) => {
                host.handle_packet(now, &packet);
                self.pool.give(packet);
                self.leave_host(now, index);
            }
            (HostStack::Kernel(_), Some(wires)) => wires.leave_access(due, index, packet),
            (HostStack::Kernel(_), None) => unreachable!("sockets are in real time only"),
        }
    }

    /// A packet enters the collector, which reads telemetry reports.
    fn enter_collector(&mut self, now: Time, packet: &Packet) {
        match Report::parse(&packet.data) {
            Ok(report) => {
                let lag_ns = (now.as_ps() / 1000) as i64 - report.egress_ns as i64;
                let least_ns = self.report_lag_ns.get_or_insert(lag_ns);
                *least_ns = lag_ns.min(*least_ns);
                self.record_report(report);
            }
            Err(_) => self.bad_reports += 1,
        }
    }

    /// In real time: a packet arrives at the collector of a switch by its wire.
    pub(crate) fn enter_collector_of(&mut self, now: Time, switch: usize, packet: Box<Packet>) {
        self.enter_collector(now, &packet);
        // The switch takes packets for its reports from its spare ones.
        self.switches[switch].switch.recycle(packet);
    }

    /// An empty packet for one received by a wire.
    pub(crate) fn take_packet(&mut self) -> Box<Packet> {
        self.pool.take()
    }

    /// Takes a packet back for reuse of its memory.
    pub(crate) fn recycle(&mut self, packet: Box<Packet>) {
        self.pool.give(packet);
    }
}
