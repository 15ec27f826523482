//! `narrows._engine.Sockets`: the applications of a plan's hosts, which Python connects to real
//! sockets. Times are picoseconds since the run began.

use std::collections::BTreeMap;
use std::sync::MutexGuard;

use narrows_common::Time;
use narrows_hosts::SocketHost;
use narrows_hosts::sockets::TcpInfo;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::errors::PlanError;
use crate::network::build::read_plan;
use crate::network::socket_hosts::SocketHosts;

/// The hosts of a plan that use the kernel's connections.
#[pyclass(name = "Sockets", module = "narrows._engine", frozen)]
pub(crate) struct PySockets(pub(crate) SocketHosts);

impl PySockets {
    fn host(&self, name: &str) -> PyResult<MutexGuard<'_, SocketHost>> {
        self.0.host(name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))
    }
}

#[pymethods]
impl PySockets {
    /// `devices` maps host names of the plan (JSON text) to the device strings of their ports.
    /// Raises PlanError.
    #[new]
    fn new(plan_json: &str, devices: BTreeMap<String, String>) -> PyResult<Self> {
        let made = read_plan(plan_json).and_then(|plan| SocketHosts::new(&plan, devices));
        made.map(PySockets).map_err(|error| PlanError::new_err(error.to_string()))
    }

    /// When the run began, in nanoseconds of CLOCK_MONOTONIC_RAW, or None.
    #[getter]
    fn began_ns(&self) -> Option<u64> {
        self.0.began_ns()
    }

    /// A flow's connection is established at a host, or its datagrams may start.
    fn handle_open(&self, now_ps: u64, host: &str, flow: u32) -> PyResult<()> {
        self.host(host)?.handle_open(Time::from_ps(now_ps), flow);
        Ok(())
    }

    /// A host's socket delivered these bytes or this datagram. Empty bytes mean that the peer has
    /// finished writing.
    fn handle_arrived(&self, now_ps: u64, host: &str, flow: u32, bytes: &[u8]) -> PyResult<()> {
        self.host(host)?.handle_arrived(Time::from_ps(now_ps), flow, bytes);
        Ok(())
    }

    /// The connection of a flow ended with an error.
    fn handle_reset(&self, host: &str, flow: u32) -> PyResult<()> {
        self.host(host)?.handle_reset(flow);
        Ok(())
    }

    /// The result of getsockopt(TCP_INFO).
    fn handle_info(&self, now_ps: u64, host: &str, flow: u32, info: &[u8]) -> PyResult<()> {
        self.host(host)?.handle_info(Time::from_ps(now_ps), flow, &TcpInfo::parse(info));
        Ok(())
    }

    /// A host's applications handle what is due.
    fn handle_timeout(&self, now_ps: u64, host: &str) -> PyResult<()> {
        self.host(host)?.handle_timeout(Time::from_ps(now_ps));
        Ok(())
    }

    /// When to call `handle_timeout` for a host, or None.
    fn poll_timeout(&self, host: &str) -> PyResult<Option<u64>> {
        Ok(self.host(host)?.poll_timeout().map(Time::as_ps))
    }

    /// The flows of a host that have data for their sockets, or must be shut down.
    fn poll_ready(&self, host: &str) -> PyResult<Vec<u32>> {
        Ok(self.host(host)?.poll_ready())
    }

    /// The next bytes for a flow's socket: at most `limit_bytes` of a stream, or one datagram.
    fn poll_send<'py>(
        &self,
        py: Python<'py>,
        now_ps: u64,
        host: &str,
        flow: u32,
        limit_bytes: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let mut host = self.host(host)?;
        let bytes = host.end(flow).poll_send(Time::from_ps(now_ps), limit_bytes);
        Ok(PyBytes::new(py, &bytes))
    }

    /// The socket accepted this many bytes. Returns the total number of bytes, or datagrams, since
    /// it opened.
    fn handle_sent(&self, now_ps: u64, host: &str, flow: u32, bytes: u64) -> PyResult<u64> {
        Ok(self.host(host)?.end(flow).handle_sent(Time::from_ps(now_ps), bytes))
    }

    /// True if a socket's sending direction must be shut down.
    fn must_shut_down(&self, host: &str, flow: u32) -> PyResult<bool> {
        Ok(self.host(host)?.end(flow).must_shut_down())
    }

    /// The sending direction was shut down.
    fn handle_shut_down(&self, host: &str, flow: u32) -> PyResult<()> {
        self.host(host)?.end(flow).handle_shut_down();
        Ok(())
    }

    /// Asks for a report when this byte, or datagram, of a flow leaves its sender.
    fn watch(&self, host: &str, flow: u32, number: u64) -> PyResult<()> {
        self.host(host)?.end(flow).watch(number);
        Ok(())
    }

    /// A watched byte or datagram left its sender's kernel. `key` is the lower half of its number.
    fn handle_departure(&self, at_ps: u64, host: &str, flow: u32, key: u32) -> PyResult<()> {
        self.host(host)?.end(flow).handle_departure(Time::from_ps(at_ps), key);
        Ok(())
    }
}
