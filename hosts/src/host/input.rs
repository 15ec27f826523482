//! Packets that arrive at a host: delivered to their flow, or rejected.

use crate::app::driver;
use crate::host::{Host, MAX_RESETS};
use crate::wire::addr::Endpoint;
use crate::wire::datagram::{Datagram, parse_datagram};
use crate::wire::discard::Discard;
use crate::wire::ip::PROTOCOL_UDP;
use crate::wire::ip_packet;
use crate::wire::segment::{Flags, Header, Segment, parse_segment};
use core::net::IpAddr;
use narrows_common::{Packet, Time};

impl Host {
    /// A packet arrived.
    pub fn handle_packet(&mut self, now: Time, packet: &Packet) {
        let node = self.reconstruction.as_mut();
        if node.is_some_and(|node| !node.handle_packet(now, packet)) {
            self.take_reconstructed(now);
        } else {
            self.hand_over(now, packet);
        }
    }

    /// Handles the reconstructed ACKs that are due.
    pub(super) fn take_reconstructed(&mut self, now: Time) {
        while let Some(packet) = self.reconstruction.as_mut().and_then(|node| node.poll_packet(now))
        {
            self.hand_over(now, &packet);
        }
    }

    #[inline]
    pub(super) fn hand_over(&mut self, now: Time, packet: &Packet) {
        if let Err(reason) = self.take_packet(now, packet) {
            self.discards[reason as usize] += 1;
        }
    }

    pub(super) fn take_packet(&mut self, now: Time, packet: &Packet) -> Result<(), Discard> {
        let packet = ip_packet::parse(packet)?;
        let is_for_us = packet.destination_mac() == self.mac && packet.destination() == self.ip;
        if packet.protocol() == PROTOCOL_UDP {
            let datagram = parse_datagram(&packet)?;
            if !is_for_us {
                return Err(Discard::NotForUs);
            }
            return self.take_datagram(now, packet.source(), &datagram);
        }
        let segment = parse_segment(&packet);
        let segment = segment.as_ref().map_err(|&reason| reason)?;
        if !is_for_us {
            return Err(Discard::NotForUs);
        }
        self.take_segment(now, segment)
    }

    pub(super) fn take_segment(&mut self, now: Time, segment: &Segment<'_>) -> Result<(), Discard> {
        let peer = Endpoint { ip: segment.ips.0, port: segment.ports.0 };
        let found = self.find((segment.ports.1, peer));
        let Some(index) = found.filter(|&index| self.flows[index].takes_segments()) else {
            self.refuse(segment, peer);
            return Err(Discard::NoConnection);
        };
        let read_before = self.message_records.len();
        let (rows, messages) = (&mut self.flow_records, &mut self.message_records);
        self.flows[index].handle_segment(now, segment, rows, messages);
        self.after(index);
        if self.message_records.len() > read_before {
            let messages = &mut self.message_records;
            for written in driver::forward_messages(&mut self.flows, index, messages, read_before) {
                self.after(written);
            }
        }
        Ok(())
    }

    pub(super) fn take_datagram(
        &mut self,
        now: Time,
        source: IpAddr,
        datagram: &Datagram<'_>,
    ) -> Result<(), Discard> {
        let peer = Endpoint { ip: source, port: datagram.ports.0 };
        let index = self.find((datagram.ports.1, peer)).ok_or(Discard::NoConnection)?;
        let (rows, messages) = (&mut self.flow_records, &mut self.message_records);
        self.flows[index].handle_datagram(now, datagram, rows, messages)?;
        self.after(index);
        Ok(())
    }

    /// The flow with this local port and peer.
    #[inline]
    pub(super) fn find(&mut self, ends: (u16, Endpoint)) -> Option<usize> {
        if self.latest.is_none_or(|(known, _)| known != ends) {
            self.latest = self.by_ends.get(&ends).map(|&index| (ends, index as u32));
        }
        self.latest.map(|(_, index)| index as usize)
    }

    /// Answers a segment without a connection by a reset (RFC 9293 section 3.10.7.1).
    pub(super) fn refuse(&mut self, segment: &Segment<'_>, peer: Endpoint) {
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
        let mut emitter = self.emitter(None, segment.ports.1, peer);
        let mut packet = Packet::default();
        emitter.begin(&header, &mut packet);
        emitter.finish(&mut packet);
        self.resets.push_back(packet);
    }
}
