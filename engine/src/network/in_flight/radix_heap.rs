//! Packets in flight in many directions: a radix heap (Ahuja, Mehlhorn, Orlin and Tarjan: Faster
//! Algorithms for the Shortest Path Problem, J. ACM 37(2), 1990) with digits of twelve bits.
//!
//! Time never goes back, so a packet is sorted among others only when it is nearly due. Its bucket
//! is the highest digit in which its arrival differs from the current instant, and the value of
//! that digit. Opening that bucket moves the packet to a lower one: once on a path of 50 ms. A
//! bucket of the lowest level spans a microsecond and seldom holds more than one packet. It is
//! sorted, if necessary, when its turn comes. The cost of a packet depends on how far ahead it is
//! sent, not on the number of links.

use narrows_common::prefetch::{prefetch, prefetch_slice};
use narrows_common::{Packet, Time};

use super::upcoming::{AHEAD, PARSED_BYTES, Upcoming};

/// Bits of an instant within a bucket of the lowest level: 2^20 ps are 1.05 us.
const BUCKET_BITS: u32 = 20;
/// Bits of a digit: those that select a word, plus those that select a bit within the word.
const DIGIT_BITS: u32 = 2 * WORD_BITS.ilog2();
/// Buckets of a level.
const DIGITS: usize = 1 << DIGIT_BITS;
/// Digits of an instant.
const LEVELS: usize = (u64::BITS - BUCKET_BITS).div_ceil(DIGIT_BITS) as usize;
const WORD_BITS: usize = u64::BITS as usize;
/// No slot.
const NONE: u32 = u32::MAX;

/// A packet in flight, known by the number of its slot: half a cache line.
#[derive(Debug)]
#[repr(C, align(32))]
struct Slot {
    at: Time,
    direction: u32,
    /// The next slot of its bucket or of the free list.
    next: u32,
    /// `None` in a free slot.
    packet: Option<Box<Packet>>,
}

impl Slot {
    /// The order in which packets arrive.
    fn rank(&self) -> (Time, u32) {
        (self.at, self.direction)
    }
}

/// Arrivals that differ from the current instant in this digit and in none above.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    earliest: Time,
    /// The ends of the list, in sending order until the list is sorted.
    front: u32,
    back: u32,
}

impl Bucket {
    const EMPTY: Bucket = Bucket { earliest: Time::MAX, front: NONE, back: NONE };
}

/// Packets in flight.
#[derive(Debug)]
pub struct RadixHeap {
    /// When the next packet arrives.
    due: Time,
    /// The bucket that holds it.
    first: usize,
    /// The instant at which a bucket was last opened, without its bits inside a bucket.
    reached: u64,
    /// The first free slot.
    free: u32,
    slots: Vec<Slot>,
    /// By level and digit.
    buckets: Vec<Bucket>,
    /// One bit for each nonzero word of `filled`, one word per level.
    levels: [u64; LEVELS],
    /// One bit for each nonempty bucket.
    filled: [u64; LEVELS * DIGITS / WORD_BITS],
    /// One bit for each bucket of the lowest level that needs sorting.
    unsorted: [u64; DIGITS / WORD_BITS],
    /// The slots of the bucket being sorted.
    sorted: Vec<u32>,
    looks_ahead: bool,
    upcoming: Upcoming,
}

impl RadixHeap {
    /// Nothing is in flight at the beginning of a run.
    pub fn new(looks_ahead: bool) -> Self {
        RadixHeap {
            due: Time::MAX,
            first: 0,
            reached: 0,
            free: NONE,
            slots: Vec::new(),
            buckets: vec![Bucket::EMPTY; LEVELS * DIGITS],
            levels: [0; LEVELS],
            filled: [0; LEVELS * DIGITS / WORD_BITS],
            unsorted: [0; DIGITS / WORD_BITS],
            sorted: Vec::new(),
            looks_ahead,
            upcoming: Upcoming::default(),
        }
    }

    /// True if it asks for the memory of the packets that arrive soon, and knows their directions.
    #[inline]
    pub fn looks_ahead(&self) -> bool {
        self.looks_ahead
    }

    /// Sends a packet that arrives at the far end of a direction `at` this instant.
    pub fn send(&mut self, direction: usize, at: Time, packet: Box<Packet>) {
        let sent = Slot { at, direction: direction as u32, next: NONE, packet: Some(packet) };
        let mut slot = self.free;
        if let Some(free) = self.slots.get_mut(slot as usize) {
            self.free = free.next;
            *free = sent;
        } else {
            slot = self.slots.len() as u32;
            self.slots.push(sent);
        }
        let bucket = self.put(slot, (at, direction as u32));
        if at < self.due {
            (self.due, self.first) = (at, bucket);
        }
    }

    /// When the next packet arrives; [`Time::MAX`] when none is in flight.
    #[inline]
    pub fn poll_timeout(&self) -> Time {
        self.due
    }

    /// The packet that arrives first: its time, its direction and itself.
    #[inline]
    pub fn poll_receive(&mut self) -> Option<(Time, usize, Box<Packet>)> {
        self.ready();
        let bucket = &mut self.buckets[self.first];
        let number = bucket.front;
        let slot = self.slots.get_mut(number as usize)?;
        let (at, direction, next) = (slot.at, slot.direction as usize, slot.next);
        let packet = slot.packet.take()?;
        slot.next = std::mem::replace(&mut self.free, number);
        if let Some(next_slot) = self.slots.get(next as usize) {
            self.due = next_slot.at;
            bucket.earliest = self.due;
            bucket.front = next;
            if let Some(packet) = &next_slot.packet {
                prefetch_slice(&packet.data, PARSED_BYTES);
            }
        } else {
            self.empty(self.first);
            self.seek();
        }
        if self.looks_ahead {
            self.look_ahead(number);
        }
        Some((at, direction, packet))
    }

    /// The direction of the packet that [`RadixHeap::poll_receive`] returns next.
    pub fn next_direction(&mut self) -> Option<usize> {
        self.ready();
        let slot = self.slots.get(self.buckets[self.first].front as usize)?;
        Some(slot.direction as usize)
    }

    /// Brings the first packet to the front of a bucket of the lowest level.
    #[inline]
    fn ready(&mut self) {
        if self.first >= DIGITS {
            self.open(self.first);
        }
        if self.unsorted[self.first / WORD_BITS] >> (self.first % WORD_BITS) & 1 != 0 {
            self.sort(self.first);
        }
    }

    /// Looks further ahead after a packet has left its slot. Asks for the bucket and the slot of
    /// the packets behind those seen, then for the packet of the slot, and then for its bytes.
    #[inline]
    fn look_ahead(&mut self, left: u32) {
        if self.upcoming.is_empty() {
            self.upcoming.bucket = Some(self.first).filter(|&first| first < DIGITS);
        } else if !self.upcoming.take(left) {
            return;
        }
        while let Some(bucket) = self.upcoming.bucket.filter(|_| !self.upcoming.is_full()) {
            let slot = self.buckets[bucket].front;
            // Nothing is in flight.
            let Some(seen) = self.slots.get(slot as usize) else { break };
            prefetch(seen);
            self.upcoming.push(slot);
            self.upcoming.bucket = self.filled_after(bucket);
            if let Some(next) = self.upcoming.bucket {
                prefetch(&self.buckets[next]);
            }
        }
        if let Some(packet) = self.upcoming_packet(AHEAD - 2) {
            prefetch(packet);
        }
        if let Some(packet) = self.upcoming_packet(AHEAD - 3) {
            prefetch_slice(&packet.data, PARSED_BYTES);
        }
    }

    /// A packet that arrives soon, so many places ahead.
    #[inline]
    fn upcoming_packet(&self, ahead: usize) -> Option<&Packet> {
        self.slots.get(self.upcoming.get(ahead)? as usize)?.packet.as_deref()
    }

    /// The direction of a packet that arrives soon, so many places ahead; it may be another one.
    #[inline]
    pub fn upcoming(&self, ahead: usize) -> Option<usize> {
        let slot = self.slots.get(self.upcoming.get(ahead)? as usize)?;
        Some(slot.direction as usize)
    }

    /// The next nonempty bucket of the lowest level.
    #[inline]
    fn filled_after(&self, bucket: usize) -> Option<usize> {
        // All bits above this one.
        let above = |bit: usize| (!0u64 << (bit % WORD_BITS)) << 1;
        let word = bucket / WORD_BITS;
        let bits = self.filled[word] & above(bucket);
        if bits != 0 {
            return Some(word * WORD_BITS + bits.trailing_zeros() as usize);
        }
        let words = self.levels[0] & above(word);
        let word = (words != 0).then(|| words.trailing_zeros() as usize)?;
        Some(word * WORD_BITS + self.filled[word].trailing_zeros() as usize)
    }

    /// The bucket for arrivals at this instant.
    fn bucket_of(&self, at: Time) -> usize {
        let number = at.as_ps() >> BUCKET_BITS;
        debug_assert!(self.reached <= number, "{at} is past");
        let level = (number ^ self.reached | 1).ilog2() / DIGIT_BITS;
        let digit = number >> (level * DIGIT_BITS) & (DIGITS as u64 - 1);
        level as usize * DIGITS + digit as usize
    }

    /// Appends a slot to the bucket of its rank, after those sent before; returns the bucket.
    fn put(&mut self, slot: u32, rank: (Time, u32)) -> usize {
        let number = self.bucket_of(rank.0);
        self.filled[number / WORD_BITS] |= 1 << (number % WORD_BITS);
        self.levels[number / DIGITS] |= 1 << (number / WORD_BITS % WORD_BITS);
        let bucket = &mut self.buckets[number];
        bucket.earliest = bucket.earliest.min(rank.0);
        match self.slots.get_mut(bucket.back as usize) {
            Some(last) => {
                if number < DIGITS && last.rank() > rank {
                    self.unsorted[number / WORD_BITS] |= 1 << (number % WORD_BITS);
                }
                last.next = slot;
            }
            None => bucket.front = slot,
        }
        bucket.back = slot;
        number
    }

    /// Sorts the arrivals of a bucket; equal ranks keep their sending order.
    #[cold]
    fn sort(&mut self, bucket: usize) {
        self.unsorted[bucket / WORD_BITS] &= !(1 << (bucket % WORD_BITS));
        let bucket = &mut self.buckets[bucket];
        self.sorted.clear();
        let mut next = bucket.front;
        while let Some(slot) = self.slots.get(next as usize) {
            self.sorted.push(next);
            next = slot.next;
        }
        self.sorted.sort_by_key(|&slot| self.slots[slot as usize].rank());
        bucket.back = self.sorted.last().copied().unwrap_or(NONE);
        bucket.front = NONE;
        for &slot in self.sorted.iter().rev() {
            self.slots[slot as usize].next = std::mem::replace(&mut bucket.front, slot);
        }
    }

    /// Opens a bucket above the lowest level, the first nonempty one, and moves its arrivals into
    /// lower ones.
    fn open(&mut self, bucket: usize) {
        let opened = self.empty(bucket);
        self.reached = opened.earliest.as_ps() >> BUCKET_BITS;
        let mut next = opened.front;
        while let Some(slot) = self.slots.get_mut(next as usize) {
            let rank = slot.rank();
            let number = std::mem::replace(&mut next, std::mem::replace(&mut slot.next, NONE));
            self.put(number, rank);
        }
        self.seek();
    }

    fn empty(&mut self, bucket: usize) -> Bucket {
        let word = &mut self.filled[bucket / WORD_BITS];
        *word &= !(1 << (bucket % WORD_BITS));
        if *word == 0 {
            self.levels[bucket / DIGITS] &= !(1 << (bucket / WORD_BITS % WORD_BITS));
        }
        std::mem::replace(&mut self.buckets[bucket], Bucket::EMPTY)
    }

    /// Finds the next packet: the first nonempty bucket of the lowest level.
    fn seek(&mut self) {
        let level = self.levels.iter().position(|&words| words != 0);
        self.first = level.map_or(0, |level| {
            let word = level * WORD_BITS + self.levels[level].trailing_zeros() as usize;
            word * WORD_BITS + self.filled[word].trailing_zeros() as usize
        });
        self.due = self.buckets[self.first].earliest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets of different directions, one a bucket: all that come next are known.
    #[test]
    fn the_next_packets_are_known_ahead() {
        let mut in_flight = RadixHeap::new(true);
        for number in 0..20 {
            in_flight.send(number, Time::from_ps((number as u64) << 24), Box::default());
        }
        for number in 0..20 {
            assert_eq!(in_flight.poll_receive().map(|(_, direction, _)| direction), Some(number));
            let known: Vec<_> = (0..AHEAD).map_while(|ahead| in_flight.upcoming(ahead)).collect();
            let expected: Vec<_> = (number + 1..20).take(AHEAD).collect();
            assert_eq!(known, expected, "after packet {number}");
        }
    }

    #[test]
    fn packets_after_an_idle_time_are_known_ahead() {
        let mut in_flight = RadixHeap::new(true);
        let at = |number: u64| Time::from_ps(number << 24);
        in_flight.send(0, at(0), Box::default());
        assert!(in_flight.poll_receive().is_some());
        in_flight.send(1, at(1), Box::default());
        in_flight.send(2, at(2), Box::default());
        assert!(in_flight.poll_receive().is_some());
        assert_eq!(in_flight.upcoming(0), Some(2));
    }
}
