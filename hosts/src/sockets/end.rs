//! One end of a flow at a socket: its application, its transport, and its records.

use crate::api::State;
use crate::app::driver::{AppDriver, AppEnd};
use crate::app::stream::Stream;
use crate::config::{FlowConfig, FlowError};
use crate::report::FlowReport;
use crate::sockets::connection::SocketConnection;
use crate::sockets::info::TcpInfo;
use crate::sockets::probes::Probes;
use crate::udp::{self, Arrivals, Outbox, parse_message};
use crate::wire::ip::Payload;
use narrows_common::record::{FlowRecord, MessageRecord};
use narrows_common::{Duration, Time};

/// The transport of a flow's socket.
#[derive(Debug)]
enum Transport {
    /// Either end of a connection.
    Tcp(Box<SocketConnection>),
    /// Datagrams to send.
    UdpSender(Outbox),
    /// Received datagrams.
    UdpReceiver(Arrivals),
}

/// An end of a flow.
#[derive(Debug)]
pub struct SocketEnd {
    flow: u32,
    driver: AppDriver,
    transport: Transport,
    starts_at: Time,
    /// Bytes or datagrams on their way here.
    probes: Probes,
    opened_at: Option<Time>,
    completed_at: Option<Time>,
    last_arrival: Time,
    was_reset: bool,
    /// It has been counted as complete.
    is_counted: bool,
}

impl AppEnd for SocketEnd {
    fn parts(&mut self) -> Option<(&mut AppDriver, &mut dyn Stream)> {
        match &mut self.transport {
            Transport::Tcp(connection) => Some((&mut self.driver, &mut connection.stream)),
            Transport::UdpSender(outbox) => Some((&mut self.driver, outbox)),
            Transport::UdpReceiver(_) => None,
        }
    }
}

impl SocketEnd {
    pub(super) fn new(
        flow: &FlowConfig,
        is_sender: bool,
        traffic_seed: u64,
        least_delay: Duration,
    ) -> Result<Self, FlowError> {
        let transport = match udp::sender_by_name(&flow.variant) {
            None => Transport::Tcp(Box::new(SocketConnection::new(flow, is_sender))),
            Some(_) if is_sender => {
                Transport::UdpSender(Outbox::new(&udp::Settings::resolve_uncontrolled(flow)?))
            }
            Some(_) => Transport::UdpReceiver(Arrivals::new()),
        };
        Ok(SocketEnd {
            flow: flow.id,
            driver: AppDriver::new(flow, is_sender, traffic_seed),
            transport,
            starts_at: flow.start,
            probes: Probes::new(least_delay),
            opened_at: None,
            completed_at: None,
            last_arrival: Time::ZERO,
            was_reset: false,
            is_counted: !is_sender,
        })
    }

    /// The flow's number.
    pub fn flow(&self) -> u32 {
        self.flow
    }

    /// True if it has a socket that can be written to.
    fn is_open(&self) -> bool {
        self.opened_at.is_some() && !self.was_reset
    }

    /// True if the socket has data to send, or its sending direction must be shut down.
    pub(super) fn is_ready(&self) -> bool {
        let has_more = match &self.transport {
            Transport::Tcp(connection) => connection.stream.has_to_send(),
            Transport::UdpSender(outbox) => outbox.has_more(),
            Transport::UdpReceiver(_) => false,
        };
        self.is_open() && (has_more || self.must_shut_down())
    }

    /// The next bytes for the socket: at most `limit_bytes` of a stream, or a whole datagram.
    pub fn poll_send(&self, now: Time, limit_bytes: usize) -> Vec<u8> {
        match &self.transport {
            Transport::Tcp(connection) => connection.stream.poll_send(limit_bytes),
            Transport::UdpSender(outbox) => outbox.next(now).map_or_else(Vec::new, |header| {
                let mut datagram = header.emit().to_vec();
                datagram.resize(header.length_bytes as usize, 0);
                datagram
            }),
            Transport::UdpReceiver(_) => Vec::new(),
        }
    }

    /// The socket accepted the first `bytes` of them, or a whole datagram. Returns the total number
    /// of bytes, or datagrams, since it opened.
    pub fn handle_sent(&mut self, now: Time, bytes: u64) -> u64 {
        match &mut self.transport {
            Transport::Tcp(connection) => {
                connection.stream.handle_sent(bytes);
                connection.stream.sent_bytes()
            }
            Transport::UdpSender(outbox) => {
                outbox.handle_sent(now, bytes as u32);
                outbox.next_number()
            }
            Transport::UdpReceiver(_) => 0,
        }
    }

    /// True if the socket's sending direction must be shut down.
    pub fn must_shut_down(&self) -> bool {
        matches!(&self.transport, Transport::Tcp(connection) if connection.stream.must_shut_down())
    }

    /// The sending direction was shut down.
    pub fn handle_shut_down(&mut self) {
        if let Transport::Tcp(connection) = &mut self.transport {
            connection.stream.handle_shut_down();
        }
    }

    pub(super) fn handle_open(&mut self, now: Time) {
        self.opened_at.get_or_insert(now);
        if let Transport::Tcp(connection) = &mut self.transport {
            connection.stream.is_open = true;
        }
        self.handle_timeout(now);
    }

    pub(super) fn handle_arrived(
        &mut self,
        now: Time,
        bytes: &[u8],
        records: &mut Vec<MessageRecord>,
    ) {
        match &mut self.transport {
            Transport::Tcp(connection) => {
                let stream = &mut connection.stream;
                stream.handle_arrived(bytes);
                if !bytes.is_empty() {
                    self.last_arrival = now;
                }
                let delivered_bytes = stream.delivered_bytes;
                self.probes.handle_arrival(now, |byte| byte < delivered_bytes);
                self.driver.handle_readable(now, stream, records);
                if !self.driver.is_sender() && stream.is_read_to_end() {
                    self.completed_at.get_or_insert(self.last_arrival);
                }
            }
            Transport::UdpReceiver(arrivals) => {
                // Ignore datagrams that do not belong to the flow.
                let Some(header) = parse_message(&Payload { bytes, zeros: 0 }) else { return };
                if arrivals.handle(now, &header, header.written_at) {
                    self.probes.handle_arrival(now, |number| number == header.number);
                    self.driver.handle_message(now, &header, records);
                }
            }
            Transport::UdpSender(_) => {}
        }
    }

    pub(super) fn handle_reset(&mut self) {
        self.was_reset = true;
        if let Transport::Tcp(connection) = &mut self.transport {
            connection.stream.is_open = false;
        }
    }

    /// The caller will report when this byte or datagram leaves ([`SocketEnd::handle_departure`]),
    /// unless the kernel joined it with later data.
    pub fn watch(&mut self, number: u64) {
        self.probes.watch(number);
    }

    /// A watched byte or datagram left the sender's kernel for its interface. `key` is the lower
    /// half of its number.
    pub fn handle_departure(&mut self, at: Time, key: u32) {
        self.probes.handle_departure(at, key);
    }

    /// Handles a report of the kernel on the connection. Returns a row if one is due: at a change,
    /// or once per interval.
    pub(super) fn handle_info(&mut self, now: Time, info: &TcpInfo) -> Option<FlowRecord> {
        let Transport::Tcp(connection) = &mut self.transport else { return None };
        let record = connection.handle_info(now, info);
        if self.driver.is_sender() && connection.is_all_acked() {
            self.completed_at.get_or_insert(now);
        }
        record
    }

    pub(super) fn handle_timeout(&mut self, now: Time) {
        if !self.is_open() || !self.driver.is_sender() {
            return;
        }
        if let Some((driver, stream)) = self.parts() {
            driver.handle_timeout(now, stream);
        }
        if let Transport::UdpSender(outbox) = &mut self.transport {
            outbox.handle_timeout(now);
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Time> {
        let of_transport = match &self.transport {
            Transport::UdpSender(outbox) => outbox.poll_timeout(),
            Transport::Tcp(_) | Transport::UdpReceiver(_) => None,
        };
        let due = Time::earliest([self.driver.poll_timeout(), of_transport]);
        due.filter(|_| self.is_open())
    }

    /// When the flow starts.
    pub fn starts_at(&self) -> Time {
        self.starts_at
    }

    /// True once, when a sending flow has completed or was reset.
    pub(super) fn poll_completed(&mut self) -> bool {
        let has_completed = match &self.transport {
            Transport::UdpSender(outbox) => outbox.is_complete(),
            Transport::Tcp(_) | Transport::UdpReceiver(_) => self.completed_at.is_some(),
        };
        (has_completed || self.was_reset) && !core::mem::replace(&mut self.is_counted, true)
    }

    pub(super) fn report(&self) -> FlowReport {
        let report = FlowReport {
            flow: self.flow,
            was_reset: self.was_reset,
            completed_at: self.completed_at,
            messages: self.driver.messages(),
            skipped_messages: self.driver.skipped_messages(),
            one_way_delay: self.probes.one_way_delay(),
            impossible_delays: self.probes.impossible_delays(),
            ..FlowReport::default()
        };
        match &self.transport {
            Transport::Tcp(connection) => FlowReport {
                state: if self.is_open() { State::Established } else { State::Closed },
                established_at: self.opened_at,
                acked_bytes: connection.stream.acked_bytes,
                sent: connection.counters(),
                received: connection.received(),
                rtt: connection.rtt(),
                ..report
            },
            Transport::UdpSender(outbox) => FlowReport {
                completed_at: outbox.completed_at(),
                sent: outbox.counters(),
                ..report
            },
            Transport::UdpReceiver(arrivals) => FlowReport {
                received: arrivals.as_segments(),
                datagrams: Some(arrivals.counters()),
                ..report
            },
        }
    }
}
