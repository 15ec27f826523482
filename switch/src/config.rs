//! A switch's configuration, and the errors of one that does not fit.

use crate::ir::architecture::DROP_PORT;
use crate::ir::{Program, Slot};
use crate::v1model::TimestampUnit;
use narrows_queueing::{PortConfig, PortError};
use schemars::JsonSchema;
use serde::Deserialize;

/// The engine that runs the program; both give the same results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// Machine code; the interpreter for operations without machine code.
    #[default]
    Native,
    /// Only the interpreter.
    Interpreter,
}

/// The configuration of a switch, apart from its program.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwitchConfig {
    /// Its output ports.
    pub ports: Vec<PortConfig>,
    /// The unit of the program's timestamps.
    pub timestamp_unit: TimestampUnit,
    /// The metadata field that holds the packet's flow after ingress, such as `meta.flow_id`.
    #[serde(default)]
    pub flow_field: Option<String>,
    /// Whether to record queue events.
    #[serde(default)]
    pub record_queue: bool,
    /// The engine that runs the program.
    #[serde(default)]
    pub engine: Engine,
    /// The pipeline's number in a switch of several; 0 for a switch with one pipeline.
    #[serde(default)]
    pub pipeline: u16,
}

/// Why a configuration does not fit.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// A port's configuration is wrong.
    #[error(transparent)]
    Port(#[from] PortError),
    /// A port's number is the program's number for "drop".
    #[error("port {0}: expected a number below 511, which means \"drop\"")]
    PortReserved(u16),
    /// The name matches no metadata field, or several.
    #[error("flow_field '{name}': expected one metadata field, found {found}")]
    FlowField {
        /// The name given.
        name: String,
        /// The number of fields it matches.
        found: usize,
    },
}

impl SwitchConfig {
    /// Checks that no port has the program's number for "drop".
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        match self.ports.iter().find(|port| u64::from(port.port) == DROP_PORT) {
            Some(port) => Err(ConfigError::PortReserved(port.port)),
            None => Ok(()),
        }
    }

    /// The slot of the metadata field that names a packet's flow, if configured.
    pub(crate) fn flow_slot(&self, program: &Program) -> Result<Option<Slot>, ConfigError> {
        self.flow_field.as_ref().map(|name| metadata_slot(program, name)).transpose()
    }
}

/// The slot of a metadata field by the end of its name. p4c calls `meta.flow_id`
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
    // Try the whole name first: the JSON does not contain what the program calls `meta`.
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
