//! What a switch is made of, and why it can't be made so.

use crate::ir::architecture::DROP_PORT;
use crate::ir::{Program, Slot};
use crate::v1model::TimestampUnit;
use narrows_queueing::{PortConfig, PortError};
use schemars::JsonSchema;
use serde::Deserialize;

/// What runs the program; the results are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// Machine code, and the interpreter for what there is none for.
    #[default]
    Native,
    /// The interpreter alone.
    Interpreter,
}

/// What a switch is made of besides its program.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwitchConfig {
    /// Its output ports.
    pub ports: Vec<PortConfig>,
    /// The unit of the program's timestamps.
    pub timestamp_unit: TimestampUnit,
    /// A metadata field that names the packet's flow after ingress, such as `meta.flow_id`.
    #[serde(default)]
    pub flow_field: Option<String>,
    /// Whether queue events are recorded.
    #[serde(default)]
    pub record_queue: bool,
    /// What runs the program.
    #[serde(default)]
    pub engine: Engine,
    /// Which pipeline of a switch of several this is; a switch that is whole is its pipeline 0.
    #[serde(default)]
    pub pipeline: u16,
}

/// Why a switch can't have this configuration.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// A port.
    #[error(transparent)]
    Port(#[from] PortError),
    /// The program's number for "drop".
    #[error("port {0}: expected a number below 511, which means \"drop\"")]
    PortReserved(u16),
    /// No field, or several, of that name.
    #[error("flow_field '{name}': expected one metadata field, found {found}")]
    FlowField {
        /// What was given.
        name: String,
        /// How many there are.
        found: usize,
    },
}

impl SwitchConfig {
    /// Checks that the program can tell its ports from "drop".
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        match self.ports.iter().find(|port| u64::from(port.port) == DROP_PORT) {
            Some(port) => Err(ConfigError::PortReserved(port.port)),
            None => Ok(()),
        }
    }

    /// The slot of the metadata field that names a packet's flow, if there is to be one.
    pub(crate) fn flow_slot(&self, program: &Program) -> Result<Option<Slot>, ConfigError> {
        self.flow_field.as_ref().map(|name| metadata_slot(program, name)).transpose()
    }
}

/// The slot of a metadata field by the end of its name: p4c calls `meta.flow_id`
/// `scalars.userMetadata.flow_id` or `scalars.metadata_t.flow_id`.
fn metadata_slot(program: &Program, name: &str) -> Result<Slot, ConfigError> {
    let is_metadata =
        |header: &str| program.headers.iter().any(|known| known.metadata && known.name == header);
    let ends = |full: &str, tail: &str| {
        full.strip_suffix(tail).is_some_and(|front| front.is_empty() || front.ends_with('.'))
    };
    let last = name.rsplit('.').next().unwrap_or(name);
    let find = |tail: &str| -> Vec<Slot> {
        let fields = program.fields.iter().filter(|((header, field), (_, width))| {
            *width <= 64 && is_metadata(header) && ends(&format!("{header}.{field}"), tail)
        });
        fields.map(|(_, (slot, _))| *slot).collect()
    };
    // The whole name first; what the program calls `meta` is not in the JSON.
    for tail in [name, last] {
        match find(tail).as_slice() {
            [] => {}
            [slot] => return Ok(*slot),
            several => {
                let found = several.len();
                return Err(ConfigError::FlowField { name: name.to_owned(), found });
            }
        }
    }
    Err(ConfigError::FlowField { name: name.to_owned(), found: 0 })
}
