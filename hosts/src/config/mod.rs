//! Hosts and flows as the plan describes them, and their resolved settings.

mod error;
mod flow;
mod host;
mod settings;

pub use error::FlowError;
pub(crate) use error::{by_name, in_range};
pub(crate) use flow::check_flow;
pub use flow::{FlowConfig, KeepAlive, Recording};
pub use host::HostConfig;
pub use settings::Settings;
