//! What every room shares: time, units, randomness, packets, and the rows that a run records.
//!
//! Nothing here reads a clock, opens a file or knows a protocol above the byte.

pub mod budgets;
pub mod histogram;
pub mod length;
pub mod packet;
mod payload;
pub mod prefetch;
pub mod record;
pub mod rng;
pub mod serializer;
pub mod time;
pub mod timers;
pub mod tournament;
pub mod units;

pub use histogram::Histogram;
pub use length::LengthBasis;
pub use packet::{Checksums, Packet, PacketPool};
pub use payload::{Lender, Payload};
pub use rng::Rng;
pub use serializer::Serializer;
pub use time::{Duration, PS_PER_S, Time};
pub use timers::Timers;
pub use units::{Bytes, Rate};
