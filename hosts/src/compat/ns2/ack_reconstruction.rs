//! ACK reconstruction: after a slow return path, spreads the remaining ACKs out again.
//!
//! Source: ns-2.35 AckRecons (tcp/ack-recons.cc), after Balakrishnan, Padmanabhan and Katz, MobiCom
//! 1997 (RFC 3449 section 5.2.4). It is a node in front of the sender. An ACK that advances by more
//! than `THRESHOLD` segments is split into one ACK for every `EVERY` segments. They are spread
//! evenly over the gap between the last two ACKs (`adaptive_` 0), or follow at the mean gap between
//! received ACKs (`adaptive_` 1). Duplicates pass immediately, except the first one while other
//! ACKs wait, which counts as a repetition. ACKs after a duplicate pass too, until one advances.
//!
//! Constants: `deltaAckThresh_` 2, `delack_` 2, `alpha_` 1/4, `ackInterArr_` 10 ms before any gap.
//! A segment has the longest payload that the sender has sent. A reconstructed ACK is a copy of the
//! original, including timestamps, with another number. ns-2's senders take no round-trip sample
//! from it, because the simulator flags it; no field of a real segment can. So a sample includes
//! the time that the ACK waited here.

use crate::wire::addr::Endpoint;
use crate::wire::segment::{self, Flags};
use narrows_common::{Duration, Packet, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const THRESHOLD: u32 = 2;
const EVERY: u32 = 2;

/// ns-2's `ackInterArr_` before the first gap.
const FIRST_MEAN_GAP: Duration = Duration::from_ms(10);

/// The spacing of reconstructed ACKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Spacing {
    /// Evenly over the latest gap.
    Even,
    /// By the moving average of the gaps.
    Adaptive,
}

/// The node.
#[derive(Debug)]
pub struct AckReconstruction {
    spacing: Spacing,
    /// By the sender's port, and the receiver's address and port.
    connections: BTreeMap<(u16, Endpoint), Gaps>,
    /// Waiting ACKs, by due time and arrival order.
    waiting: BTreeMap<(Time, u64), (u16, Endpoint, Packet)>,
    order: u64,
}

/// The state of one connection's ACKs.
#[derive(Debug)]
struct Gaps {
    segment_bytes: u32,
    /// The latest number passed on, and when.
    handed_on: Option<(u32, Time)>,
    /// The latest number received, and when.
    came: Option<(u32, Time)>,
    has_duplicates: bool,
    waiting: usize,
    mean_gap: Duration,
}

impl Default for Gaps {
    fn default() -> Self {
        Gaps {
            segment_bytes: 0,
            handed_on: None,
            came: None,
            has_duplicates: false,
            waiting: 0,
            mean_gap: FIRST_MEAN_GAP,
        }
    }
}

fn renumbered(packet: &Packet, ack: u32) -> Packet {
    let mut packet = packet.clone();
    segment::set_ack(&mut packet, ack);
    packet
}

/// The bytes from one wire number to another; 0 if that is not ahead.
fn ahead(from: u32, to: u32) -> u32 {
    let bytes = to.wrapping_sub(from);
    if bytes < 1 << 31 { bytes } else { 0 }
}

impl AckReconstruction {
    /// A node before the first ACK.
    pub fn new(spacing: Spacing) -> Self {
        let (connections, waiting) = (BTreeMap::new(), BTreeMap::new());
        AckReconstruction { spacing, connections, waiting, order: 0 }
    }

    /// The sender sent this packet.
    pub fn on_sent(&mut self, packet: &Packet) {
        if let Ok(segment) = segment::parse(packet) {
            let peer = Endpoint { ip: segment.ips.1, port: segment.ports.1 };
            let gaps = self.connections.entry((segment.ports.0, peer)).or_default();
            gaps.segment_bytes = gaps.segment_bytes.max(segment.payload.len());
        }
    }

    /// A packet arrives for the sender. True if it passes unchanged; false if it is split.
    pub fn handle_packet(&mut self, now: Time, packet: &Packet) -> bool {
        let Ok(segment) = segment::parse(packet) else { return true };
        let (port, peer) = (segment.ports.1, Endpoint { ip: segment.ips.0, port: segment.ports.0 });
        let Some(gaps) = self.connections.get_mut(&(port, peer)) else { return true };
        if segment.flags != Flags::ACK || !segment.payload.is_empty() || gaps.segment_bytes == 0 {
            return true;
        }
        let ack = segment.ack;
        let (Some((last, last_at)), Some((real, real_at))) = (gaps.handed_on, gaps.came) else {
            (gaps.handed_on, gaps.came) = (Some((ack, now)), Some((ack, now)));
            return true;
        };
        let gap = now.since(real_at);
        let quarter_ps = gaps.mean_gap.as_ps() / 4;
        gaps.mean_gap = Duration::from_ps(gaps.mean_gap.as_ps() - quarter_ps + gap.as_ps() / 4);
        let jump = ahead(last, ack);
        let is_small = gaps.waiting == 0 && jump <= THRESHOLD * gaps.segment_bytes;
        let is_duplicate = ack == real;
        let goes_on = is_small || gaps.has_duplicates;
        gaps.has_duplicates = is_duplicate || (gaps.has_duplicates && jump == 0);
        if ahead(ack, real) == 0 {
            gaps.came = Some((ack, now));
        }
        if goes_on {
            if jump > 0 && !is_duplicate {
                gaps.handed_on = Some((ack, now));
            }
            return true;
        }
        let step = EVERY * gaps.segment_bytes;
        let pieces = jump.div_ceil(step);
        let spacing = match self.spacing {
            Spacing::Even => gap.mul_div_floor(1, u64::from(jump / step) + 1),
            Spacing::Adaptive => gaps.mean_gap,
        };
        let start = now.max(last_at);
        for piece in 0..pieces {
            let number =
                if piece + 1 == pieces { ack } else { last.wrapping_add((piece + 1) * step) };
            let at = start + Duration::from_ps(spacing.as_ps() * u64::from(piece));
            self.waiting.insert((at, self.order), (port, peer, renumbered(packet, number)));
            self.order += 1;
            gaps.waiting += 1;
        }
        false
    }

    /// The next ACK that is due; skips ACKs that a later one has overtaken.
    pub fn poll_packet(&mut self, now: Time) -> Option<Packet> {
        while let Some(entry) = self.waiting.first_entry().filter(|entry| entry.key().0 <= now) {
            let (port, peer, packet) = entry.remove();
            let gaps = self.connections.get_mut(&(port, peer))?;
            gaps.waiting -= 1;
            let number = segment::parse(&packet).map_or(0, |segment| segment.ack);
            if gaps.handed_on.is_none_or(|(last, _)| ahead(last, number) > 0) {
                gaps.handed_on = Some((number, now));
                return Some(packet);
            }
        }
        None
    }

    /// When [`AckReconstruction::poll_packet`] has an ACK.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.waiting.keys().next().map(|&(at, _)| at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::addr::Mac;
    use crate::wire::segment::{Emitter, Header};

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    /// 1,000 bytes from the sender; an ACK to it.
    fn data() -> Packet {
        let (mut packet, mut emitter) = (Packet::default(), emitter((10, 20)));
        emitter.begin(&Header { flags: Flags::ACK, ..Header::default() }, &mut packet);
        packet.zeros = 1000;
        emitter.finish(&mut packet);
        packet
    }

    fn ack(number: u32) -> Packet {
        segment((20, 10), &Header { ack: number, flags: Flags::ACK, ..Header::default() })
    }

    fn emitter(ports: (u16, u16)) -> Emitter {
        let mac = Mac([2, 0, 0, 0, 0, 1]);
        Emitter::new((mac, mac), ([10, 0, 0, 1].into(), [10, 0, 0, 1].into()), ports)
    }

    fn segment(ports: (u16, u16), header: &Header) -> Packet {
        let (mut packet, mut emitter) = (Packet::default(), emitter(ports));
        emitter.begin(header, &mut packet);
        emitter.finish(&mut packet);
        packet
    }

    /// The ACKs passed on until then, with their times.
    fn drained(node: &mut AckReconstruction, until: Time) -> Vec<(Time, u32)> {
        let mut came = Vec::new();
        while let Some(at) = node.poll_timeout().filter(|&at| at <= until) {
            while let Some(packet) = node.poll_packet(at) {
                // The parser also verifies the checksum.
                came.push((at, segment::parse(&packet).unwrap().ack));
            }
        }
        came
    }

    /// The mean gap: 10 ms at first, still 10 ms at 10 ms, (3 x 10 + 40) / 4 = 17.5 ms at 50 ms.
    #[test]
    fn adaptive_acks_are_the_mean_gap_apart() {
        let mut node = AckReconstruction::new(Spacing::Adaptive);
        node.on_sent(&data());
        assert!(node.handle_packet(ms(0), &ack(1000)));
        assert!(node.handle_packet(ms(10), &ack(3000)));
        assert!(!node.handle_packet(ms(50), &ack(10_000)));
        let half_ms = Duration::from_us(500);
        let expected =
            [(ms(50), 5000), (ms(67) + half_ms, 7000), (ms(85), 9000), (ms(102) + half_ms, 10_000)];
        assert_eq!(drained(&mut node, ms(1000)), expected);
    }

    /// ns-2.35's own node (`tests/ns2/acks.tcl queue 6`, `adaptive 0 seconds 1.4`, with losses, and
    /// `adaptive 1 seconds 0.7`): ACKs in and out, in microseconds and packets. Its trace truncates
    /// times to microseconds.
    #[test]
    fn acks_leave_when_and_as_they_leave_ns2s_node() {
        let runs = [
            (Spacing::Even, include_str!("../../../tests/ns2/acks_even.txt")),
            (Spacing::Adaptive, include_str!("../../../tests/ns2/acks_adaptive.txt")),
        ];
        for (spacing, run) in runs {
            let mut node = AckReconstruction::new(spacing);
            node.on_sent(&data());
            let (mut ours, mut theirs) = (vec![], vec![]);
            for line in run.lines() {
                let [queue, sign, at_us, number] =
                    line.split(' ').collect::<Vec<_>>().try_into().unwrap();
                let at = Time::ZERO + Duration::from_us(at_us.parse().unwrap());
                let number = 1000 * (number.parse::<u32>().unwrap() + 1);
                match (queue, sign) {
                    ("made", "+") => {
                        ours.extend(drained(&mut node, at));
                        if node.handle_packet(at, &ack(number)) {
                            ours.push((at, number));
                        }
                    }
                    ("made", _) => theirs.push((at, number)),
                    _ => {}
                }
            }
            ours.extend(drained(&mut node, theirs.last().unwrap().0));
            assert_eq!(ours.len(), theirs.len(), "{spacing:?}");
            for (ours, theirs) in ours.iter().zip(theirs) {
                let off = ours.0.saturating_since(theirs.0).max(theirs.0.saturating_since(ours.0));
                assert!(ours.1 == theirs.1 && off <= Duration::from_us(2), "{ours:?} {theirs:?}");
            }
        }
    }

    #[test]
    fn a_jump_of_seven_becomes_four_acks_over_the_last_gap() {
        let mut node = AckReconstruction::new(Spacing::Even);
        node.on_sent(&data());
        assert!(node.handle_packet(ms(0), &ack(1000)));
        assert!(node.handle_packet(ms(10), &ack(3000)), "two segments: no gap");
        assert!(!node.handle_packet(ms(50), &ack(10_000)));
        // 7 segments, one ACK for every 2: 5000, 7000, 9000 and the ACK itself; 40 ms over 3 + 1.
        assert_eq!(
            drained(&mut node, ms(1000)),
            [(ms(50), 5000), (ms(60), 7000), (ms(70), 9000), (ms(80), 10_000)]
        );
        // A duplicate passes, and so do later ACKs while one waits.
        assert!(node.handle_packet(ms(90), &ack(10_000)));
        assert!(node.handle_packet(ms(91), &ack(10_000)));
        assert!(node.handle_packet(ms(99), &ack(20_000)), "the loss is repaired: at once");
    }
}
