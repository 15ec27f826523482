//! Runs a test on a new switch.

use super::error::StfError;
use super::runner::Runner;
use crate::config::{Engine, SwitchConfig};
use crate::program::Program;
use crate::switch::Switch;
use crate::v1model::TimestampUnit;
use narrows_common::{LengthBasis, Rng, Time};
use narrows_queueing::{DisciplineConfig, PortConfig, QueueLimit};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Runs a test on a new switch with ports 0 to 510.
///
/// # Errors
/// The first statement that can't be executed, or all differences found at the end.
pub fn run(program: Arc<Program>, text: &str) -> Result<(), Vec<StfError>> {
    let mut runner = play(program, text)?;
    let mut differences = runner.compare();
    differences.append(&mut runner.differences);
    if differences.is_empty() { Ok(()) } else { Err(differences) }
}

/// The packets that leave by each port in a test, regardless of its expectations.
///
/// # Errors
/// The first statement that can't be executed.
pub fn sent(
    program: Arc<Program>,
    text: &str,
) -> Result<BTreeMap<u16, Vec<Vec<u8>>>, Vec<StfError>> {
    Ok(play(program, text)?.got)
}

fn play(program: Arc<Program>, text: &str) -> Result<Runner, Vec<StfError>> {
    let port = |port| PortConfig {
        port,
        rate_bps: None,
        queue: QueueLimit::Packets(1024),
        discipline: DisciplineConfig::default(),
        counts: LengthBasis::Frame,
        queues: 8,
        classes: vec![],
        trace: None,
        record: false,
        pipeline: 0,
    };
    let config = SwitchConfig {
        ports: (0..511).map(port).collect(),
        timestamp_unit: TimestampUnit::Us,
        engine: Engine::default(),
        flow_field: None,
        record_queue: false,
        pipeline: 0,
    };
    let fail = |line: usize, message: String| vec![StfError::Statement { line, message }];
    let switch = Switch::new(program, config, Rng::from_seed(1));
    let switch = switch.map_err(|error| fail(0, error.to_string()))?;
    let mut runner = Runner {
        switch,
        now: Time::ZERO,
        expected: BTreeMap::new(),
        got: BTreeMap::new(),
        nodes: vec![],
        groups: BTreeMap::new(),
        mirrored: BTreeMap::new(),
        entries: BTreeMap::new(),
        value_sets: BTreeMap::new(),
        answers: 0,
        differences: vec![],
    };
    for (i, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("").trim();
        let (command, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        if !command.is_empty() {
            let done = runner.statement(i + 1, &command.to_lowercase(), rest.trim());
            done.map_err(|message| fail(i + 1, message))?;
        }
    }
    Ok(runner)
}
