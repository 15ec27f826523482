//! `narrows._engine.Connection`: our TCP without input or output. Python drives it over a real
//! port, from a script or by a model. Times are picoseconds since an instant that the caller
//! chooses.

use core::str::FromStr;
use std::sync::Mutex;

use narrows_common::{Packet, Rng, Time};
use narrows_hosts::api::State;
use narrows_hosts::config::{FlowConfig, Settings};
use narrows_hosts::tcp::Connection;
use narrows_hosts::wire::segment::{self, Discard, Emitter};
use narrows_hosts::{Endpoint, Mac};
use narrows_traffic::Content;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// One end of one connection.
#[pyclass(name = "Connection", module = "narrows._engine")]
pub(super) struct PyConnection {
    /// Python requires the lock; every method has exclusive access.
    connection: Mutex<Connection>,
    us: Endpoint,
    peer: Endpoint,
}

impl PyConnection {
    fn tcp(&mut self) -> &mut Connection {
        self.connection.get_mut().expect("never locked, so never poisoned")
    }
}

fn wrong(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}

#[pymethods]
impl PyConnection {
    /// Opens one end of the flow that `flow` (a plan's JSON object) describes. With `is_active` it
    /// is the source, which connects; otherwise the destination, which listens. `macs` are this
    /// end's address and the peer's. Raises ValueError.
    #[new]
    fn new(
        flow: &Bound<'_, PyAny>,
        is_active: bool,
        macs: (String, String),
        seed: u64,
    ) -> PyResult<Self> {
        let flow: FlowConfig = pythonize::depythonize(flow).map_err(wrong)?;
        let settings = Settings::resolve(&flow).map_err(wrong)?;
        let settings = Settings { keeps_content: true, ..settings };
        let macs = (Mac::from_str(&macs.0).map_err(wrong)?, Mac::from_str(&macs.1).map_err(wrong)?);
        let (us, peer) = match is_active {
            true => (flow.source, flow.destination),
            false => (flow.destination, flow.source),
        };
        let emitter = Emitter::new(macs, (us.ip, peer.ip), (us.port, peer.port));
        let open = if is_active { Connection::connect } else { Connection::listen };
        Ok(PyConnection {
            connection: Mutex::new(open(settings, emitter, &mut Rng::from_seed(seed))),
            us,
            peer,
        })
    }

    /// Handles a frame that arrived. Returns why it was rejected, or None.
    fn handle_frame(&mut self, now_ps: u64, frame: &[u8]) -> Option<&'static str> {
        let packet = Packet::from_bytes(frame);
        let segment = match segment::parse(&packet) {
            Ok(segment) => segment,
            Err(reason) => return Some(reason.name()),
        };
        let ends = [(segment.ips.1, segment.ports.1), (segment.ips.0, segment.ports.0)];
        if ends != [(self.us.ip, self.us.port), (self.peer.ip, self.peer.port)] {
            return Some(Discard::NoConnection.name());
        }
        self.tcp().handle_segment(Time::from_ps(now_ps), &segment);
        None
    }

    /// Handles the timers that are due.
    fn handle_timeout(&mut self, now_ps: u64) {
        self.tcp().handle_timeout(Time::from_ps(now_ps));
    }

    /// The next frame to send, or None. Call it after every input until it returns None.
    fn poll_transmit<'py>(&mut self, py: Python<'py>, now_ps: u64) -> Option<Bound<'py, PyBytes>> {
        let mut packet = Packet::default();
        let has_one = self.tcp().poll_transmit(Time::from_ps(now_ps), &mut packet);
        has_one.then(|| PyBytes::new(py, &packet.to_bytes()))
    }

    /// When to call `handle_timeout`, or None.
    fn poll_timeout(&mut self) -> Option<u64> {
        self.tcp().poll_timeout().map(Time::as_ps)
    }

    /// The application writes.
    fn write(&mut self, data: Vec<u8>) {
        self.tcp().write(Content::Bytes(data.into()));
    }

    /// The application reads at most this many bytes.
    #[pyo3(signature = (limit_bytes=u64::MAX))]
    fn read<'py>(&mut self, py: Python<'py>, limit_bytes: u64) -> Bound<'py, PyBytes> {
        let mut out = Vec::new();
        self.tcp().read(limit_bytes, Some(&mut out));
        PyBytes::new(py, &out)
    }

    /// The application finishes writing.
    fn close(&mut self) {
        self.tcp().close();
    }

    /// Ends the connection immediately with a reset.
    fn abort(&mut self) {
        self.tcp().abort();
    }

    /// The state, as RFC 9293 names it.
    #[getter]
    fn state(&mut self) -> &'static str {
        match self.tcp().state() {
            State::Closed => "CLOSED",
            State::Listen => "LISTEN",
            State::SynSent => "SYN-SENT",
            State::SynReceived => "SYN-RECEIVED",
            State::Established => "ESTABLISHED",
            State::FinWait1 => "FIN-WAIT-1",
            State::FinWait2 => "FIN-WAIT-2",
            State::CloseWait => "CLOSE-WAIT",
            State::Closing => "CLOSING",
            State::LastAck => "LAST-ACK",
            State::TimeWait => "TIME-WAIT",
        }
    }

    /// True if a reset ended the connection.
    #[getter]
    fn was_reset(&mut self) -> bool {
        self.tcp().was_reset()
    }

    /// True if this end gave up waiting for the peer.
    #[getter]
    fn has_given_up(&mut self) -> bool {
        self.tcp().has_given_up()
    }

    /// True if the peer has closed and the application has read everything.
    #[getter]
    fn is_read_to_end(&mut self) -> bool {
        self.tcp().is_read_to_end()
    }

    /// Bytes written but not yet acknowledged.
    #[getter]
    fn unacked_bytes(&mut self) -> u64 {
        self.tcp().unacked_bytes()
    }

    /// Bytes ready to read.
    #[getter]
    fn readable_bytes(&mut self) -> u64 {
        self.tcp().readable_bytes()
    }

    /// The sender's state and counts: cwnd_bytes, ssthresh_bytes (None before the first loss),
    /// in_flight_bytes, srtt_ps, rto_ps, acked_bytes, retransmits, timeouts, fast_recoveries,
    /// probes. The receiver's counts: delivered_bytes, acks_sent, ce_marks.
    fn figures<'py>(&mut self, py: Python<'py>, now_ps: u64) -> PyResult<Bound<'py, PyDict>> {
        let record = self.tcp().record(Time::from_ps(now_ps));
        let (sent, received) = (self.tcp().sender_counters(), self.tcp().receiver_counters());
        let dict = PyDict::new(py);
        dict.set_item("cwnd_bytes", record.cwnd_bytes)?;
        let ssthresh_bytes = Some(record.ssthresh_bytes).filter(|&bytes| bytes != u64::MAX);
        dict.set_item("ssthresh_bytes", ssthresh_bytes)?;
        dict.set_item("in_flight_bytes", record.in_flight_bytes)?;
        dict.set_item("srtt_ps", record.srtt.as_ps())?;
        dict.set_item("rto_ps", record.rto.as_ps())?;
        dict.set_item("acked_bytes", record.acked_bytes)?;
        dict.set_item("retransmits", sent.retransmits)?;
        dict.set_item("timeouts", sent.timeouts)?;
        dict.set_item("fast_recoveries", sent.fast_recoveries)?;
        dict.set_item("probes", sent.probes)?;
        dict.set_item("delivered_bytes", received.delivered_bytes)?;
        dict.set_item("acks_sent", received.acks_sent)?;
        dict.set_item("ce_marks", received.ce_marks)?;
        Ok(dict)
    }
}
