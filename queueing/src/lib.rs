//! A port's treatment of packets: it queues, drops and sends them.
//!
//! ```text
//! offer -> [discipline of the packet's priority] -> dequeue -> transmit
//!            enqueue drops or stores   dequeue drops or sends
//! ```
//!
//! A [`QueueDiscipline`] owns the packets of one queue; [`disciplines`] has a file for each, and
//! their list. A [`TrafficManager`] owns the ports: each has queues, in strict priority or with
//! weights and rates, and an exact serializer of a fixed rate or a trace's. A [`Link`] is the
//! queue, rate and delay in front of a host; [`impairments`] are what a cable does to packets. All
//! are generic over the packet type, so that a program's state can travel with a packet.

mod discipline;
pub mod disciplines;
mod ecn;
mod flow_hash;
mod flow_queues;
pub mod impairments;
mod ledger;
mod limit;
mod link;
mod outcomes;
mod port;
mod port_core;
mod queued;
mod randomness;
mod record;
mod statistics;
mod traffic_manager;

pub use discipline::{QueueDiscipline, Room, Setup};
pub use disciplines::{DISCIPLINES, DROP_REASONS, Discipline, DisciplineConfig, MARK_REASONS};
pub use ecn::{Ecn, EcnBytes, ecn, mark_ce};
pub use flow_hash::flow_hash;
pub use ledger::{QueueEvent, QueueRecord};
pub use limit::QueueLimit;
pub use link::{Link, LinkConfig, LinkDirection};
pub use outcomes::{DropReason, MarkReason, Outcomes, Reason};
pub use port::config::{PortConfig, PortError};
pub use port::scheduler::{QueueConfig, QueueShare};
pub use port::serializer::RateTrace;
pub use port_core::{
    CoreDequeued, CoreDiscipline, CoreReasons, CoreRow, CoreSettings, Fate, PortCore, Thresholds,
    core_reasons,
};
pub use queued::{Backlog, Fifo, Label, Queued, QueuedPacket};
pub use randomness::Randomness;
pub use record::{DisciplineError, Parameter, Parameters, Record, Unit};
pub use statistics::{DropCounts, MarkCounts, PortStatistics};
pub use traffic_manager::{Arrival, Dequeued, TrafficManager, Transmission};
