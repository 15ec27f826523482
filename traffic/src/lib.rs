//! Workload models: when an application writes, how much, and when it has finished.
//!
//! A workload is a file in [`workloads`]: the values that a scenario gives ([`Workload`]), a record
//! of their meaning ([`WorkloadRecord`]), and the [`Application`] that they build. An application
//! is sans-IO, like the TCP below it: [`Application::poll_write`] returns what to write now, and
//! [`Application::poll_timeout`] when to ask again. [`message`] is the header by which a receiver
//! finds the messages in a stream.

mod application;
mod config;
pub mod distribution;
mod error;
mod key;
pub mod message;
pub mod paced;
mod workload;
pub mod workloads;

pub use application::{Application, Content, ShortBytes, Write};
pub use config::AppConfig;
pub use error::AppError;
pub use key::{Key, Unit};
pub use workload::{Reaction, Replaces, Workload, WorkloadRecord};
pub use workloads::WORKLOADS;
