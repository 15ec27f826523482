//! Packets that arrive at a host: delivered to their flow, or rejected.

use crate::app::driver;
use crate::host::{Host, MAX_RESETS};
use crate::wire::addr::Endpoint;
use crate::wire::datagram::{Datagram, parse_datagram};
use crate::wire::discard::Discard;
use crate::wire::ip::PROTOCOL_UDP;
use crate::wire::ip_packet::{self, IpPacket};
use crate::wire::segment::{Flags, Header, Segment, parse_fixed};
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
        // Inlined here, the path of IPv4 has no look-up that depends on the version.
        if ip_packet::is_ipv4(packet) {
            self.take_ip_packet(now, &ip_packet::parse_ipv4(packet)?)
        } else {
            self.take_ipv6_packet(now, packet)
        }
    }

    #[inline(never)]
    fn take_ipv6_packet(&mut self, now: Time, packet: &Packet) -> Result<(), Discard> {
        self.take_ip_packet(now, &ip_packet::parse_ipv6(packet)?)
    }

    #[inline(always)]
    fn take_ip_packet(&mut self, now: Time, packet: &IpPacket<'_>) -> Result<(), Discard> {
        let is_for_us = packet.destination_mac() == self.mac && packet.destination() == self.ip;
        if packet.protocol() == PROTOCOL_UDP {
            let datagram = parse_datagram(packet)?;
            if !is_for_us {
                return Err(Discard::NotForUs);
            }
            return self.take_datagram(now, packet.source(), &datagram);
        }
        let (mut segment, options) = parse_fixed(packet)?;
        segment.read_options(options)?;
        if !is_for_us {
            return Err(Discard::NotForUs);
        }
        self.take_segment(now, &segment)
    }

    #[inline(always)]
    fn take_segment(&mut self, now: Time, segment: &Segment<'_>) -> Result<(), Discard> {
        let index = match self.find(segment.ports.1, (&segment.ips.0, segment.ports.0)) {
            Some(index) if self.flows[index].takes_segments() => index,
            _ => {
                self.refuse(segment);
                return Err(Discard::NoConnection);
            }
        };
        let read_before = self.message_records.len();
        let (rows, messages) = (&mut self.flow_records, &mut self.message_records);
        self.flows[index].handle_segment(now, segment, rows, messages);
        // An answer carries the ACK, so it precedes the look at the flow's deadline.
        let written = if self.message_records.len() > read_before {
            let messages = &mut self.message_records;
            driver::forward_messages(&mut self.flows, index, messages, read_before)
        } else {
            Vec::new()
        };
        self.after(index);
        for written in written {
            self.after(written);
        }
        Ok(())
    }

    #[inline(never)]
    fn take_datagram(
        &mut self,
        now: Time,
        source: IpAddr,
        datagram: &Datagram<'_>,
    ) -> Result<(), Discard> {
        let (from, to) = datagram.ports;
        let index = self.find(to, (&source, from)).ok_or(Discard::NoConnection)?;
        let (rows, messages) = (&mut self.flow_records, &mut self.message_records);
        self.flows[index].handle_datagram(now, datagram, rows, messages)?;
        self.after(index);
        Ok(())
    }

    /// The flow with this local port, and the peer's address and port. It compares the address in
    /// place: a copy would wait for its bytes, which were written just before.
    #[inline(always)]
    fn find(&mut self, port: u16, (ip, peer_port): (&IpAddr, u16)) -> Option<usize> {
        match &self.latest {
            Some(((known, peer), index))
                if *known == port && peer.port == peer_port && peer.ip == *ip =>
            {
                Some(*index as usize)
            }
            _ => self.look_up((port, Endpoint { ip: *ip, port: peer_port })),
        }
    }

    #[inline(never)]
    fn look_up(&mut self, ends: (u16, Endpoint)) -> Option<usize> {
        self.latest = self.by_ends.get(&ends).map(|&index| (ends, index as u32));
        self.latest.map(|(_, index)| index as usize)
    }

    /// Answers a segment without a connection by a reset (RFC 9293 section 3.10.7.1).
    #[cold]
    fn refuse(&mut self, segment: &Segment<'_>) {
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
        let peer = Endpoint { ip: segment.ips.0, port: segment.ports.0 };
        let mut emitter = self.emitter(None, segment.ports.1, peer);
        let mut packet = Packet::default();
        emitter.begin(&header, &mut packet);
        emitter.finish(&mut packet);
        self.resets.push_back(packet);
    }
}
