//! The state of a switch that packets and controllers change.

mod counter;
mod meter;
mod profile;
mod register;
mod replication;
mod store;
pub(crate) mod tables;
mod value_set;

pub use counter::Count;
pub use meter::{Colour, MeterConfig};
pub(crate) use profile::{Choice, Member, Profile};
pub(crate) use register::offsets;
pub use replication::{CloneSession, MulticastGroup, Replica};
pub(crate) use store::State;
pub(crate) use value_set::Members;
