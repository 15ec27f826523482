//! What passes between the parts of a network, and the rows that a part keeps.

pub(crate) mod held_rows;
pub(crate) mod order;

use std::collections::VecDeque;
use std::sync::Arc;

use narrows_common::{Packet, Rate, Time};

use crate::record::recorder::Wanted;
use held_rows::HeldRow;
use order::Key;

/// A packet in flight that arrives in another part.
#[derive(Debug)]
pub(crate) struct Crossing {
    pub direction: usize,
    pub at: Time,
    pub packet: Packet,
}

/// A packet that a host sent, whose access link is in another part.
#[derive(Debug)]
pub(crate) struct Sent {
    pub key: Key,
    pub host: usize,
    pub packet: Packet,
}

/// What a part has for another part.
#[derive(Debug)]
pub(crate) struct Parcel {
    pub crossings: Vec<Crossing>,
    pub sent: Vec<Sent>,
}

impl Parcel {
    pub const EMPTY: Parcel = Parcel { crossings: vec![], sent: vec![] };

    pub fn is_empty(&self) -> bool {
        self.crossings.is_empty() && self.sent.is_empty()
    }

    /// Takes all of another one, which is later.
    pub fn append(&mut self, other: &mut Parcel) {
        if self.is_empty() {
            return std::mem::swap(self, other);
        }
        self.crossings.append(&mut other.crossings);
        self.sent.append(&mut other.sent);
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
            out: (0..parts).map(|_| Parcel::EMPTY).collect(),
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
    pub fn send(&mut self, direction: usize, at: Time, packet: Packet) -> Option<Packet> {
        let part = self.parts_of.directions[direction];
        if part == self.own {
            return Some(packet);
        }
        self.out[part].crossings.push(Crossing { direction, at, packet });
        None
    }

    /// Takes a packet of a host, whose access link is in another part.
    #[inline]
    pub fn leave_host(&mut self, host: usize, packet: Packet) {
        let sent = Sent { key: self.key, host, packet };
        self.out[self.parts_of.access[host]].sent.push(sent);
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
