//! TFRC, TCP-friendly rate control (RFC 5348). The sender paces its datagrams by TCP's throughput
//! equation, from the loss event rate that the receiver reports once per round trip.
//!
//! [`Control`] is the sender's half (section 4), [`Observer`] the receiver's (sections 5 and 6),
//! [`LossHistory`] the receiver's record of losses, `wire` the formats of both. Segments have the
//! mean length sent, without headers. Rates are `f64` bytes per second; only sums, products and
//! square roots are computed, which give the same bits on every machine.
//!
//! Not implemented are the optional parts: history discounting (5.5), pacing damped by the round
//! trip (4.5), ECN, and the withdrawal of a loss when the datagram arrives late.

mod control;
mod equation;
mod loss_history;
mod mean_size;
#[cfg(test)]
mod model_tests;
mod observer;
pub(super) mod wire;

pub(super) use control::Control;
pub(super) use observer::Observer;

use crate::api::Class;
use crate::udp::record::Record;

/// The record.
pub(super) const TFRC: Record = Record {
    name: "tfrc",
    title: "TFRC: datagrams paced by TCP's throughput equation",
    reference: "RFC 5348",
    class: Class::LossBased,
    needs: &[],
    parameters: &[],
    not_implemented: &[
        "history discounting (section 5.5, optional)",
        "pacing damped by the round trip (section 4.5, optional)",
        "congestion marks as losses",
        "withdrawing a loss when the datagram arrives late",
    ],
    header_bytes: wire::DATA_BYTES as u32,
    needs_pace: false,
};
