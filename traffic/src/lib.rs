//! Workload models: when an application writes, how much, and when it has finished.
//!
//! A model is sans-IO like the TCP below it: [`Application::poll_write`] says what to write now,
//! [`Application::poll_timeout`] when to ask again. One file a model; [`AppConfig`] and
//! [`MODELS`] are the list.

pub mod bulk;

use core::fmt;
use narrows_common::Time;
use serde::{Deserialize, Serialize};

/// What an application hands to its connection at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The bytes.
    pub content: Content,
    /// True when the last of them ends a message, whose latency is recorded.
    pub ends_message: bool,
}

/// Bytes of a stream: a length that stands for zeros, or the bytes themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// So many zero bytes; they cost no memory.
    Zeros(u64),
    /// These bytes.
    Bytes(Vec<u8>),
}

impl Content {
    /// How many bytes.
    pub fn len(&self) -> u64 {
        match self {
            Content::Zeros(len) => *len,
            Content::Bytes(bytes) => bytes.len() as u64,
        }
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The sending end of a workload. Spurious calls are no-ops.
pub trait Application: fmt::Debug + Send {
    /// What to write at `now`; called until it returns `None`.
    fn poll_write(&mut self, now: Time) -> Option<Write>;

    /// When [`Application::poll_write`] will have something, if only time is missing.
    fn poll_timeout(&self) -> Option<Time> {
        None
    }

    /// True when it will never write again; the connection then closes after the last byte.
    fn is_finished(&self) -> bool;
}

/// An application as a scenario names it: `{"kind": "bulk", "bytes": 20000000}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum AppConfig {
    /// A transfer of given or unlimited length.
    Bulk(bulk::Config),
}

impl AppConfig {
    /// The application, before its first write.
    pub fn build(&self) -> Box<dyn Application> {
        match self {
            AppConfig::Bulk(config) => Box::new(bulk::Bulk::new(config)),
        }
    }

    /// True when it will have written its last byte some day.
    pub fn is_finite(&self) -> bool {
        match self {
            AppConfig::Bulk(config) => config.bytes.is_some(),
        }
    }
}

/// What there is to know about a model, for help, docs and tests.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Model {
    /// The name in a scenario's `kind`.
    pub name: &'static str,
    /// One line on what it does.
    pub title: &'static str,
    /// Where it comes from.
    pub reference: &'static str,
    /// Its keys: name, unit and meaning.
    pub keys: &'static [(&'static str, &'static str)],
}

/// Every model.
pub const MODELS: &[Model] = &[bulk::MODEL];
