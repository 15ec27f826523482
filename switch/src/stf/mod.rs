//! Runs STF tests (p4c, `tools/stf`): entries, packets in, packets expected out.
//!
//! All that p4c's grammar has, and simple_switch_CLI's commands that its bmv2 driver passes on.
//! Packets come at intervals of 1 ms on ports without a rate, so everything that a packet causes
//! has left before the next. Ports that a test expects nothing of are not looked at, as in p4c's
//! own driver; unlike there, `check_counter`, `no_packet`, `remove` and `wait` (a second) are
//! honoured. The larger priority wins.

mod commands;
mod profiles;
mod words;

use crate::config::{Engine, SwitchConfig};
use crate::control::{DefaultAction, Match, TableEntry};
use crate::ir::MatchKind;
use crate::program::Program;
use crate::state::Replica;
use crate::switch::Switch;
use crate::tm::{Counts, Discipline, PortConfig, QueueLimit};
use crate::v1model::TimestampUnit;
use narrows_common::{Duration, Packet, Rng, Time};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use words::{ends_in, find_field, params, part};

/// Where and how a test failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StfError {
    /// A line that is no STF statement, or does not fit the program.
    #[error("line {line}: {message}")]
    Statement {
        /// From 1.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
    /// A counter, or the absence of packets, is not what the test expects.
    #[error("line {line}: {message}")]
    Check {
        /// Of the check, from 1.
        line: usize,
        /// What it is, and what was expected.
        message: String,
    },
    /// What came out is not what the test expects.
    #[error("line {line}: port {port}: {message}")]
    Unexpected {
        /// Of the expectation, from 1.
        line: usize,
        /// Where.
        port: u16,
        /// The difference, readable.
        message: String,
    },
}

/// One `expect`: its line, and the data as hexadecimal digits with `*` for any.
struct Expectation {
    line: usize,
    digits: String,
    exact: bool,
    any: bool,
}

struct Runner {
    switch: Switch,
    now: Time,
    expected: BTreeMap<u16, Vec<Expectation>>,
    got: BTreeMap<u16, Vec<Vec<u8>>>,
    /// Replication nodes in the order of their creation, and the groups made of them.
    nodes: Vec<Vec<Replica>>,
    groups: BTreeMap<u32, Vec<usize>>,
    /// Clone sessions that lead to a group.
    mirrored: BTreeMap<u32, u32>,
    entries: BTreeMap<String, TableEntry>,
    value_sets: BTreeMap<String, Vec<Vec<Option<Match>>>>,
    /// Packets that came out since the last that went in.
    answers: usize,
    differences: Vec<StfError>,
}

/// Runs a test on a fresh switch with ports 0 to 510.
///
/// # Errors
/// The first statement that can't be carried out, or all differences found at the end.
pub fn run(program: Arc<Program>, text: &str) -> Result<(), Vec<StfError>> {
    let mut runner = play(program, text)?;
    let mut differences = runner.compare();
    differences.append(&mut runner.differences);
    if differences.is_empty() { Ok(()) } else { Err(differences) }
}

/// The packets that leave by each port in a test, whatever it expects.
///
/// # Errors
/// The first statement that can't be carried out.
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
        discipline: Discipline::DropTail,
        counts: Counts::Frame,
        queues: 8,
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

impl Runner {
    fn statement(&mut self, line: usize, command: &str, rest: &str) -> Result<(), String> {
        let words: Vec<&str> = rest.split_whitespace().collect();
        let name = words.first().copied().unwrap_or("");
        match command {
            "packet" => {
                let (port, data) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                let port = port.parse().map_err(|_| format!("'{port}': expected a port"))?;
                self.packet(port, data)
            }
            "expect" => {
                let (port, data) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                let port = port.parse().map_err(|_| format!("'{port}': expected a port"))?;
                let all: String = data.split_whitespace().collect();
                let exact = all.ends_with('$');
                let digits = all.trim_end_matches('$').to_uppercase();
                let any = all.is_empty();
                let expectation = Expectation { line, digits, exact, any };
                self.expected.entry(port).or_default().push(expectation);
                Ok(())
            }
            "no_packet" => {
                if self.answers > 0 {
                    let message = format!("{} packets came out, none should", self.answers);
                    self.differences.push(StfError::Check { line, message });
                }
                Ok(())
            }
            "wait" => {
                self.now += Duration::from_secs(1);
                self.switch.handle_timeout(self.now);
                self.collect();
                Ok(())
            }
            "remove" => self.remove(name),
            "add" => self.add(rest),
            "setdefault" => self.set_default(rest),
            "check_counter" => self.check_counter(line, rest),
            _ => self.command(line, command, &words),
        }
    }

    fn packet(&mut self, port: u16, data: &str) -> Result<(), String> {
        let digits: Vec<u8> = data.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let byte = |pair: &[u8]| match pair {
            [high, low] => Some((digit(*high)? << 4 | digit(*low)?) as u8),
            _ => None,
        };
        let bytes: Option<Vec<u8>> = digits.chunks(2).map(byte).collect();
        let bytes = bytes.ok_or("expected pairs of hexadecimal digits")?;
        self.now += Duration::from_ms(1);
        self.switch.handle_packet(self.now, port, Packet::from_bytes(&bytes));
        self.answers = 0;
        self.collect();
        Ok(())
    }

    fn collect(&mut self) {
        while let Some(sent) = self.switch.poll_transmit() {
            self.answers += 1;
            self.got.entry(sent.port).or_default().push(sent.packet.to_bytes());
        }
    }

    /// `all`, or the id that an entry was added with.
    fn remove(&mut self, what: &str) -> Result<(), String> {
        if !what.eq_ignore_ascii_case("all") {
            let entry = self.entries.remove(what).ok_or(format!("there is no entry '{what}'"))?;
            return self.switch.delete_entry(&entry).map_err(|error| error.to_string());
        }
        self.entries.clear();
        let program = self.switch.model.program.clone();
        for table in program.tables.iter().filter(|table| table.entries.is_none()) {
            let entries = self.switch.entries(&table.name).map_err(|error| error.to_string())?;
            for (entry, _) in entries {
                self.switch.delete_entry(&entry).map_err(|error| error.to_string())?;
            }
        }
        Ok(())
    }

    /// `table [priority] field:value ... action(name:value, ...) [= id]`
    fn add(&mut self, rest: &str) -> Result<(), String> {
        let (rest, id) = match rest.rsplit_once('=') {
            Some((front, id)) if front.trim_end().ends_with(')') => (front, Some(id.trim())),
            _ => (rest, None),
        };
        let (head, arguments) = rest.split_once('(').ok_or("expected an action with ()")?;
        let mut words: Vec<&str> = head.split_whitespace().collect();
        let (action, table) = match (words.pop(), words.is_empty()) {
            (Some(action), false) => (action, words.remove(0)),
            _ => return Err("expected: add TABLE FIELD:VALUE ... ACTION(...)".into()),
        };
        let mut priority = None;
        if words.first().is_some_and(|word| !word.contains(':')) {
            let word = words.remove(0);
            let parsed = word.parse::<i32>().map_err(|_| format!("'{word}': no priority"))?;
            priority = Some(parsed);
        }
        let declared = self.find_table(table)?;
        let mut matches = BTreeMap::new();
        for field in &self.switch.model.program.tables[declared].key {
            // As in p4c's driver, a field that is left out is zero where it must be exact.
            if field.kind == MatchKind::Exact {
                matches.insert(field.name.clone(), Match::Exact("0".into()));
            }
        }
        for word in words {
            let (name, value) = word.split_once(':').ok_or(format!("'{word}': no match"))?;
            let field = find_field(&self.switch.model.program.tables[declared].key, name)?;
            matches.insert(field.name.clone(), part(field, value)?);
        }
        let entry = TableEntry {
            table: self.switch.model.program.tables[declared].name.clone(),
            matches,
            priority: priority.unwrap_or(0),
            action: self.find_action(declared, action)?,
            params: params(arguments)?,
        };
        self.switch.insert_entry(&entry).map_err(|error| error.to_string())?;
        if let Some(id) = id {
            self.entries.insert(id.to_owned(), entry);
        }
        Ok(())
    }

    fn set_default(&mut self, rest: &str) -> Result<(), String> {
        let (head, arguments) = rest.split_once('(').ok_or("expected an action with ()")?;
        let words: Vec<&str> = head.split_whitespace().collect();
        let [table, action] = words.as_slice() else {
            return Err("expected: setdefault TABLE ACTION(...)".into());
        };
        let declared = self.find_table(table)?;
        let default = DefaultAction {
            table: self.switch.model.program.tables[declared].name.clone(),
            action: self.find_action(declared, action)?,
            params: params(arguments)?,
        };
        self.switch.set_default_action(&default).map_err(|error| error.to_string())
    }

    fn find_table(&self, name: &str) -> Result<usize, String> {
        let tables = &self.switch.model.program.tables;
        let names: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
        ends_in(&names, name).ok_or(format!("there is no table '{name}'"))
    }

    fn find_action(&self, table: usize, name: &str) -> Result<String, String> {
        let actions = &self.switch.model.program.actions;
        let known = self.switch.model.program.tables[table].actions.iter();
        let names: Vec<&str> =
            known.map(|&action| actions[action as usize].name.as_str()).collect();
        // Some tests name the control that p4c has renamed; the last part decides then.
        let last = name.rsplit('.').next().unwrap_or(name);
        let found = ends_in(&names, name).or_else(|| ends_in(&names, last));
        found.map(|at| names[at].to_owned()).ok_or(format!("there is no action '{name}'"))
    }

    /// `name(index) [packets|bytes condition number]`; the index may be an entry's `$id`.
    fn check_counter(&mut self, line: usize, rest: &str) -> Result<(), String> {
        let (name, rest) = rest.split_once('(').ok_or("expected a counter with (index)")?;
        let (index, rest) = rest.split_once(')').ok_or("expected a closing )")?;
        let (name, index) = (name.trim(), index.trim());
        let count = match index.strip_prefix('$') {
            Some(id) => {
                let entry = self.entries.get(id).ok_or(format!("there is no entry '{id}'"))?;
                self.switch.entry_count(entry)
            }
            None => {
                let index = index.parse().map_err(|_| format!("'{index}': expected an index"))?;
                self.switch.read_counter(name, index)
            }
        };
        let count = count.map_err(|error| error.to_string())?;
        let words: Vec<&str> = rest.split_whitespace().collect();
        let (kind, condition, number) = match words.as_slice() {
            [] => ("packets", "==", "0"),
            [kind, condition, number] => (*kind, *condition, *number),
            _ => return Err("expected: packets|bytes CONDITION NUMBER".into()),
        };
        let wanted: u64 = number.parse().map_err(|_| format!("'{number}': expected a number"))?;
        let found = if kind == "bytes" { count.bytes } else { count.packets };
        let holds = match condition {
            "==" => found == wanted,
            "!=" => found != wanted,
            "<=" => found <= wanted,
            "<" => found < wanted,
            ">=" => found >= wanted,
            ">" => found > wanted,
            other => return Err(format!("'{other}': expected a comparison")),
        };
        if !holds {
            let message =
                format!("counter {name}({index}): {found} {kind}, not {condition} {wanted}");
            self.differences.push(StfError::Check { line, message });
        }
        Ok(())
    }

    fn compare(&self) -> Vec<StfError> {
        let mut differences = vec![];
        for (&port, expected) in &self.expected {
            let got = self.got.get(&port).map_or(&[][..], Vec::as_slice);
            for (i, expectation) in expected.iter().enumerate() {
                let message = match got.get(i) {
                    None => Some(format!("packet {i} did not come; {} came", got.len())),
                    Some(bytes) => difference(expectation, bytes),
                };
                let line = expectation.line;
                differences.extend(message.map(|message| {
                    let message = format!("packet {i}: {message}");
                    StfError::Unexpected { line, port, message }
                }));
            }
            if let (Some(extra), Some(last)) = (got.get(expected.len()), expected.last()) {
                let message =
                    format!("{} packets too many: {}", got.len() - expected.len(), hex(extra));
                differences.push(StfError::Unexpected { line: last.line, port, message });
            }
        }
        differences
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02X}");
        text
    })
}

/// What differs, or `None`.
fn difference(expected: &Expectation, bytes: &[u8]) -> Option<String> {
    if expected.any {
        return None;
    }
    let got = hex(bytes);
    let short = got.len() < expected.digits.len();
    let long = expected.exact && got.len() != expected.digits.len();
    let mut pairs = expected.digits.chars().zip(got.chars());
    let at = pairs.position(|(wanted, found)| wanted != '*' && wanted != found);
    let place = match at {
        Some(at) => format!("digit {at} differs"),
        None if short || long => {
            format!("{} digits instead of {}", got.len(), expected.digits.len())
        }
        None => return None,
    };
    Some(format!("{place}\n  expected {}\n  got      {got}", expected.digits))
}
