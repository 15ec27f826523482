//! A discipline's record: for help, documentation, checks, gNMI and tests.

use crate::outcomes::Reason;
use narrows_common::Duration;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// A discipline's record.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "DisciplineRecord")]
pub struct Record {
    /// The name in a scenario.
    pub name: &'static str,
    /// A one-line description.
    pub title: &'static str,
    /// The source.
    pub reference: &'static str,
    /// Its parameters, without the limit, which every queue has.
    pub parameters: &'static [Parameter],
    /// Its drop reasons besides a full queue.
    pub drops: &'static [Reason],
    /// Why it marks packets.
    pub marks: &'static [Reason],
    /// True if packets leave in arrival order.
    pub is_fifo: bool,
    /// The parts of the source that are not implemented.
    pub not_implemented: &'static [&'static str],
}

/// A parameter of a discipline.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "DisciplineParameter")]
pub struct Parameter {
    /// The name in a scenario, a plan and a gNMI path.
    pub name: &'static str,
    /// The kind of its values.
    pub unit: Unit,
    /// The value if the scenario gives none.
    pub default: f64,
    /// The smallest valid value.
    pub min: f64,
    /// The largest valid value.
    pub max: f64,
    /// Its effect, and the source of its default.
    pub origin: &'static str,
}

/// The kind of a parameter's values, with the names of an application's keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "DisciplineUnit")]
pub enum Unit {
    /// A time, in picoseconds.
    Duration,
    /// Bytes.
    Size,
    /// A whole number.
    Count,
    /// A number without a unit.
    Number,
    /// 1 for yes, 0 for no.
    Flag,
}

impl Unit {
    /// True if values must be whole numbers.
    fn is_whole(self) -> bool {
        self != Unit::Number
    }
}

/// Why a discipline's configuration is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DisciplineError {
    /// No discipline has this name.
    #[error("discipline '{name}' does not exist; expected one of {expected}")]
    Unknown {
        /// The name given.
        name: String,
        /// The names that exist.
        expected: String,
    },
    /// The discipline does not have this parameter.
    #[error("discipline '{discipline}' has no parameter '{parameter}'; expected {expected}")]
    Parameter {
        /// The discipline.
        discipline: &'static str,
        /// The name given.
        parameter: String,
        /// The names that exist.
        expected: String,
    },
    /// A parameter out of range, or a fraction where a whole number is required.
    #[error(
        "discipline '{discipline}': {parameter} is {value}; expected {kind} from {min} to {max}"
    )]
    Value {
        /// The discipline.
        discipline: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// The value given, in base units.
        value: f64,
        /// The kind of value expected.
        kind: &'static str,
        /// The smallest valid value.
        min: f64,
        /// The largest valid value.
        max: f64,
    },
}

/// The values of a discipline's parameters in base units.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters(Vec<(&'static str, f64)>);

impl Parameters {
    /// The defaults, overridden by the given values.
    ///
    /// # Errors
    /// A name that the discipline does not have, or a value out of range.
    pub fn resolve(
        record: &Record,
        set: &BTreeMap<String, f64>,
    ) -> Result<Parameters, DisciplineError> {
        let is_known = |name: &str| record.parameters.iter().any(|known| known.name == name);
        if let Some(unknown) = set.keys().find(|name| !is_known(name)) {
            let names: Vec<_> = record.parameters.iter().map(|known| known.name).collect();
            return Err(DisciplineError::Parameter {
                discipline: record.name,
                parameter: unknown.clone(),
                expected: if names.is_empty() { "none".to_owned() } else { names.join(", ") },
            });
        }
        let value = |known: &Parameter| {
            let value = set.get(known.name).copied().unwrap_or(known.default);
            let is_whole = !known.unit.is_whole() || value.fract() == 0.0;
            if is_whole && (known.min..=known.max).contains(&value) {
                return Ok((known.name, value));
            }
            Err(DisciplineError::Value {
                discipline: record.name,
                parameter: known.name,
                value,
                kind: if known.unit.is_whole() { "a whole number" } else { "a number" },
                min: known.min,
                max: known.max,
            })
        };
        record.parameters.iter().map(value).collect::<Result<_, _>>().map(Parameters)
    }

    /// Names and values, in the record's order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, f64)> {
        self.0.iter().copied()
    }

    /// The value of a parameter.
    ///
    /// # Panics
    /// If the discipline's record does not list it.
    pub fn get(&self, name: &str) -> f64 {
        let found = self.0.iter().find(|(known, _)| *known == name);
        found.unwrap_or_else(|| panic!("no parameter {name} in the discipline's record")).1
    }

    /// The value of a parameter with [`Unit::Duration`].
    ///
    /// # Panics
    /// Those of [`Parameters::get`].
    pub fn duration(&self, name: &str) -> Duration {
        Duration::from_ps(self.get(name) as u64)
    }
}
