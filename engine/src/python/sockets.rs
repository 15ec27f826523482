//! `narrows._engine.Sockets`: the applications of a plan's hosts, for Python to drive real sockets
//! by. Times are picoseconds since the run began.

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

/// The hosts of a plan whose connections are the kernel's.
#[pyclass(name = "Sockets", module = "narrows._engine", frozen)]
pub(crate) struct PySockets(pub(crate) SocketHosts);

impl PySockets {
    fn host(&self, name: &str) -> PyResult<MutexGuard<'_, SocketHost>> {
        self.0.host(name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))
    }
}

#[pymethods]
impl PySockets {
    /// The hosts of a plan (JSON text) by the device strings of their ports. Raises PlanError.
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

    /// The connection of a flow is established at a host, or its datagrams may come and go.
    fn handle_open(&self, now_ps: u64, host: &str, flow: u32) -> PyResult<()> {
        self.host(host)?.handle_open(Time::from_ps(now_ps), flow);
        Ok(())
    }

    /// A host's socket gave these bytes, none: the peer writes no more; or this datagram.
    fn handle_arrived(&self, now_ps: u64, host: &str, flow: u32, bytes: &[u8]) -> PyResult<()> {
        self.host(host)?.handle_arrived(Time::from_ps(now_ps), flow, bytes);
        Ok(())
    }

    /// The connection of a flow ended with an error.
    fn handle_reset(&self, host: &str, flow: u32) -> PyResult<()> {
        self.host(host)?.handle_reset(flow);
        Ok(())
    }

    /// What getsockopt(TCP_INFO) gave.
    fn handle_info(&self, now_ps: u64, host: &str, flow: u32, info: &[u8]) -> PyResult<()> {
        self.host(host)?.handle_info(Time::from_ps(now_ps), flow, &TcpInfo::parse(info));
        Ok(())
    }

    /// A host's applications do what is due.
    fn handle_timeout(&self, now_ps: u64, host: &str) -> PyResult<()> {
        self.host(host)?.handle_timeout(Time::from_ps(now_ps));
        Ok(())
    }

    /// When `handle_timeout` is to be called for a host, or None.
    fn poll_timeout(&self, host: &str) -> PyResult<Option<u64>> {
        Ok(self.host(host)?.poll_timeout().map(Time::as_ps))
    }

    /// The flows of a host that have something for their sockets, or are to be shut down.
    fn poll_ready(&self, host: &str) -> PyResult<Vec<u32>> {
        Ok(self.host(host)?.poll_ready())
    }

    /// The next bytes for a flow's socket: of a stream `limit_bytes` at most, else a datagram.
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

    /// The socket took so many of them. Returns how many bytes, or datagrams, it has taken since it
    /// was opened.
    fn handle_sent(&self, now_ps: u64, host: &str, flow: u32, bytes: u64) -> PyResult<u64> {
        Ok(self.host(host)?.end(flow).handle_sent(Time::from_ps(now_ps), bytes))
    }

    /// True when a socket's sending direction is to be shut down.
    fn must_shut_down(&self, host: &str, flow: u32) -> PyResult<bool> {
        Ok(self.host(host)?.end(flow).must_shut_down())
    }

    /// It was.
    fn handle_shut_down(&self, host: &str, flow: u32) -> PyResult<()> {
        self.host(host)?.end(flow).handle_shut_down();
        Ok(())
    }

    /// A host that receives will be told when this byte, or datagram, of a flow leaves its sender.
    fn watch(&self, host: &str, flow: u32, number: u64) -> PyResult<()> {
        self.host(host)?.end(flow).watch(number);
        Ok(())
    }

    /// A monitored one, the lower half of whose number is `key`, left its sender's kernel.
    fn handle_departure(&self, at_ps: u64, host: &str, flow: u32, key: u32) -> PyResult<()> {
        self.host(host)?.end(flow).handle_departure(Time::from_ps(at_ps), key);
        Ok(())
    }
}
