//! DualPI2 against tables of RFC 9332 appendix A: each row is the pseudocode's arithmetic by hand.
//!
//! The disciplines are called directly: `enqueue`, `dequeue` and `on_timer` at given times.

use crate::support::Segment;
use narrows_common::{Bytes, Packet, Time};
use narrows_queueing::{
    Backlog, Discipline, DisciplineConfig, Label, Outcomes, QueueDiscipline, QueueLimit, Queued,
    Randomness, Room,
};

const US: u64 = 1_000_000;
const MS: u64 = 1_000 * US;
/// The default `update`.
const UPDATE: u64 = 16 * MS;
const NOT_ECT: u8 = 0;
const ECT_1: u8 = 1;
const ECT_0: u8 = 2;

/// A queue with the packets that it has been given so far.
struct DualQ {
    queue: Discipline<Packet>,
    out: Outcomes<Packet>,
    number: u64,
}

/// What became of the packet that the scheduler chose.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Sent,
    Marked,
    /// The queue sent no packet.
    Dropped,
}
use Fate::{Dropped, Marked, Sent};

impl DualQ {
    fn new(parameters: &[(&str, f64)]) -> Self {
        let parameters = parameters.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
        let config = DisciplineConfig { name: "dualpi2".to_owned(), parameters };
        let randomness = Randomness::Seeded(narrows_common::Rng::from_seed(1));
        let queue = Discipline::build(&config, randomness).expect("a discipline");
        DualQ { queue, out: Outcomes::default(), number: 0 }
    }

    /// A packet of so many bytes arrives.
    fn come(&mut self, at_ps: u64, ecn: u8, bytes: u64) {
        let segment = Segment { flow: 1, ack: 0, payload: (bytes - 54) as u16, ecn };
        let label = Label { number: self.number, flow: 1, length: Bytes::new(bytes) };
        self.number += 1;
        let now = Time::from_ps(at_ps);
        let packet = Queued {
            packet: segment.frame(),
            label,
            enqueued_at: now,
            depth_before: 0,
            is_marked: false,
        };
        let room = Room { limit: QueueLimit::Packets(10_000), ..Room::UNLIMITED };
        self.queue.enqueue(packet, now, &room, &mut self.out);
    }

    /// The next packet leaves: its number, and whether it is marked.
    fn leave(&mut self, at_ps: u64) -> Option<(u64, bool)> {
        let left = self.queue.dequeue(Time::from_ps(at_ps), &mut self.out)?;
        Some((left.label.number, left.is_marked))
    }

    /// What becomes of the only packet in the queue.
    fn fate(&mut self, at_ps: u64) -> Fate {
        match self.leave(at_ps) {
            Some((_, true)) => Marked,
            Some((_, false)) => Sent,
            None => Dropped,
        }
    }

    fn update(&mut self, at_ps: u64) {
        self.queue.on_timer(Time::from_ps(at_ps));
    }

    /// p'.
    fn base(&self) -> f64 {
        let Discipline::DualPi2(queue) = &self.queue else { panic!("it is a DualPI2 queue") };
        queue.base_probability()
    }

    fn packets(&self) -> u64 {
        let Backlog { packets, .. } = self.queue.backlog();
        packets
    }

    /// Sets p' by one update with alpha = 0: beta x the delay of a packet that waits 10 ms.
    fn with_base(base: f64, parameters: &[(&str, f64)]) -> Self {
        let mut all = vec![("alpha", 0.0), ("beta", base / 0.010)];
        all.extend_from_slice(parameters);
        let mut queue = DualQ::new(&all);
        queue.come(6 * MS, NOT_ECT, 1000);
        queue.update(UPDATE);
        assert!((queue.base() - base).abs() < 1e-12, "{}", queue.base());
        queue.queue.hand_over().expect("the packet that has waited");
        queue
    }
}

/// Figure 6 and 8, line 3: p' = p' + alpha (curq - target) + beta (curq - prevq), with alpha 0.16,
/// beta 3.2, target 15 ms, clamped to 0..1 (appendix A.1). One packet came at 0 and stays.
///
/// | update | curq | alpha (curq - target) | beta (curq - prevq) | p' |
/// |---|---|---|---|---|
/// | 16 ms | 16 ms | 0.16 x 1 ms = 0.00016 | 3.2 x 16 ms = 0.0512 | 0.05136 |
/// | 32 ms | 32 ms | 0.16 x 17 ms = 0.00272 | 0.0512 | 0.10528 |
/// | 48 ms | 48 ms | 0.16 x 33 ms = 0.00528 | 0.0512 | 0.16176 |
/// | 64 ms | 0 | -0.16 x 15 ms = -0.0024 | -3.2 x 48 ms = -0.1536 | 0.00576 |
/// | 80 ms | 0 | -0.0024 | 0 | 0.00336 |
/// | 96 ms | 0 | -0.0024 | 0 | 0.00096 |
/// | 112 ms | 0 | -0.0024 | 0 | 0, clamped |
#[test]
fn figure_6_the_base_probability_follows_the_delay() {
    for ecn in [NOT_ECT, ECT_1] {
        // Figure 8, line 2a: the greater delay drives it, whichever queue has it.
        let mut queue = DualQ::new(&[]);
        queue.come(0, ecn, 1000);
        for (n, expected) in [0.05136, 0.10528, 0.16176].into_iter().enumerate() {
            queue.update((n as u64 + 1) * UPDATE);
            assert!((queue.base() - expected).abs() < 1e-12, "update {n}: {}", queue.base());
        }
        queue.leave(48 * MS).expect("the packet");
        for (n, expected) in [0.00576, 0.00336, 0.00096, 0.0].into_iter().enumerate() {
            queue.update((n as u64 + 4) * UPDATE);
            assert!((queue.base() - expected).abs() < 1e-12, "empty {n}: {}", queue.base());
        }
    }
}

/// Figure 8, line 2a: max(cq.time(), lq.time()). The C packet has waited 2 ms, the L packet 16 ms.
#[test]
fn figure_8_the_longer_delay_counts() {
    let mut queue = DualQ::new(&[]);
    queue.come(0, ECT_1, 1000);
    queue.come(14 * MS, NOT_ECT, 1000);
    queue.update(UPDATE);
    assert!((queue.base() - 0.05136).abs() < 1e-12, "{}", queue.base());
}

/// Figure 5 and lines 5a to 5d of figure 7, with p' = 0: p'_L of a packet that has waited so long.
/// A mark is due once the sum of p_L exceeds 1 (figure 4, lines 24 to 26).
///
/// | delay | p'_L | marked of 8 packets | the sums |
/// |---|---|---|---|
/// | 800 us | 0 | none | at minTh: line 6 |
/// | 900 us | 1/4 | the 5th | 5/4 there; then 1, which is not above 1 |
/// | 1,000 us | 1/2 | the 3rd, 5th and 7th | 3/2, then 1/2 is left |
/// | 1,100 us | 3/4 | the 2nd, 3rd, 5th, 6th and 7th | 6/4, 5/4, (1), 7/4, 6/4, 5/4, (1) |
/// | 1,200 us and more | 1 | all but the 1st | the first sum is 1 |
#[test]
fn figure_5_the_ramp_marks_in_proportion() {
    for (delay_us, expected) in [
        (800, [false; 8]),
        (900, [false, false, false, false, true, false, false, false]),
        (1000, [false, false, true, false, true, false, true, false]),
        (1100, [false, true, true, false, true, true, true, false]),
        (1200, [false, true, true, true, true, true, true, true]),
        (5000, [false, true, true, true, true, true, true, true]),
    ] {
        let mut queue = DualQ::new(&[]);
        let mut marked = [false; 8];
        for (n, is_marked) in marked.iter_mut().enumerate() {
            let at = n as u64 * 10 * MS;
            // A second packet waits, so that the queue is longer than Th_len.
            queue.come(at, ECT_1, 1000);
            queue.come(at, ECT_1, 1000);
            *is_marked = queue.leave(at + delay_us * US).expect("a packet").1;
            // Alone, and so without a native mark (line 5d).
            assert!(!queue.leave(at + delay_us * US).expect("the other").1);
        }
        assert_eq!(marked, expected, "{delay_us} us");
    }
}

/// Figure 7, lines 5a to 5d, and note c of A.1: with a range of 0 the ramp is a step at minTh,
/// which counts as above it (figure 5, line 2).
#[test]
fn a_range_of_zero_is_a_step_at_the_threshold() {
    for (delay_us, expected) in [(799, Sent), (800, Marked), (801, Marked)] {
        let mut queue = DualQ::new(&[("range", 0.0)]);
        // The first step brings the sum to 1, and the next one above it.
        for at in [0, 10 * MS] {
            queue.come(at, ECT_1, 1000);
            queue.come(at, ECT_1, 1000);
            let fate = queue.fate(at + delay_us * US);
            if at > 0 {
                assert_eq!(fate, expected, "{delay_us} us");
            }
            queue.leave(at + delay_us * US);
        }
    }
}

/// Figure 7, with p' given, for single packets that have just come, so that p'_L = 0. k = 2, so
/// p_CL = 2 p', p_C = p'^2, and p_Cmax = 1/4 is reached at p' = 1/2. `n` is the first packet that
/// meets the fate, since the sum must exceed 1.
///
/// | p' | packet | likelihood | n | fate |
/// |---|---|---|---|---|
/// | 0.3 | ECT(1) | p_CL = 0.6 | 2: 1.2 | marked (line 8a) |
/// | 0.4 | not-ECT | p_C = 0.16 | 7: 1.12 | dropped (line 13) |
/// | 0.4 | ECT(0) | p_C = 0.16 | 7 | marked (line 16) |
/// | 0.6 | ECT(0) | p_C = 0.36 | 3: 1.08 | dropped: overload (line 12b) |
/// | 0.5 | ECT(0) | p_C = 0.25 | 5: 1.25 | dropped: p_C reaches p_Cmax |
/// | 0.49 | ECT(0) | p_C = 0.2401 | 5: 1.2005 | marked: below p_Cmax |
#[test]
fn figure_7_what_meets_each_kind_of_packet() {
    for (base, ecn, first, expected) in [
        (0.3, ECT_1, 2, Marked),
        (0.4, NOT_ECT, 7, Dropped),
        (0.4, ECT_0, 7, Marked),
        (0.6, ECT_0, 3, Dropped),
        (0.5, ECT_0, 5, Dropped),
        (0.49, ECT_0, 5, Marked),
    ] {
        let mut queue = DualQ::with_base(base, &[]);
        for n in 1..=first {
            let at = UPDATE + n * US;
            queue.come(at, ecn, 1000);
            let fate = if n == first { expected } else { Sent };
            assert_eq!(queue.fate(at), fate, "p' = {base}, ECN {ecn}, packet {n}");
        }
    }
}

/// Figure 7, lines 8b to 8i: p' = 0.6, so p_CL = 1.2 is at least p_Lmax = 1. Each L packet adds
/// p_C = 0.36 to lq.count and is dropped if it then exceeds 1; otherwise it is marked, which adds
/// and takes 1.
///
/// | packet | count + 0.36 | fate |
/// |---|---|---|
/// | 1 | 0.36 | marked |
/// | 2 | 0.72 | marked |
/// | 3 | 1.08 | dropped, 0.08 left |
/// | 4 | 0.44 | marked |
/// | 5 | 0.80 | marked |
/// | 6 | 1.16 | dropped, 0.16 left |
#[test]
fn figure_7_overload_drops_scalable_packets_too() {
    let mut queue = DualQ::with_base(0.6, &[]);
    let fates: Vec<Fate> = (1..=6)
        .map(|n| {
            queue.come(UPDATE + n * US, ECT_1, 1000);
            queue.fate(UPDATE + n * US)
        })
        .collect();
    assert_eq!(fates, [Marked, Marked, Dropped, Marked, Marked, Dropped]);
}

/// Figure 2, line 11: p_Cmax = min(1/k^2, 1). With k = 0.5 it is 1 and not 4: classic ECN goes on
/// at p' = 0.9 (p_C = 0.81) and ends at p' = 1. With k = 4 it is 1/16, reached at p' = 1/4.
#[test]
fn figure_2_the_coupling_sets_where_classic_ecn_ends() {
    for (coupling, base, expected) in
        [(0.5, 0.9, Marked), (0.5, 1.0, Dropped), (4.0, 0.24, Marked), (4.0, 0.25, Dropped)]
    {
        let mut queue = DualQ::with_base(base, &[("coupling", coupling)]);
        let fate = (1..100)
            .map(|n| {
                queue.come(UPDATE + n * US, ECT_0, 1000);
                queue.fate(UPDATE + n * US)
            })
            .find(|&fate| fate != Sent);
        assert_eq!(fate, Some(expected), "k = {coupling}, p' = {base}");
    }
}

/// Figure 3, line 6: the last bit of the ECN field chooses the queue. With a share of 0 the L queue
/// has strict priority, so the order of departures tells the queues: ECT(1) and CE first.
#[test]
fn figure_3_the_last_bit_chooses_the_queue() {
    let mut queue = DualQ::new(&[("classic-share", 0.0)]);
    (0..4).for_each(|ecn| queue.come(0, ecn, 1000));
    let left: Vec<u64> = (0..4).map(|_| queue.leave(0).expect("a packet").0).collect();
    assert_eq!(left, [1, 3, 0, 2]);
    assert_eq!(queue.packets(), 0);
}

/// Section 4.2.2: with a weight of 1/16 a classic packet at the head waits for 15 L packets of its
/// size; then it has its turn in 16 packets.
#[test]
fn section_4_2_2_a_classic_head_waits_for_fifteen_packets() {
    let mut queue = DualQ::new(&[("classic-share", 1.0 / 16.0), ("min-th", 1e13)]);
    (0..64).for_each(|n| queue.come(0, if n < 4 { NOT_ECT } else { ECT_1 }, 1500));
    let classic: Vec<usize> =
        (1..=60).filter(|_| queue.leave(0).expect("a packet").0 < 4).collect();
    assert_eq!(classic, [16, 32, 48]);
}

/// Appendix A.1: the credit changes only while both queues wait, so an L packet that comes while
/// only classic ones wait is the next to leave.
#[test]
fn appendix_a_1_a_paced_scalable_packet_does_not_wait() {
    let mut queue = DualQ::new(&[]);
    (0..50).for_each(|_| queue.come(0, NOT_ECT, 1000));
    for n in 0..5 {
        for _ in 0..5 {
            assert!(queue.leave(n * MS).expect("a packet").0 < 50, "only classic ones wait");
        }
        queue.come(n * MS, ECT_1, 1000);
        assert_eq!(queue.leave(n * MS).expect("a packet").0, 50 + n);
    }
}
