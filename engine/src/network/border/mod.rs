//! What passes between the parts of a network, and the rows that a part keeps.

pub(crate) mod held_rows;
pub(crate) mod messages;
pub(crate) mod order;
pub(crate) mod ring;

use std::collections::VecDeque;
use std::sync::Arc;

use narrows_common::prefetch::Address;
use narrows_common::{Packet, PacketPool, Rate, Time};

use crate::record::recorder::Wanted;
use held_rows::HeldRow;
use messages::{Arrival, Leaving, Sent};
use order::Key;

/// How many more packets a part may have of another one than that has of it. Without a limit, one
/// would allocate for ever what the other keeps: there are fewer ACKs than segments.
const MOST_OWED: isize = 64;

/// The part of each receiver. Two bytes each, because with many hosts the table is out of a core's
/// nearest cache.
#[derive(Debug)]
pub(crate) struct PartsOf {
    /// By link direction.
    pub directions: Vec<u16>,
    /// By host: the part of its access link.
    pub access: Vec<u16>,
}

/// What a part has of another part, and for it.
#[derive(Debug, Default)]
pub(crate) struct Exchange {
    /// What leaves for it.
    pub leaving: Leaving,
    /// The packets that came from it, less those that left for it.
    owed: isize,
    /// The packets that its hosts sent, in the order of their events.
    pub sent: VecDeque<Sent>,
}

impl Exchange {
    /// What leaves, to which the caller adds a packet.
    #[inline]
    fn leave(&mut self) -> &mut Leaving {
        self.owed -= 1;
        &mut self.leaving
    }

    /// A packet came, maybe an empty one.
    #[inline]
    pub fn owe(&mut self) {
        self.owed += 1;
    }
}

/// A part's border.
#[derive(Debug)]
pub(crate) struct Border {
    own: usize,
    parts_of: Arc<PartsOf>,
    /// The latest event.
    key: Key,
    /// By part.
    pub with: Vec<Exchange>,
    pub wanted: Wanted,
    /// Rows of events.
    pub rows: Vec<(Key, HeldRow)>,
    /// Rates that a controller set: when, the switch and its port, the rate.
    pub rates: Vec<(Time, (usize, u16), Rate)>,
}

impl Border {
    /// The border of one of so many parts.
    pub fn new(own: usize, parts: usize, parts_of: Arc<PartsOf>, wanted: Wanted) -> Self {
        Border {
            own,
            parts_of,
            key: (Time::ZERO, 0),
            with: (0..parts).map(|_| Exchange::default()).collect(),
            wanted,
            rows: Vec::new(),
            rates: Vec::new(),
        }
    }

    /// The next event is at `now`. One that an arrival of the same instant caused has its rank.
    #[inline]
    pub fn reach(&mut self, now: Time, rank: u64) {
        self.key = (now, self.rank_at(now, rank));
    }

    /// The rank of an event that comes next.
    #[inline]
    pub fn rank_at(&self, now: Time, rank: u64) -> u64 {
        if self.key.0 == now { rank.max(self.key.1) } else { rank }
    }

    /// Takes a packet in flight, if its receiver is in another part.
    #[inline]
    pub fn send(&mut self, direction: usize, at: Time, packet: Box<Packet>) -> Option<Box<Packet>> {
        let part = usize::from(self.parts_of.directions[direction]);
        if part == self.own {
            return Some(packet);
        }
        let (direction, bytes) = (direction as u32, Address::of(&packet.data));
        self.with[part].leave().arrivals.push(Arrival { at, packet, bytes, direction });
        None
    }

    /// Takes a packet of a host, if its access link is in another part.
    #[inline]
    pub fn leave_host(&mut self, host: usize, packet: Box<Packet>) -> Option<Box<Packet>> {
        let part = usize::from(self.parts_of.access[host]);
        if part == self.own {
            return Some(packet);
        }
        let sent = Sent { key: self.key, packet, host: host as u32 };
        self.with[part].leave().sent.push(sent);
        None
    }

    /// Gives other parts empty packets of a pool for those that came from there.
    pub fn give_back(&mut self, pool: &mut PacketPool) {
        for exchange in &mut self.with {
            while exchange.owed > MOST_OWED && !pool.is_empty() {
                exchange.leave().spare.push(pool.take());
            }
        }
    }

    /// Of the packets that hosts elsewhere have sent, the part of the first one, and its place in
    /// the order.
    #[inline]
    pub fn first_sent(&self) -> Option<(Key, usize)> {
        let parts = self.with.iter().enumerate();
        parts.filter_map(|(part, exchange)| Some((exchange.sent.front()?.key, part))).min()
    }

    /// Keeps a row of the latest event.
    pub fn keep(&mut self, row: HeldRow) {
        self.rows.push((self.key, row));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A part of two that receives more packets than it sends.
    #[test]
    fn empty_packets_go_back_to_where_packets_came_from() {
        let parts_of = PartsOf { directions: vec![1], access: vec![] };
        let wanted = Wanted { capture: false, links: false, packets: false };
        let mut border = Border::new(0, 2, Arc::new(parts_of), wanted);
        let mut pool = PacketPool::default();
        (0..200).for_each(|_| pool.give(Box::default()));
        border.with[1].owed = 200;
        (0..50).for_each(|_| assert!(border.send(0, Time::ZERO, Box::default()).is_none()));
        border.give_back(&mut pool);
        for _ in 0..2 {
            let Leaving { arrivals, sent, spare } = &border.with[1].leaving;
            let counts = (arrivals.len(), sent.len(), spare.len());
            assert_eq!(counts, (50, 0, 150 - MOST_OWED as usize));
            border.give_back(&mut pool);
        }
    }
}
