//! Packets in flight in few directions: a queue for each direction, and a tournament tree that
//! finds the queue whose first packet arrives first (D. E. Knuth, The Art of Computer Programming
//! 3, section 5.4.1).
//!
//! A link delivers packets in the order in which they were sent, so most packets join the end of
//! their queue, and only its first one plays in the tree. Packets of a link with jitter may
//! overtake others. The cost of a packet grows with the logarithm of the number of directions.

use std::collections::VecDeque;

use narrows_common::prefetch::{prefetch, prefetch_slice};
use narrows_common::{Packet, Time};

use super::upcoming::PARSED_BYTES;

/// The most directions of a [`FifoMerge`].
pub const MAX_DIRECTIONS: usize = 64;
/// The most nodes of the tree, a power of two: an index modulo it needs no check.
const NODES: usize = 2 * MAX_DIRECTIONS.next_power_of_two();

/// The arrival of a direction's first packet, and the direction, as one number: the arrival's bits
/// come first. So of two the smaller one comes first.
type Rank = u128;

fn rank(at: Time, direction: usize) -> Rank {
    Rank::from(at.as_ps()) << u64::BITS | direction as Rank
}

/// Packets in flight.
#[derive(Debug)]
pub struct FifoMerge {
    /// By direction, in the order of arrival.
    queues: Vec<VecDeque<(Time, Box<Packet>)>>,
    /// A complete binary tree. Its root is node 1, and the children of node n are nodes 2n and
    /// 2n + 1. Its leaves are the directions, in the second half; a direction without packets
    /// arrives at [`Time::MAX`]. Each other node has the lesser rank of its children.
    tree: Box<[Rank; NODES]>,
    /// The number of leaves; the tree's other nodes are not in use.
    leaves: usize,
}

impl FifoMerge {
    /// Nothing is in flight in so many directions, at most [`MAX_DIRECTIONS`].
    pub fn new(directions: usize) -> Self {
        assert!(directions <= MAX_DIRECTIONS, "{directions} directions");
        let leaves = directions.next_power_of_two();
        let mut merge = FifoMerge {
            queues: (0..directions).map(|_| VecDeque::new()).collect(),
            tree: Box::new([rank(Time::MAX, leaves); NODES]),
            leaves,
        };
        (0..directions).for_each(|direction| merge.replay(direction, Time::MAX));
        merge
    }

    /// Sends a packet that arrives at the far end of a direction `at` this instant.
    #[inline]
    pub fn send(&mut self, direction: usize, at: Time, packet: Box<Packet>) {
        let queue = &mut self.queues[direction];
        match queue.back() {
            None => {
                queue.push_back((at, packet));
                self.advance(direction, at);
            }
            Some(&(last, _)) if last <= at => queue.push_back((at, packet)),
            Some(_) => self.overtake(direction, at, packet),
        }
    }

    /// Sends a packet that arrives before others of its direction.
    #[cold]
    fn overtake(&mut self, direction: usize, at: Time, packet: Box<Packet>) {
        let queue = &mut self.queues[direction];
        let place = queue.partition_point(|&(other, _)| other <= at);
        queue.insert(place, (at, packet));
        if place == 0 {
            self.advance(direction, at);
        }
    }

    /// When the next packet arrives; [`Time::MAX`] when none is in flight.
    #[inline]
    pub fn poll_timeout(&self) -> Time {
        Time::from_ps((self.tree[1] >> u64::BITS) as u64)
    }

    /// The direction of the next packet, if any is in flight.
    #[inline]
    pub fn next_direction(&self) -> Option<usize> {
        (self.poll_timeout() < Time::MAX).then_some(self.tree[1] as usize)
    }

    /// The packet that arrives first: its time, its direction and itself.
    #[inline]
    pub fn poll_receive(&mut self) -> Option<(Time, usize, Box<Packet>)> {
        let direction = self.next_direction()?;
        let queue = &mut self.queues[direction];
        let (at, packet) = queue.pop_front()?;
        let next = queue.front().map_or(Time::MAX, |(next, packet)| {
            prefetch_slice(&packet.data, PARSED_BYTES);
            *next
        });
        if let Some((_, second)) = queue.get(1) {
            prefetch(&**second);
        }
        self.replay(direction, next);
        Some((at, direction, packet))
    }

    /// A direction's first packet arrives sooner than before: it wins matches up to the first node
    /// that is sooner still.
    #[inline]
    fn advance(&mut self, direction: usize, at: Time) {
        let winner = rank(at, direction);
        let mut node = self.leaves + direction;
        while node > 0 && winner < self.tree[node % NODES] {
            self.tree[node % NODES] = winner;
            node /= 2;
        }
    }

    /// A direction's first packet arrives later than before: plays all its matches again.
    #[inline]
    fn replay(&mut self, direction: usize, at: Time) {
        let mut node = self.leaves + direction;
        let mut winner = rank(at, direction);
        self.tree[node % NODES] = winner;
        while node > 1 {
            winner = winner.min(self.tree[(node ^ 1) % NODES]);
            node /= 2;
            self.tree[node % NODES] = winner;
        }
    }
}
