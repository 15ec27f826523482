//! What a managed switch is built from.

use std::sync::Arc;

use narrows_common::Rng;
use narrows_switch::{Program, Switch, SwitchConfig};
use schemars::JsonSchema;
use serde::Deserialize;

use super::packet_ins::CpuLimit;
use super::refusal::Refusal;
use crate::network::programs;

/// The configuration of a switch, apart from its program.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ManagedSwitchConfig")]
pub struct Config {
    /// Its ports with their current rates and limits, and the engine that runs its program.
    pub switch: SwitchConfig,
    /// The port that carries packets to and from controllers.
    #[serde(default)]
    pub cpu_port: Option<u16>,
    /// What that port passes on at most.
    #[serde(default)]
    pub cpu_limit: CpuLimit,
    /// Together with the seed, this name determines the random numbers.
    #[serde(default = "switch_name")]
    pub name: String,
}

impl Config {
    /// Builds a switch that runs this program.
    ///
    /// # Errors
    /// If the text is not a program, or the program does not fit the configuration.
    pub fn build(&self, program_json: &str, seed: u64) -> Result<Switch, Refusal> {
        self.build_of(&Config::read(program_json)?, seed)
    }

    /// The pipeline that has a port's queues; the first one if the port does not exist.
    pub fn pipeline_of(&self, port: u16) -> u16 {
        self.switch.ports.iter().find(|known| known.port == port).map_or(0, |found| found.pipeline)
    }

    /// Loads a program in p4c's JSON.
    ///
    /// # Errors
    /// If the text is not a program.
    pub fn read(program_json: &str) -> Result<Arc<Program>, Refusal> {
        Ok(programs::load(program_json)?)
    }

    /// Builds a switch from a loaded program.
    ///
    /// # Errors
    /// If the program does not fit the configuration.
    pub fn build_of(&self, program: &Arc<Program>, seed: u64) -> Result<Switch, Refusal> {
        let rng = match self.switch.pipeline {
            0 => Rng::for_component(seed, &self.name),
            // "pipe" seeds it: another word would change the results.
            pipeline => Rng::for_component(seed, &format!("{}, pipe {pipeline}", self.name)),
        };
        Ok(Switch::new(program.clone(), self.switch.clone(), rng)?)
    }
}

fn switch_name() -> String {
    "switch".to_owned()
}
