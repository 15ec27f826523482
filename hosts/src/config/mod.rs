//! What a plan says of hosts and flows, and what it comes to.

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
