//! The object behind `narrows._engine.Switch`, and how its methods reach the switch.

use narrows_common::Packet;
use narrows_switch::{ControlError, Switch};
use pyo3::prelude::*;

use crate::network::managed_switch::ManagedSwitch;
use crate::network::managed_switch::handle::SwitchHandle;
use crate::network::managed_switch::operation::Operation;
use crate::network::managed_switch::pipelines::Pipelines;
use crate::network::managed_switch::refusal::Refusal;

/// A switch with ports, without a program until `load`.
#[pyclass(name = "Switch", frozen)]
pub(crate) struct PySwitch {
    pub(super) handle: SwitchHandle,
}

impl PySwitch {
    /// Runs `operation` on the switch's pipelines, without Python's lock.
    pub(super) fn with_all<T: Send + 'static>(
        &self,
        py: Python<'_>,
        operation: impl FnOnce(&mut Pipelines<'_>) -> Result<T, Refusal> + Send + 'static,
    ) -> PyResult<T> {
        Ok(py.detach(|| self.handle.with(operation))?)
    }

    /// Runs `operation` on one pipeline, to read state that is the same in all.
    pub(super) fn with<T: Send + 'static>(
        &self,
        py: Python<'_>,
        operation: impl FnOnce(&mut ManagedSwitch) -> Result<T, Refusal> + Send + 'static,
    ) -> PyResult<T> {
        self.with_all(py, |pipelines| operation(pipelines.first()))
    }

    /// Runs `operation` in every pipeline, to write. Returns the first pipeline's answer.
    pub(super) fn with_each<T: Send + 'static>(
        &self,
        py: Python<'_>,
        operation: impl FnMut(&mut ManagedSwitch) -> Result<T, Refusal> + Send + 'static,
    ) -> PyResult<T> {
        self.with_all(py, |pipelines| pipelines.each(operation))
    }

    /// Executes a controller's operation in every pipeline.
    pub(super) fn execute(&self, py: Python<'_>, operation: Operation) -> PyResult<()> {
        self.with_each(py, move |pipeline| pipeline.execute(&operation))
    }

    /// Writes to the switch in every pipeline.
    pub(super) fn write<T: Send + 'static>(
        &self,
        py: Python<'_>,
        mut write: impl FnMut(&mut Switch) -> Result<T, ControlError> + Send + 'static,
    ) -> PyResult<T> {
        self.with_each(py, move |pipeline| Ok(write(pipeline.switch()?)?))
    }

    /// A packet of a controller comes in by the CPU port.
    pub(super) fn inject(&self, py: Python<'_>, packet: &[u8]) -> PyResult<()> {
        py.detach(|| {
            let packet = Box::new(Packet::from_bytes(packet));
            self.handle.with_unpaused(move |pipelines| {
                let none = "the switch has no CPU port (--cpu-port)";
                let port = pipelines.first().config.cpu_port;
                let port = port.ok_or_else(|| Refusal::new("failed-precondition", none))?;
                pipelines.packet_out(port, packet);
                Ok(())
            })
        })?;
        Ok(())
    }

    /// The switch, wherever it is.
    pub(crate) fn handle(&self) -> &SwitchHandle {
        &self.handle
    }
}
