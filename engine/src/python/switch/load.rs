//! A program for the switch.

use narrows_switch::{Engine, Switch};
use pyo3::prelude::*;

use super::object::PySwitch;
use crate::network::managed_switch::config::Config;
use crate::network::managed_switch::refusal::Refusal;

impl PySwitch {
    /// Loads a program, and logs a warning if the interpreter runs it.
    pub(super) fn load_program(&self, py: Python<'_>, program_json: &str) -> PyResult<()> {
        // Packets continue under the old program during the load.
        let configs = self.with_all(py, |pipelines| Ok(pipelines.configs()))?;
        let program = py.detach(|| Config::read(program_json))?;
        let build = |(config, seed): &(Config, u64)| config.build_of(&program, *seed);
        let mut switches: Vec<Switch> =
            py.detach(|| configs.iter().map(build).collect::<Result<_, Refusal>>())?;
        if self.handle.is_on_data_path() {
            py.detach(|| switches.iter_mut().for_each(Switch::compile));
        }
        if let (Engine::Native, Some(reason)) = (configs[0].0.switch.engine, program.not_native()) {
            let log = py.import("logging")?.call_method1("getLogger", ("narrows.switch",))?;
            log.call_method1("warning", ("the interpreter runs this program: %s", reason))?;
        }
        self.with_all(py, move |pipelines| pipelines.install(switches))
    }
}
