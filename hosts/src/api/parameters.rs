//! The parameters of a variant: those in its record, and the values of a flow.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// A parameter of a variant.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Parameter {
    /// The name in a scenario's `params`.
    pub name: &'static str,
    /// Its unit: `segments`, `ms`, `Mb/s`, `segments/s^3`; `ratio`; `flag` (0 or 1); `choice`,
    /// whose values are in `meaning`.
    pub unit: &'static str,
    /// The value if the scenario gives none.
    pub default: f64,
    /// The smallest valid value.
    pub min: f64,
    /// The largest valid value.
    pub max: f64,
    /// Its effect.
    pub meaning: &'static str,
    /// The source of its default, and values in other sources.
    pub origin: &'static str,
}

/// An invalid parameter.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ParameterError {
    /// The variant does not have the parameter.
    #[error("variant {variant}: no parameter \"{parameter}\"; expected one of {expected}")]
    Unknown {
        /// The variant.
        variant: &'static str,
        /// The name given.
        parameter: String,
        /// The names that exist.
        expected: String,
    },
    /// The value is out of range.
    #[error("variant {variant}: {parameter} = {value} is out of range; expected {min} to {max}")]
    OutOfRange {
        /// The variant.
        variant: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// The value given.
        value: f64,
        /// The smallest valid value.
        min: f64,
        /// The largest valid value.
        max: f64,
    },
}

/// The values of a variant's parameters.
#[derive(Clone, Debug, Default)]
pub struct Parameters(Vec<(&'static str, f64)>);

impl Parameters {
    /// The defaults, overridden by the scenario's values.
    ///
    /// # Errors
    /// A name that the variant does not have, or a value out of range.
    pub fn resolve(
        variant: &'static str,
        parameters: &'static [Parameter],
        set: &BTreeMap<String, f64>,
    ) -> Result<Parameters, ParameterError> {
        let known = || parameters.iter().map(|p| p.name).collect::<Vec<_>>().join(", ");
        if let Some(name) = set.keys().find(|name| parameters.iter().all(|p| p.name != **name)) {
            let expected = if parameters.is_empty() { "none".to_owned() } else { known() };
            return Err(ParameterError::Unknown { variant, parameter: name.clone(), expected });
        }
        let value = |p: &Parameter| match set.get(p.name) {
            Some(&value) if !(p.min..=p.max).contains(&value) => Err(ParameterError::OutOfRange {
                variant,
                parameter: p.name,
                value,
                min: p.min,
                max: p.max,
            }),
            set => Ok((p.name, set.copied().unwrap_or(p.default))),
        };
        parameters.iter().map(value).collect::<Result<_, _>>().map(Parameters)
    }

    /// The value of a parameter.
    ///
    /// # Panics
    /// If the variant's record does not list it.
    pub fn get(&self, name: &str) -> f64 {
        let found = self.0.iter().find(|(known, _)| *known == name);
        found.unwrap_or_else(|| panic!("no parameter {name} in the variant's record")).1
    }
}
