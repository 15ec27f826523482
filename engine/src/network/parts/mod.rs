//! A network in parts, each on a thread of its own.
//!
//! A part has some of the nodes, with their timers and the packets in flight to them. Parts are
//! apart by the delay of their links: what happens in one cannot reach another sooner (K. M. Chandy
//! and J. Misra: Distributed Simulation, IEEE Transactions on Software Engineering 5(5), 1979). So
//! each may go on to a bound that `virtual_time/` computes. Then they exchange packets.
//!
//! A whole network's order of events holds within each part, and rows are put in that order. So the
//! results have the same bytes for any number of parts.

pub(crate) mod cut;
mod merge;
mod split;

use narrows_common::Time;

use super::{Network, Progress};
use crate::error::EngineError;
use crate::network::border::held_rows::Batch;
use crate::network::border::messages::{Arrival, Leaving};
use crate::network::border::ring::Inbox;

/// A part of a network.
pub(crate) struct Part {
    network: Network,
    /// All events before it are done.
    pub frontier: Time,
    next_collection: Time,
    /// The rows of all events before it have been collected.
    pub reached: Time,
    /// Rows, in the order of their collection.
    pub batches: Vec<Batch>,
    /// How many times rows have been collected.
    pub collections: usize,
}

impl Part {
    /// A part that has begun.
    fn new(network: Network) -> Self {
        let (reached, next_collection) = network.collections_around(Time::ZERO);
        Part {
            network,
            frontier: Time::ZERO,
            next_collection,
            reached,
            batches: Vec::new(),
            collections: 0,
        }
    }

    /// What it has done.
    pub fn progress(&self) -> Progress {
        Progress { now: self.frontier, ..self.network.progress }
    }

    /// Handles the events before `bound`.
    ///
    /// # Errors
    /// If a controller's event fails.
    pub fn advance(&mut self, bound: Time) -> Result<(), EngineError> {
        loop {
            let (event_at, source) = self.network.next();
            let sent = self.network.first_sent(event_at, source);
            let now = sent.map_or(event_at, |(at, _)| at);
            if now >= bound {
                break;
            }
            if let Some((at, from)) = sent {
                self.network.take_sent(at, from);
                continue;
            }
            if now >= self.next_collection {
                self.collect(now);
            }
            self.network.act(now, source)?;
        }
        // Other parts go on by the whole delay from this bound.
        self.network.end_delivery();
        self.frontier = bound;
        if bound >= self.next_collection {
            self.collect(bound);
        }
        Ok(())
    }

    /// Takes what another part has sent.
    pub fn receive(&mut self, from: usize, inbox: &mut Inbox) {
        let network = &mut self.network;
        let border = network.border.as_mut().expect("a part has a border");
        let exchange = &mut border.with[from];
        for Arrival { at, direction, packet, .. } in inbox.arrivals().into_iter().flatten() {
            debug_assert!(at >= self.frontier, "a packet for the past");
            exchange.owe();
            network.in_flight.send(direction as usize, at, packet);
        }
        for sent in inbox.sent().into_iter().flatten() {
            exchange.owe();
            exchange.sent.push_back(sent);
        }
        for packet in inbox.spare().into_iter().flatten() {
            exchange.owe();
            network.pool.give(packet);
        }
    }

    /// What leaves for another part.
    pub fn leaving(&mut self, to: usize) -> &mut Leaving {
        let border = self.network.border.as_mut().expect("a part has a border");
        &mut border.with[to].leaving
    }

    /// Adds empty packets to that, for those that came.
    pub fn give_back(&mut self) {
        let network = &mut self.network;
        let border = network.border.as_mut().expect("a part has a border");
        border.give_back(&mut network.pool);
    }

    /// Takes the rows since the last collection. The next event is at `now`, or later.
    pub fn collect(&mut self, now: Time) {
        let batch = self.network.take_rows(self.next_collection);
        if !batch.is_empty() {
            self.batches.push(batch);
        }
        (self.reached, self.next_collection) = self.network.collections_around(now);
        self.collections += 1;
    }
}
