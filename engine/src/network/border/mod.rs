//! What passes between the parts of a network, and the rows that a part keeps.

pub(crate) mod held_rows;
pub(crate) mod mailbox;
pub(crate) mod order;

use std::collections::VecDeque;
use std::sync::Arc;

use narrows_common::{Packet, PacketPool, Rate, Time};

use crate::record::recorder::Wanted;
use held_rows::HeldRow;
use order::Key;

/// How many more packets a part may have of another one than that has of it. Without a limit, one
/// would allocate for ever what the other keeps: there are fewer ACKs than segments.
const MOST_OWED: isize = 64;

/// A packet in flight that arrives in another part.
#[derive(Debug)]
pub(crate) struct Crossing {
    pub direction: usize,
    pub at: Time,
    pub packet: Box<Packet>,
}

/// A packet that a host sent, whose access link is in another part.
#[derive(Debug)]
pub(crate) struct Sent {
    pub key: Key,
    pub host: usize,
    pub packet: Box<Packet>,
}

/// What a part has for another part.
#[derive(Debug, Default)]
pub(crate) struct Parcel {
    pub crossings: Vec<Crossing>,
    pub sent: Vec<Sent>,
    /// Empty packets, for those that came the other way.
    pub spare: Vec<Box<Packet>>,
}

impl Parcel {
    pub fn is_empty(&self) -> bool {
        self.crossings.is_empty() && self.sent.is_empty() && self.spare.is_empty()
    }

    /// Takes all of another one, which is later.
    pub fn append(&mut self, other: &mut Parcel) {
        if self.is_empty() {
            return std::mem::swap(self, other);
        }
        self.crossings.append(&mut other.crossings);
        self.sent.append(&mut other.sent);
        self.spare.append(&mut other.spare);
    }
}

/// The part of each receiver.
#[derive(Debug)]
pub(crate) struct PartsOf {
    /// By link direction.
    pub directions: Vec<usize>,
    /// By host: the part of its access link.
    pub access: Vec<usize>,
}

/// A part's border.
#[derive(Debug)]
pub(crate) struct Border {
    own: usize,
    parts_of: Arc<PartsOf>,
    /// The latest event.
    key: Key,
    /// What leaves, by part.
    pub out: Vec<Parcel>,
    /// By part: packets that came from it, less those that left for it.
    owed: Vec<isize>,
    /// The packets that hosts of each part sent, in the order of their events.
    pub sent: Vec<VecDeque<Sent>>,
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
            out: (0..parts).map(|_| Parcel::default()).collect(),
            owed: vec![0; parts],
            sent: (0..parts).map(|_| VecDeque::new()).collect(),
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
        let part = self.parts_of.directions[direction];
        if part == self.own {
            return Some(packet);
        }
        self.owed[part] -= 1;
        self.out[part].crossings.push(Crossing { direction, at, packet });
        None
    }

    /// Takes a packet of a host, whose access link is in another part.
    #[inline]
    pub fn leave_host(&mut self, host: usize, packet: Box<Packet>) {
        let part = self.parts_of.access[host];
        self.owed[part] -= 1;
        self.out[part].sent.push(Sent { key: self.key, host, packet });
    }

    /// So many packets came from a part, empty ones included.
    pub fn receive(&mut self, part: usize, packets: usize) {
        self.owed[part] += packets as isize;
    }

    /// Gives other parts empty packets of a pool for those that came from there.
    pub fn give_back(&mut self, pool: &mut PacketPool) {
        for (owed, parcel) in self.owed.iter_mut().zip(&mut self.out) {
            while *owed > MOST_OWED && !pool.is_empty() {
                parcel.spare.push(pool.take());
                *owed -= 1;
            }
        }
    }

    /// Of the packets that hosts elsewhere have sent, the part of the first one, and its place in
    /// the order.
    #[inline]
    pub fn first_sent(&self) -> Option<(Key, usize)> {
        let fronts = self.sent.iter().enumerate();
        fronts.filter_map(|(part, sent)| Some((sent.front()?.key, part))).min()
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
        border.receive(1, 200);
        (0..50).for_each(|_| assert!(border.send(0, Time::ZERO, Box::default()).is_none()));
        border.give_back(&mut pool);
        assert_eq!(border.out[1].spare.len(), 150 - MOST_OWED as usize);
        border.give_back(&mut pool);
        assert_eq!(border.out[1].spare.len(), 150 - MOST_OWED as usize);
    }
}
