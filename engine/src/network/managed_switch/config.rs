//! What a managed switch is built from.

use std::sync::Arc;

use narrows_common::Rng;
use narrows_switch::{Program, Switch, SwitchConfig};
use schemars::JsonSchema;
use serde::Deserialize;

use super::packet_ins::CpuLimit;
use super::refusal::Refusal;

/// What a switch is made of besides its program.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ManagedSwitchConfig")]
pub struct Config {
    /// Its ports, with the rates and limits that are in force, and how it is run.
    pub switch: SwitchConfig,
    /// The port whose packets are the controllers'.
    #[serde(default)]
    pub cpu_port: Option<u16>,
    /// What that port passes on at most.
    #[serde(default)]
    pub cpu_limit: CpuLimit,
    /// What its random numbers are drawn for, with the seed.
    #[serde(default = "switch_name")]
    pub name: String,
}

impl Config {
    /// A switch that runs this program.
    ///
    /// # Errors
    /// If it is no program, or does not fit the configuration.
    pub fn build(&self, program_json: &str, seed: u64) -> Result<Switch, Refusal> {
        self.build_of(&Config::read(program_json)?, seed)
    }

    /// The pipeline that has a port's queues; the first one where the port does not exist.
    pub fn pipeline_of(&self, port: u16) -> u16 {
        self.switch.ports.iter().find(|known| known.port == port).map_or(0, |found| found.pipeline)
    }

    /// A program as p4c made it.
    ///
    /// # Errors
    /// If it is none.
    pub fn read(program_json: &str) -> Result<Arc<Program>, Refusal> {
        Ok(Arc::new(Program::from_json(program_json)?))
    }

    /// The same for a program that has been read.
    ///
    /// # Errors
    /// If it does not fit the configuration.
    pub fn build_of(&self, program: &Arc<Program>, seed: u64) -> Result<Switch, Refusal> {
        let rng = match self.switch.pipeline {
            0 => Rng::for_component(seed, &self.name),
            pipeline => Rng::for_component(seed, &format!("{}, pipe {pipeline}", self.name)),
        };
        Ok(Switch::new(program.clone(), self.switch.clone(), rng)?)
    }
}

fn switch_name() -> String {
    "switch".to_owned()
}
