//! Workload models: when an application writes, how much, and when it has finished.
//!
//! A model is sans-IO like the TCP below it: [`Application::poll_write`] says what to write now,
//! [`Application::poll_timeout`] when to ask again. One file a model; [`AppConfig`] and
//! [`MODELS`] are the list. [`message`] says how messages are told apart in a stream.

pub mod bulk;
pub mod cbr;
pub mod cve;
pub mod cve_server;
mod error;
pub mod evlbi;
pub mod gaps;
pub mod key;
pub mod message;
pub mod on_off;
pub mod paced;
pub mod request_response;
pub mod telnet;
pub mod trace;

pub use error::AppError;
pub use key::{Key, Unit};

use core::fmt;
use narrows_common::{Rng, Time};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// What an application hands to its connection at once. One application writes either kind only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// Bytes of a stream without messages.
    Stream(Content),
    /// A message, whose latency is recorded: a header ([`message`]) and zeros behind it.
    Message {
        /// Its length with the header, [`message::HEADER_BYTES`] at least.
        length_bytes: u32,
    },
}

/// Bytes of a stream: a length that stands for zeros, or the bytes themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// So many zero bytes; they cost no memory.
    Zeros(u64),
    /// These bytes.
    Bytes(ShortBytes),
}

/// Bytes that take no memory of their own while they are no more than a message's header.
pub type ShortBytes = SmallVec<[u8; message::HEADER_BYTES as usize]>;

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
    /// What to write at `now`; called from the flow's start on, until it returns `None`. `rng` is
    /// the flow's own.
    fn poll_write(&mut self, now: Time, rng: &mut Rng) -> Option<Write>;

    /// When [`Application::poll_write`] will have something, if only time is missing.
    fn poll_timeout(&self) -> Option<Time> {
        None
    }

    /// A message of the other end was read.
    fn handle_message(&mut self, _now: Time) {}

    /// True when it will never write again; the connection then closes after the last byte.
    fn is_finished(&self) -> bool;
}

/// An application as a scenario names it: `{"kind": "bulk", "bytes": 20000000}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum AppConfig {
    /// A transfer of given or unlimited length.
    Bulk(bulk::Config),
    /// Messages with exponential gaps.
    Telnet(telnet::Config),
    /// Messages at a constant bit rate.
    Cbr(cbr::Config),
    /// Bursts and pauses.
    OnOff(on_off::Config),
    /// Updates of which the last counts.
    Cve(cve::Config),
    /// Updates that a server sends on.
    CveServer(cve_server::Config),
    /// Requests and responses.
    RequestResponse(request_response::Config),
    /// Frames at a required rate.
    Evlbi(evlbi::Config),
    /// What was recorded.
    Trace(trace::Config),
}

impl AppConfig {
    /// Checks the values.
    ///
    /// # Errors
    /// The first that is out of range.
    pub fn check(&self) -> Result<(), AppError> {
        match self {
            AppConfig::Bulk(config) => config.check(),
            AppConfig::Telnet(config) => config.check(),
            AppConfig::Cbr(config) => config.check(),
            AppConfig::OnOff(config) => config.check(),
            AppConfig::Cve(config) => config.check(),
            AppConfig::CveServer(config) => config.check(),
            AppConfig::RequestResponse(config) => config.check(),
            AppConfig::Evlbi(config) => config.check(),
            AppConfig::Trace(config) => config.check(),
        }
    }

    /// The application, before its first write. The values are to be checked before.
    pub fn build(&self) -> Box<dyn Application> {
        match self {
            AppConfig::Bulk(config) => Box::new(bulk::Bulk::new(config)),
            AppConfig::Telnet(config) => Box::new(config.build()),
            AppConfig::Cbr(config) => Box::new(config.build()),
            AppConfig::OnOff(config) => Box::new(config.build()),
            AppConfig::Cve(config) => Box::new(config.build()),
            AppConfig::CveServer(config) => Box::new(config.build()),
            AppConfig::RequestResponse(config) => Box::new(config.build()),
            AppConfig::Evlbi(config) => Box::new(config.build()),
            AppConfig::Trace(config) => Box::new(config.build()),
        }
    }

    /// True when it will have written its last byte some day.
    pub fn is_finite(&self) -> bool {
        match self {
            AppConfig::Bulk(config) => config.bytes.is_some(),
            AppConfig::Telnet(config) => config.messages.is_some(),
            AppConfig::Cbr(config) => config.messages.is_some(),
            AppConfig::OnOff(config) => config.messages.is_some(),
            AppConfig::Cve(config) => config.messages.is_some(),
            AppConfig::CveServer(config) => config.messages.is_some(),
            AppConfig::RequestResponse(config) => config.messages.is_some(),
            AppConfig::Evlbi(config) => config.messages.is_some(),
            AppConfig::Trace(_) => true,
        }
    }

    /// What there is to know about its model.
    pub fn model(&self) -> &'static Model {
        match self {
            AppConfig::Bulk(_) => &bulk::MODEL,
            AppConfig::Telnet(_) => &telnet::MODEL,
            AppConfig::Cbr(_) => &cbr::MODEL,
            AppConfig::OnOff(_) => &on_off::MODEL,
            AppConfig::Cve(_) => &cve::MODEL,
            AppConfig::CveServer(_) => &cve_server::MODEL,
            AppConfig::RequestResponse(_) => &request_response::MODEL,
            AppConfig::Evlbi(_) => &evlbi::MODEL,
            AppConfig::Trace(_) => &trace::MODEL,
        }
    }

    /// True when it writes messages, so that the stream has their headers.
    pub fn has_messages(&self) -> bool {
        self.model().has_messages
    }

    /// What a message replaces; `None` where messages replace nothing.
    pub fn replaces(&self) -> Option<Replaces> {
        match self {
            AppConfig::Cve(config) => Some(Replaces::InTurn { users: config.users }),
            AppConfig::CveServer(_) => Some(Replaces::ByOrigin),
            _ => None,
        }
    }

    /// What the receiving end writes when it has read a message; `None`: nothing.
    pub fn reaction(&self) -> Option<Reaction> {
        match self {
            AppConfig::RequestResponse(config) => {
                Some(Reaction::Respond { length_bytes: config.response_bytes })
            }
            AppConfig::CveServer(config) => Some(Reaction::SendOn { group: config.partition }),
            _ => None,
        }
    }
}

/// Which earlier messages a message replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaces {
    /// Those of its user; so many users' messages come in turn.
    InTurn {
        /// How many.
        users: u32,
    },
    /// Those of its origin ([`message::Header::origin`]).
    ByOrigin,
}

/// What the receiving end of a flow does with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// It answers on the same connection, with the time at which the request was written.
    Respond {
        /// Length of the answer.
        length_bytes: u32,
    },
    /// It sends the message on over the other connections to its host of the same group.
    SendOn {
        /// The group's number.
        group: u32,
    },
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
    /// What a scenario may say about it.
    pub keys: &'static [Key],
    /// It writes messages, not one stream without any.
    pub has_messages: bool,
    /// The receiving end writes too, which takes a stream both ways.
    pub answers: bool,
}

/// Every model.
pub const MODELS: &[Model] = &[
    bulk::MODEL,
    telnet::MODEL,
    cbr::MODEL,
    on_off::MODEL,
    cve::MODEL,
    cve_server::MODEL,
    request_response::MODEL,
    evlbi::MODEL,
    trace::MODEL,
];
