//! An application in a plan: a kind from the list, and its values.

use crate::workload::{Workload, WorkloadRecord};
use crate::workloads::WORKLOADS;
use core::ops::Deref;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::sync::Arc;

/// An application in a plan: `{"kind": "bulk", "bytes": 20000000}`. Clones share the values.
#[derive(Clone, Debug)]
pub struct AppConfig(Arc<dyn Workload>);

impl AppConfig {
    /// True if it writes messages, so the stream contains their headers.
    pub fn has_messages(&self) -> bool {
        self.record().has_messages
    }
}

impl Deref for AppConfig {
    type Target = dyn Workload;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl<W: Workload + 'static> From<W> for AppConfig {
    fn from(workload: W) -> Self {
        AppConfig(Arc::new(workload))
    }
}

impl<'de> Deserialize<'de> for AppConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut keys = Map::deserialize(deserializer)?;
        let kind = keys.remove("kind").ok_or_else(|| D::Error::missing_field("kind"))?;
        let record = by_name(&kind).ok_or_else(|| {
            let known: Vec<_> = WORKLOADS.iter().map(|record| record.name).collect();
            let known = known.join(", ");
            D::Error::custom(format!("kind = {kind} is unknown; expected one of {known}"))
        })?;
        let workload = (record.values.read)(Value::Object(keys)).map_err(D::Error::custom)?;
        Ok(AppConfig(workload.into()))
    }
}

impl JsonSchema for AppConfig {
    fn schema_name() -> Cow<'static, str> {
        "App".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let kinds = WORKLOADS.iter().map(|record| {
            let mut keys = (record.values.schema)(generator);
            let given = keys.remove("required").unwrap_or_else(|| json!([]));
            let mut required = vec![json!("kind")];
            required.extend(given.as_array().cloned().unwrap_or_default());
            keys.insert("description".to_owned(), record.title.into());
            keys.insert("required".to_owned(), required.into());
            let properties = keys.ensure_object().entry("properties").or_insert_with(|| json!({}));
            properties["kind"] = json!({ "type": "string", "const": record.name });
            keys
        });
        let kinds: Vec<Schema> = kinds.collect();
        json_schema!({
            "description": "What the sender of a flow writes: a workload by its kind, with its keys.",
            "oneOf": kinds,
        })
    }
}

fn by_name(kind: &Value) -> Option<&'static WorkloadRecord> {
    WORKLOADS.iter().find(|record| Some(record.name) == kind.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Unit;
    use std::collections::BTreeSet;

    fn read(text: &str) -> Result<AppConfig, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_kind_is_looked_up_and_its_keys_are_checked() {
        let bulk = read(r#"{"kind": "bulk", "bytes": 20000000}"#).unwrap();
        assert_eq!((bulk.record().name, bulk.is_finite()), ("bulk", true));
        let unknown = read(r#"{"kind": "fax"}"#).unwrap_err();
        assert!(unknown.starts_with("kind = \"fax\" is unknown; expected one of bulk, "));
        assert!(read("{}").unwrap_err().starts_with("missing field `kind`"));
    }

    /// The keys that serde accepts for a kind are the keys in its record.
    #[test]
    fn a_record_lists_the_keys_that_its_values_are_read_from() {
        for record in WORKLOADS {
            let error = (record.values.read)(serde_json::json!({"_": 0})).unwrap_err().to_string();
            let quoted: BTreeSet<&str> = error.split('`').skip(3).step_by(2).collect();
            let listed: BTreeSet<&str> = record.keys.iter().map(|key| key.plan).collect();
            assert_eq!(quoted, listed, "{}: {error}", record.name);
        }
    }

    /// A value of this unit in a plan.
    fn value(unit: Unit) -> Value {
        match unit {
            Unit::Trace => serde_json::json!([]),
            _ => 1_000_000_000_u64.into(),
        }
    }

    #[test]
    fn a_default_is_what_an_absent_key_is_read_as() {
        for record in WORKLOADS {
            let required = record.keys.iter().filter(|key| key.is_required);
            let required: Map<String, Value> =
                required.map(|key| (key.plan.to_owned(), value(key.unit))).collect();
            let read = |keys: Map<String, Value>| {
                format!("{:?}", (record.values.read)(Value::Object(keys)).unwrap())
            };
            for (key, default) in record.keys.iter().filter_map(|key| Some((key, key.default?))) {
                let given: Option<Value> = match key.unit {
                    Unit::Word if default != "none" => Some(default.into()),
                    _ => serde_json::from_str(default).ok(),
                };
                let Some(given) = given else { continue };
                let mut keys = required.clone();
                keys.insert(key.plan.to_owned(), given);
                assert_eq!(read(required.clone()), read(keys), "{}.{}", record.name, key.name);
            }
        }
    }

    #[test]
    fn a_record_says_which_keys_must_be_there() {
        for record in WORKLOADS {
            let missing = |error: serde_json::Error| {
                let error = error.to_string();
                error
                    .strip_prefix("missing field `")
                    .map(|rest| rest.trim_end_matches('`').to_owned())
            };
            let first = (record.values.read)(serde_json::json!({})).err().and_then(missing);
            let required = record.keys.iter().filter(|key| key.is_required);
            let required: BTreeSet<String> = required.map(|key| key.plan.to_owned()).collect();
            assert_eq!(first.is_none(), required.is_empty(), "{}", record.name);
            assert!(first.is_none_or(|name| required.contains(&name)), "{}", record.name);
            for key in record.keys {
                assert!(!(key.is_required && key.default.is_some()), "{}", key.name);
                assert!(key.is_required || key.default.is_some(), "{}.{}", record.name, key.name);
            }
        }
    }
}
