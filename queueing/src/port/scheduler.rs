//! Which of a port's queues sends next: strict priorities first, then weights, each with a rate.
//!
//! Queues without a weight are strict: the first that waits is served, before all with a weight.
//! Those share what is left in proportion to their weights, by deficit round robin in bytes as sent
//! (Shreedhar and Varghese, SIGCOMM 1995). A turn may overdraw its deficit by one packet and pays
//! it back in the next (surplus round robin: Adiseshu, Parulkar and Varghese, SIGCOMM 1996), since
//! the length that egress leaves of a packet is known only as it is sent.
//!
//! A queue's rate is an exact serializer with a burst of one frame: its next packet waits until the
//! one before would have ended at that rate, and the queues after it are served meanwhile. The
//! burst gives back the time for which another queue's packet held the port up.

use crate::disciplines::DisciplineConfig;
use crate::limit::QueueLimit;
use narrows_common::{PS_PER_S, Packet, Rate, Serializer, Time};
use schemars::JsonSchema;
use serde::Deserialize;

/// What one of several queues of a port has of its own.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueConfig {
    /// Code points (DSCP) of the packets that it takes, if the program gives them no priority. The
    /// last queue takes all others.
    #[serde(default)]
    pub dscp: Vec<u8>,
    /// Its share among the queues with a weight; without one it is served before them.
    #[serde(default)]
    pub weight: Option<u16>,
    /// The most that it sends, in bits per second.
    #[serde(default)]
    pub rate_bps: Option<u64>,
    /// Its limit, if it differs from the port's.
    #[serde(default)]
    pub limit: Option<QueueLimit>,
    /// Its discipline, if it differs from the port's.
    #[serde(default)]
    pub discipline: Option<DisciplineConfig>,
}

impl QueueConfig {
    /// Checks its code points, weight and rate.
    ///
    /// # Errors
    /// What is wrong, and what was expected.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        if self.dscp.iter().any(|&code| code > 63) {
            return Err("dscp: expected code points from 0 to 63");
        }
        check_share(self.weight, self.rate_bps)
    }
}

/// Checks a queue's weight and rate.
fn check_share(weight: Option<u16>, rate_bps: Option<u64>) -> Result<(), &'static str> {
    match (weight, rate_bps) {
        (Some(0), _) => Err("weight is 0: expected 1 to 65535"),
        (_, Some(0)) => Err("rate_bps is 0: expected a rate above zero"),
        _ => Ok(()),
    }
}

impl QueueShare {
    /// Checks its weight and rate.
    ///
    /// # Errors
    /// What is wrong, and what was expected.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        check_share(self.weight, self.rate_bps)
    }

    /// The weight in place of one in force; `None` for strict priority, which stays.
    ///
    /// # Errors
    /// If there is no weight in force.
    pub(crate) fn weight_over(&self, in_force: Option<u16>) -> Result<u16, &'static str> {
        let before = in_force.ok_or("it has strict priority: expected a queue with a weight")?;
        Ok(self.weight.unwrap_or(before))
    }
}

/// A change of one queue's share of its port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueShare {
    /// The queue's number at the port, 0 the first served.
    pub queue: u8,
    /// Its new weight.
    #[serde(default)]
    pub weight: Option<u16>,
    /// Its new rate in bits per second.
    #[serde(default)]
    pub rate_bps: Option<u64>,
}

/// Bytes of a turn for each unit of weight: the longest frame, so that a turn is never empty.
const QUANTUM: i64 = 1514;

/// What the scheduler says of a port that could send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// This queue's.
    Queue(usize),
    /// No queue's before this time: those that wait have used up their rates.
    Held(Time),
    /// No queue waits.
    Nobody,
}

/// One queue's share.
#[derive(Debug)]
struct Share {
    weight: Option<u16>,
    shaper: Option<Serializer>,
    /// Bytes that it may still send in its turn; below 0 it has overdrawn.
    deficit: i64,
}

impl Share {
    /// When its rate lets it send again.
    fn ready_at(&self) -> Time {
        self.shaper.as_ref().map_or(Time::ZERO, Serializer::free_at)
    }
}

/// The scheduler of a port whose queues differ.
#[derive(Debug)]
pub(crate) struct Scheduler {
    shares: Vec<Share>,
    /// The queue that has its turn among those with a weight.
    turn: usize,
    /// The queue of each code point.
    by_dscp: [u8; 64],
}

impl Scheduler {
    /// The scheduler of queues with these settings; at least one, checked by the port.
    pub(crate) fn new(queues: &[QueueConfig]) -> Self {
        let mut by_dscp = [queues.len() as u8 - 1; 64];
        for (n, queue) in queues.iter().enumerate() {
            queue.dscp.iter().for_each(|&code| by_dscp[usize::from(code)] = n as u8);
        }
        let share = |queue: &QueueConfig| Share {
            weight: queue.weight,
            shaper: queue.rate_bps.map(|bps| Serializer::new(Rate::from_bps(bps))),
            deficit: 0,
        };
        Scheduler { shares: queues.iter().map(share).collect(), turn: 0, by_dscp }
    }

    /// The queue of a packet, by its code point.
    pub(crate) fn queue_of(&self, packet: &Packet) -> usize {
        usize::from(self.by_dscp[usize::from(dscp(packet))])
    }

    /// When the queue may send again, and its rate; `None` without a rate of its own.
    pub(crate) fn shaper(&self, queue: usize) -> Option<&Serializer> {
        self.shares[queue].shaper.as_ref()
    }

    /// Whose turn it is at `now`; `waits` says whether a queue has packets.
    pub(crate) fn next(&mut self, now: Time, waits: impl Fn(usize) -> bool) -> Turn {
        let mut held: Option<Time> = None;
        let mut has_candidate = false;
        for (n, share) in self.shares.iter().enumerate() {
            if !waits(n) {
                continue;
            }
            match (share.ready_at(), share.weight) {
                (at, _) if at > now => held = Some(held.map_or(at, |other| other.min(at))),
                (_, None) => return Turn::Queue(n),
                (_, Some(_)) => has_candidate = true,
            }
        }
        match (has_candidate, held) {
            (true, _) => Turn::Queue(self.weighted(now, waits)),
            (false, Some(at)) => Turn::Held(at),
            (false, None) => Turn::Nobody,
        }
    }

    /// The queue with a weight whose turn it is; one of them can send.
    fn weighted(&mut self, now: Time, waits: impl Fn(usize) -> bool) -> usize {
        let can_send =
            |n: usize, share: &Share| share.weight.is_some() && waits(n) && share.ready_at() <= now;
        loop {
            let share = &mut self.shares[self.turn];
            if can_send(self.turn, share) && share.deficit > 0 {
                return self.turn;
            }
            if !waits(self.turn) {
                // An empty queue keeps its debt but no credit.
                share.deficit = share.deficit.min(0);
            }
            self.turn = (self.turn + 1) % self.shares.len();
            let share = &mut self.shares[self.turn];
            if can_send(self.turn, share) {
                share.deficit += QUANTUM * i64::from(share.weight.unwrap_or(0));
            }
        }
    }

    /// A queue sends so many bytes from `now` on.
    pub(crate) fn count_sent(&mut self, queue: usize, now: Time, bytes: u64) {
        let share = &mut self.shares[queue];
        if share.weight.is_some() {
            share.deficit -= bytes as i64;
        }
        if let Some(shaper) = &mut share.shaper {
            let frame_ps = QUANTUM as u64 * 8 * PS_PER_S / shaper.rate().as_bps();
            let begin = Time::from_ps(now.as_ps().saturating_sub(frame_ps));
            shaper.send(begin, bytes * 8);
        }
    }

    /// Changes a queue's weight or rate; what it has overdrawn stays.
    ///
    /// # Errors
    /// A weight for a queue of strict priority.
    pub(crate) fn set(&mut self, change: QueueShare) -> Result<(), &'static str> {
        let share = &mut self.shares[usize::from(change.queue)];
        if change.weight.is_some() {
            share.weight = Some(change.weight_over(share.weight)?);
        }
        if let Some(rate) = change.rate_bps.map(Rate::from_bps) {
            match &mut share.shaper {
                Some(shaper) => shaper.set_rate(rate),
                none => *none = Some(Serializer::new(rate)),
            }
        }
        Ok(())
    }
}

/// The code point of a packet (RFC 2474); 0 if it is not IP.
fn dscp(packet: &Packet) -> u8 {
    match packet.data.get(12..16) {
        Some([8, 0, _, tos]) => tos >> 2,
        Some([0x86, 0xdd, version, class]) => (version << 4 | class >> 4) >> 2,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(weight: Option<u16>, rate_bps: Option<u64>) -> QueueConfig {
        QueueConfig { weight, rate_bps, ..QueueConfig::default() }
    }

    /// Packets that each queue sends, of the given bytes, when all always wait.
    fn sent(scheduler: &mut Scheduler, bytes: &[u64], turns: usize) -> Vec<usize> {
        let mut counts = vec![0; bytes.len()];
        for _ in 0..turns {
            let Turn::Queue(n) = scheduler.next(Time::ZERO, |_| true) else { panic!("all wait") };
            scheduler.count_sent(n, Time::ZERO, bytes[n]);
            counts[n] += 1;
        }
        counts
    }

    #[test]
    fn weights_share_bytes_and_not_packets() {
        let mut scheduler = Scheduler::new(&[queue(Some(3), None), queue(Some(1), None)]);
        // 1,514 B against 757 B: three times the bytes are 1.5 times the packets.
        let counts = sent(&mut scheduler, &[1514, 757], 5000);
        assert_eq!(counts, [3000, 2000]);
    }

    #[test]
    fn a_strict_queue_is_served_before_any_weight() {
        let mut scheduler = Scheduler::new(&[queue(None, None), queue(Some(9), None)]);
        assert_eq!(scheduler.next(Time::ZERO, |_| true), Turn::Queue(0));
        assert_eq!(scheduler.next(Time::ZERO, |n| n == 1), Turn::Queue(1));
        assert_eq!(scheduler.next(Time::ZERO, |_| false), Turn::Nobody);
    }

    #[test]
    fn a_queue_at_its_rate_lets_the_others_send() {
        let mut scheduler = Scheduler::new(&[queue(None, Some(8_000_000)), queue(Some(1), None)]);
        let us = |us: u64| Time::from_ps(us * 1_000_000);
        // 1,000 B at 8 Mb/s: a millisecond.
        scheduler.count_sent(0, us(0), 1000);
        assert_eq!(scheduler.next(us(999), |_| true), Turn::Queue(1));
        assert_eq!(scheduler.next(us(999), |n| n == 0), Turn::Held(us(1000)));
        assert_eq!(scheduler.next(us(1000), |_| true), Turn::Queue(0));
    }

    #[test]
    fn code_points_choose_queues_and_the_last_takes_the_rest() {
        let first = QueueConfig { dscp: vec![46, 34], ..QueueConfig::default() };
        let scheduler = Scheduler::new(&[first, QueueConfig::default()]);
        let packet = |bytes: [u8; 4]| {
            let mut data = vec![0; 54];
            data[12..16].copy_from_slice(&bytes);
            Packet { data, ..Packet::default() }
        };
        // 46 and 34 are 0xb8 and 0x88 with the ECN bits clear.
        for (bytes, expected) in [
            ([8, 0, 0x45, 0xb9], 0),
            ([8, 0, 0x45, 0x88], 0),
            ([8, 0, 0x45, 0], 1),
            ([0x86, 0xdd, 0x6b, 0x80], 0),
            ([0x86, 0xdd, 0x60, 0], 1),
            ([8, 6, 0, 0xb8], 1),
        ] {
            assert_eq!(scheduler.queue_of(&packet(bytes)), expected, "{bytes:x?}");
        }
    }
}
