//! One end of a flow at its host: its transport, its application, and its records.

use crate::api::State;
use crate::app::driver::{AppDriver, AppEnd};
use crate::app::stream::Stream;
use crate::config::{FlowConfig, Recording};
use crate::report::{FlowReport, SenderCounters};
use crate::tcp::connection::Connection;
use crate::udp;
use crate::wire::datagram::Datagram;
use crate::wire::discard::Discard;
use crate::wire::segment::Segment;
use narrows_common::record::{FlowRecord, MessageRecord};
use narrows_common::{Duration, Packet, Time};

/// The transport that carries a flow's bytes.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly all flows are TCP's")]
pub(crate) enum Transport {
    /// Either end of a connection.
    Tcp(Connection),
    /// The sending end of datagrams.
    UdpSender(Box<udp::Sender>),
    /// The receiving end of datagrams.
    UdpReceiver(Box<udp::Receiver>),
}

/// One end of a flow. The fields that every packet touches come first: one cache line, plus the
/// lines of the connection from its second line on.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct FlowEnd {
    pub(crate) id: u32,
    has_started: bool,
    /// It may have a packet to send.
    pub(crate) is_ready: bool,
    /// It has been counted as complete.
    pub(crate) is_counted: bool,
    recording: Recording,
    driver: AppDriver,
    transport: Transport,
    /// The next flow in its host's list of ready flows, if any.
    pub(crate) next_ready: usize,
    next_record_at: Time,
    starts_at: Time,
}

impl AppEnd for FlowEnd {
    fn parts(&mut self) -> Option<(&mut AppDriver, &mut dyn Stream)> {
        match &mut self.transport {
            Transport::Tcp(connection) => Some((&mut self.driver, connection)),
            Transport::UdpSender(sender) => Some((&mut self.driver, sender.stream())),
            Transport::UdpReceiver(_) => None,
        }
    }
}

impl FlowEnd {
    /// The end before its start. The caller has checked the flow's values.
    pub(crate) fn new(
        flow: &FlowConfig,
        transport: Transport,
        is_sender: bool,
        traffic_seed: u64,
    ) -> Self {
        FlowEnd {
            id: flow.id,
            transport,
            driver: AppDriver::new(flow, is_sender, traffic_seed),
            starts_at: flow.start,
            has_started: !is_sender,
            recording: if is_sender { flow.record } else { Recording::Off },
            next_record_at: Time::ZERO,
            is_ready: false,
            is_counted: !is_sender,
            next_ready: 0,
        }
    }

    /// Its connection, if it has one.
    pub(crate) fn connection(&self) -> Option<&Connection> {
        match &self.transport {
            Transport::Tcp(connection) => Some(connection),
            _ => None,
        }
    }

    /// True if it has a connection that accepts segments.
    pub(crate) fn takes_segments(&self) -> bool {
        let Transport::Tcp(connection) = &self.transport else { return false };
        self.has_started && connection.state() != State::Closed
    }

    /// A segment of its connection arrived; appends a row if one is due.
    #[inline(always)]
    pub(crate) fn handle_segment(
        &mut self,
        now: Time,
        segment: &Segment<'_>,
        rows: &mut Vec<FlowRecord>,
        messages: &mut Vec<MessageRecord>,
    ) {
        let is_due = self.is_record_due(now);
        let Transport::Tcp(connection) = &mut self.transport else { return };
        connection.handle_segment(now, segment);
        self.driver.handle_readable(now, connection, messages);
        if is_due {
            rows.push(connection.record(now));
        }
    }

    /// A datagram arrived; appends a row if one is due.
    ///
    /// # Errors
    /// If the flow has no such datagrams.
    pub(crate) fn handle_datagram(
        &mut self,
        now: Time,
        datagram: &Datagram<'_>,
        rows: &mut Vec<FlowRecord>,
        messages: &mut Vec<MessageRecord>,
    ) -> Result<(), Discard> {
        match &mut self.transport {
            Transport::UdpReceiver(receiver) => {
                if let Some(message) = receiver.handle_datagram(now, datagram)? {
                    self.driver.handle_message(now, &message, messages);
                }
                return Ok(());
            }
            Transport::UdpSender(sender) => sender.handle_datagram(now, datagram)?,
            Transport::Tcp(_) => return Err(Discard::NoConnection),
        }
        let is_due = self.is_record_due(now);
        if let (Transport::UdpSender(sender), true) = (&self.transport, is_due) {
            rows.extend(sender.record(now));
        }
        Ok(())
    }

    /// Writes its next packet into an empty packet; false if there is none.
    pub(crate) fn poll_transmit(&mut self, now: Time, packet: &mut Packet) -> bool {
        match &mut self.transport {
            Transport::Tcp(connection) => connection.poll_transmit(now, packet),
            Transport::UdpSender(sender) => sender.poll_transmit(now, packet),
            Transport::UdpReceiver(receiver) => receiver.poll_transmit(now, packet),
        }
    }

    /// False if [`FlowEnd::poll_transmit`] would do nothing, which need not be called then.
    #[inline(always)]
    pub(crate) fn may_transmit(&mut self) -> bool {
        match &mut self.transport {
            Transport::Tcp(connection) => connection.may_transmit(),
            Transport::UdpSender(_) | Transport::UdpReceiver(_) => true,
        }
    }

    /// When to call [`FlowEnd::handle_timeout`].
    pub(crate) fn next_deadline(&self) -> Option<Time> {
        if !self.has_started {
            return Some(self.starts_at);
        }
        let of_transport = match &self.transport {
            Transport::Tcp(connection) => connection.poll_timeout(),
            Transport::UdpSender(sender) => sender.poll_timeout(),
            Transport::UdpReceiver(receiver) => receiver.poll_timeout(),
        };
        Time::earliest([of_transport, self.driver.poll_timeout()])
    }

    /// Handles everything due at `now`.
    pub(crate) fn handle_timeout(&mut self, now: Time) {
        self.has_started = true;
        match &mut self.transport {
            Transport::Tcp(connection) => connection.handle_timeout(now),
            Transport::UdpSender(sender) => sender.handle_timeout(now),
            Transport::UdpReceiver(receiver) => receiver.handle_timeout(now),
        }
        if let Some((driver, stream)) = self.parts() {
            driver.handle_timeout(now, stream);
        }
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
        match &self.transport {
            Transport::Tcp(connection) if self.driver.is_sender() => connection.all_acked_at(),
            Transport::Tcp(connection) if connection.is_read_to_end() => {
                connection.last_delivered_at()
            }
            Transport::UdpSender(sender) => sender.completed_at(),
            Transport::Tcp(_) | Transport::UdpReceiver(_) => None,
        }
    }

    /// True if it has finished, or was reset. A receiver of datagrams always counts as finished.
    pub(crate) fn is_complete(&self) -> bool {
        match &self.transport {
            Transport::Tcp(connection) => self.completed_at().is_some() || connection.was_reset(),
            Transport::UdpSender(sender) => sender.is_complete(),
            Transport::UdpReceiver(_) => true,
        }
    }

    /// The counts of its sending end.
    pub(crate) fn sender_counters(&self) -> SenderCounters {
        match &self.transport {
            Transport::Tcp(connection) => connection.sender_counters(),
            Transport::UdpSender(sender) => sender.counters(),
            Transport::UdpReceiver(_) => SenderCounters::default(),
        }
    }

    /// Its figures.
    pub(crate) fn report(&self) -> FlowReport {
        let report = FlowReport {
            flow: self.id,
            completed_at: self.completed_at(),
            sent: self.sender_counters(),
            messages: self.driver.messages(),
            skipped_messages: self.driver.skipped_messages(),
            ..FlowReport::default()
        };
        match &self.transport {
            Transport::Tcp(connection) => FlowReport {
                state: connection.state(),
                was_reset: connection.was_reset(),
                established_at: connection.established_at(),
                acked_bytes: connection.acked_bytes(),
                received: connection.receiver_counters(),
                rtt: connection.rtt_summary(),
                one_way_delay: connection.one_way_delay_summary(),
                ..report
            },
            Transport::UdpSender(sender) => FlowReport {
                acked_bytes: sender.acked_bytes(),
                rtt: sender.rtt_summary(),
                ..report
            },
            Transport::UdpReceiver(receiver) => FlowReport {
                received: receiver.counters(),
                one_way_delay: receiver.one_way_delay(),
                datagrams: Some(receiver.datagrams()),
                ..report
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_begins_with_a_line_of_memory() {
        assert_eq!(
            (core::mem::offset_of!(FlowEnd, transport) % 64, align_of::<FlowEnd>()),
            (0, 64)
        );
    }
}
