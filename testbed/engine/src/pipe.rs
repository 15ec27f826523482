//! One direction of a link while packets are under way: first in, first out.
//!
//! Whoever sends into a pipe has already worked out when each packet arrives (the end of its
//! transmission plus the propagation delay), and arrivals are in order because both are.

use std::collections::VecDeque;

use narrows_common::{Packet, Time};

/// Packets under way, in the order of their arrival.
#[derive(Debug, Default)]
pub struct Pipe {
    under_way: VecDeque<(Time, Packet)>,
}

impl Pipe {
    /// Sends a packet that arrives `at` the far end.
    pub fn send(&mut self, at: Time, packet: Packet) {
        debug_assert!(
            self.under_way.back().is_none_or(|&(last, _)| last <= at),
            "a pipe keeps the order"
        );
        self.under_way.push_back((at, packet));
    }

    /// When the next packet arrives; never when none is under way.
    pub fn poll_timeout(&self) -> Time {
        self.under_way.front().map_or(Time::MAX, |&(at, _)| at)
    }

    /// The packet that arrives at `now`.
    pub fn poll_receive(&mut self, now: Time) -> Option<Packet> {
        match self.under_way.front() {
            Some(&(at, _)) if at <= now => self.under_way.pop_front().map(|(_, packet)| packet),
            _ => None,
        }
    }
}
