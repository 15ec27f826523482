//! How long what a socket sent is on its way: from its leaving the sender's kernel to its reading.

use crate::report::DELAY_PRECISION_BITS;
use narrows_common::Time;
use narrows_common::histogram::{Histogram, Summary};
use std::collections::VecDeque;

/// Numbers that are timed at once at most; the oldest make way.
const PROBES: usize = 256;

/// The bytes of a stream, or the datagrams, whose way is being timed.
#[derive(Debug)]
pub(super) struct Probes {
    under_way: VecDeque<Probe>,
    one_way_delay: Histogram,
}

/// A byte or a datagram by its number, when it left, and when it was read.
#[derive(Debug)]
struct Probe {
    number: u64,
    departed: Option<Time>,
    arrived: Option<Time>,
}

impl Probes {
    pub(super) fn new() -> Self {
        Probes { under_way: VecDeque::new(), one_way_delay: Histogram::new(DELAY_PRECISION_BITS) }
    }

    /// This number is timed from now on.
    pub(super) fn watch(&mut self, number: u64) {
        if self.under_way.len() == PROBES {
            self.under_way.pop_front();
        }
        self.under_way.push_back(Probe { number, departed: None, arrived: None });
    }

    /// One left the kernel. `key` is the lower half of its number. Of a byte that is retransmitted the
    /// last departure before its arrival counts.
    pub(super) fn handle_departure(&mut self, at: Time, key: u32) {
        let found = self.under_way.iter_mut().find(|probe| probe.number as u32 == key);
        if let Some(probe) = found.filter(|probe| probe.arrived.is_none_or(|then| at <= then)) {
            probe.departed = Some(at);
            self.settle();
        }
    }

    /// Those of whose number `is_there` says so have been read.
    pub(super) fn handle_arrival(&mut self, now: Time, is_there: impl Fn(u64) -> bool) {
        for probe in self.under_way.iter_mut().filter(|probe| is_there(probe.number)) {
            probe.arrived.get_or_insert(now);
        }
        self.settle();
    }

    /// Takes the delays of those that have departed and arrived.
    fn settle(&mut self) {
        let one_way_delay = &mut self.one_way_delay;
        self.under_way.retain(|probe| match (probe.departed, probe.arrived) {
            (Some(departed), Some(arrived)) => {
                one_way_delay.add(arrived.since(departed));
                false
            }
            _ => true,
        });
    }

    /// The delays so far.
    pub(super) fn one_way_delay(&self) -> Summary {
        self.one_way_delay.summary()
    }
}
