//! The committed JSON Schemas equal those of the types. `make schema` writes them.

use std::fs;
use std::path::Path;

use narrows_engine::network::managed_switch::config::Config;
use narrows_engine::real_time::Generated;
use narrows_engine::{Plan, Progress, Summary, TABLES};
use narrows_hosts::udp;
use narrows_hosts::{AGENTS, PROFILES, RECOVERIES, SINKS, VARIANTS};
use narrows_queueing::DISCIPLINES;
use narrows_switch::{DefaultAction, ProfileGroup, ProfileMember};
use narrows_traffic::WORKLOADS;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

/// Adds the schema of a list's records; the list itself has none.
fn record<T: JsonSchema>(_: &[T], generator: &mut SchemaGenerator) {
    generator.subschema_for::<T>();
}

fn documents() -> [(&'static str, Schema); 3] {
    let read = || SchemaSettings::draft2020_12().into_generator();
    let written = || SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut plan = read();
    plan.subschema_for::<Config>();
    plan.subschema_for::<DefaultAction>();
    plan.subschema_for::<ProfileMember>();
    plan.subschema_for::<ProfileGroup>();
    let mut summary = written();
    summary.subschema_for::<Progress>();
    summary.subschema_for::<Generated>();
    let mut records = written();
    record(VARIANTS, &mut records);
    record(udp::SENDERS, &mut records);
    record(RECOVERIES, &mut records);
    record(PROFILES, &mut records);
    record(AGENTS, &mut records);
    record(SINKS, &mut records);
    record(WORKLOADS, &mut records);
    record(DISCIPLINES, &mut records);
    [
        ("plan", plan.into_root_schema_for::<Plan>()),
        ("summary", summary.into_root_schema_for::<Summary>()),
        ("records", records.into_root_schema_for::<()>()),
    ]
}

/// Compares a file of `common/schema` with the generated one, or writes it on request.
fn check(name: &str, content: &impl Serialize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../common/schema").join(name);
    let text = serde_json::to_string_pretty(content).expect("a schema is JSON") + "\n";
    if std::env::var_os("NARROWS_WRITE_SCHEMA").is_some() {
        fs::write(&path, &text).expect("the folder can be written to");
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == text, "{name} is out of step: make schema");
}

#[test]
fn the_committed_schemas_are_those_of_the_types() {
    for (name, schema) in documents() {
        check(&format!("{name}.schema.json"), &schema);
    }
    check("tables.json", &TABLES);
}
