//! A model for every variant and recovery: an honest peer behind a path that arbitrarily loses,
//! reorders, marks and goes silent, and an application that writes arbitrarily. The peer's SYN
//! changes the segment size. Windows stay positive and are respected, nothing waits without a
//! timer, and all data arrive once the path behaves.

use crate::net::flow;
use narrows_common::{Duration, Packet, Rng, Time};
use narrows_hosts::api::State;
use narrows_hosts::config::Settings;
use narrows_hosts::tcp::Connection;
use narrows_hosts::wire::options::Options;
use narrows_hosts::wire::segment::{self, Ecn, Emitter, Flags, Header};
use narrows_hosts::{Mac, PROFILES, RECOVERIES, VARIANTS};
use narrows_traffic::Content;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::VecDeque;

const ISN: u32 = 0xffff_0000;
const PEER_ISN: u32 = 5;
/// The sender's initial segment size, and the largest that a peer can make of it.
const MSS: u32 = 1_000;
/// RFC 6298 rule 2.5 allows 60 s and more; no profile has more than Linux's 120 s.
const LONGEST_WAIT: Duration = Duration::from_secs(120);

#[derive(Clone, Debug)]
enum Operation {
    /// This many segments in flight arrive, in order or the last one first, marked or not.
    Arrive {
        count: usize,
        is_reversed: bool,
        is_marked: bool,
    },
    /// This many are lost.
    Lose {
        count: usize,
    },
    /// The ACKs of later arrivals are lost, or no longer lost.
    Silence {
        is_silent: bool,
    },
    Wait {
        ms: u64,
    },
    /// Advances to the next timer.
    Timer,
    Write {
        bytes: u64,
    },
    /// The window that the peer offers from now on.
    Offer {
        bytes: u32,
    },
}

fn operation() -> impl Strategy<Value = Operation> {
    use Operation::*;
    prop_oneof![
        4 => (1usize..30, any::<bool>(), prop::bool::weighted(0.1))
            .prop_map(|(count, is_reversed, is_marked)| Arrive { count, is_reversed, is_marked }),
        2 => (1usize..10).prop_map(|count| Lose { count }),
        1 => any::<bool>().prop_map(|is_silent| Silence { is_silent }),
        2 => (0u64..300).prop_map(|ms| Wait { ms }),
        1 => Just(Timer),
        2 => (1u64..30_000).prop_map(|bytes| Write { bytes }),
        1 => prop_oneof![Just(0u32), 1u32..3_000, Just(1 << 20)].prop_map(|bytes| Offer { bytes }),
    ]
}

/// The sender under test, and everything that its segments meet.
struct Model {
    connection: Connection,
    mss: u32,
    back: Emitter,
    now: Time,
    /// Segments in flight: first wire position and length.
    on_the_way: VecDeque<(u32, u32)>,
    /// The bytes after the SYN that the peer has.
    has: Vec<bool>,
    /// The number of these in sequence.
    in_order: usize,
    written: u64,
    offered_bytes: u32,
    /// The highest right edge that the peer has offered, from the first data byte on.
    edge: u64,
    is_silent: bool,
}

impl Model {
    fn new(names: (&str, &str, &str), ecn: bool, peer_mss: u16) -> Self {
        let mut config = flow(1, names.0, names.1, names.2, None);
        config.segment_bytes = Some(MSS);
        config.timestamps = Some(false);
        config.sack = Some(true);
        config.ecn = Some(ecn);
        let settings = Settings::resolve(&config).unwrap();
        let (us, them) = (config.source, config.destination);
        let macs = [1, 2].map(|n| Mac([2, 0, 0, 0, 0, n]));
        let out = Emitter::new((macs[0], macs[1]), (us.ip, them.ip), (us.port, them.port));
        let back = Emitter::new((macs[1], macs[0]), (them.ip, us.ip), (them.port, us.port));
        let connection = Connection::connect(settings, out, &mut Rng::from_seed(1)).with_isn(ISN);
        let mut model = Model {
            connection,
            mss: MSS.min(peer_mss.into()),
            back,
            now: Time::ZERO,
            on_the_way: VecDeque::new(),
            has: Vec::new(),
            in_order: 0,
            written: 0,
            offered_bytes: 1 << 20,
            edge: 0,
            is_silent: false,
        };
        model.connection.poll_transmit(model.now, &mut Packet::default());
        model.now += Duration::from_ms(20);
        let options = Options {
            mss: Some(peer_mss),
            window_scale: Some(5),
            sack_permitted: true,
            ..Options::default()
        };
        let flags = Flags::SYN.with(Flags::ACK).with(if ecn { Flags::ECE } else { Flags(0) });
        let header = Header {
            seq: PEER_ISN,
            ack: ISN.wrapping_add(1),
            flags,
            window: u16::MAX,
            options,
            ..Header::default()
        };
        model.edge = u16::MAX.into();
        model.send(&header);
        model
    }

    fn send(&mut self, header: &Header) {
        let mut packet = Packet::default();
        self.back.begin(header, &mut packet);
        self.back.finish(&mut packet);
        self.connection.handle_segment(self.now, &segment::parse(&packet).unwrap());
    }

    fn acknowledge(&mut self, newest: usize, is_marked: bool) {
        let in_order = self.in_order;
        let mut options = Options::default();
        if newest > in_order {
            let start = self.has[..newest].iter().rposition(|has| !has).map_or(0, |at| at + 1);
            let len = self.has[newest..].iter().position(|has| !has);
            let end = len.map_or(self.has.len(), |len| newest + len);
            options.sack.push(wire_number(start), wire_number(end));
        }
        let window = (self.offered_bytes >> 5).min(u16::MAX.into());
        self.edge = self.edge.max(in_order as u64 + u64::from(window << 5));
        let flags = if is_marked { Flags::ACK.with(Flags::ECE) } else { Flags::ACK };
        self.send(&Header {
            seq: PEER_ISN + 1,
            ack: wire_number(in_order),
            flags,
            window: window as u16,
            ecn: Ecn::NotEct,
            options,
        });
    }

    fn arrive(&mut self, segment: (u32, u32), is_marked: bool) {
        let start = segment.0.wrapping_sub(ISN).wrapping_sub(1) as usize;
        // A window that shrinks does not withdraw what it had offered.
        let end = (start + segment.1 as usize).min(self.edge as usize);
        if self.has.len() < end {
            self.has.resize(end, false);
        }
        (start..end).for_each(|at| self.has[at] = true);
        while self.has.get(self.in_order) == Some(&true) {
            self.in_order += 1;
        }
        if !self.is_silent {
            self.acknowledge(start, is_marked);
        }
    }

    fn apply(&mut self, operation: &Operation) {
        match *operation {
            Operation::Arrive { count, is_reversed, is_marked } => {
                for _ in 0..count {
                    let next = match is_reversed {
                        true => self.on_the_way.pop_back(),
                        false => self.on_the_way.pop_front(),
                    };
                    let Some(segment) = next else { break };
                    self.arrive(segment, is_marked);
                }
            }
            Operation::Lose { count } => {
                self.on_the_way.drain(..count.min(self.on_the_way.len()));
            }
            Operation::Silence { is_silent } => self.is_silent = is_silent,
            Operation::Wait { ms } => self.now += Duration::from_ms(ms),
            Operation::Timer => {
                self.now = self.connection.poll_timeout().map_or(self.now, |at| at.max(self.now));
            }
            Operation::Write { bytes } => {
                self.written += bytes;
                self.connection.write(Content::Zeros(bytes));
            }
            Operation::Offer { bytes } => self.offered_bytes = bytes,
        }
        if self.connection.poll_timeout().is_some_and(|at| at <= self.now) {
            self.connection.handle_timeout(self.now);
        }
    }

    /// Collects the segments sent, and checks them against the windows.
    fn drain(&mut self) -> Result<(), TestCaseError> {
        let mut packet = Packet::default();
        let mut left = 0;
        loop {
            let may_transmit = self.connection.may_transmit();
            if !self.connection.poll_transmit(self.now, &mut packet) {
                return Ok(());
            }
            prop_assert!(may_transmit, "it sends although it may not");
            let segment = segment::parse(&packet).unwrap();
            let len = segment.payload.len();
            let end = u64::from(segment.seq.wrapping_sub(ISN).wrapping_sub(1)) + u64::from(len);
            // One byte beyond the offered edge is a probe.
            prop_assert!(end <= self.edge + 1, "{end} sent, {} offered", self.edge);
            prop_assert!(end <= self.written, "{end} sent, {} written", self.written);
            prop_assert!(len <= self.mss, "{len} bytes, {} agreed", self.mss);
            if len > 0 {
                self.on_the_way.push_back((segment.seq, len));
            }
            left += 1;
            prop_assert!(left < 5_000, "5,000 segments at one instant");
            packet.clear();
        }
    }

    fn check(&self) -> Result<(), TestCaseError> {
        let record = self.connection.record(self.now);
        prop_assert!(record.cwnd_bytes >= u64::from(self.mss));
        // A window grown by nothing but ACKs of written data can't exceed this.
        prop_assert!(record.cwnd_bytes < 1 << 40);
        // Retransmitted data may count in addition to the original.
        prop_assert!(record.in_flight_bytes <= 2 * self.written);
        let waits = self.connection.unacked_bytes() > 0;
        let timeout = self.connection.poll_timeout();
        prop_assert!(!waits || timeout.is_some(), "data waits and no timer runs");
        prop_assert!(timeout.is_none_or(|at| at > self.now && at <= self.now + LONGEST_WAIT));
        prop_assert!(self.connection.state() == State::Established);
        Ok(())
    }
}

fn wire_number(at: usize) -> u32 {
    ISN.wrapping_add(1).wrapping_add(at as u32)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000 * crate::scale(), rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn any_sender_keeps_to_its_windows_and_gets_its_data_across(
        choice in (0..VARIANTS.len(), 0..RECOVERIES.len(), 0..PROFILES.len()),
        ecn: bool,
        peer_mss in prop_oneof![2 => Just(MSS as u16), 1 => 64u16..1_500],
        operations in prop::collection::vec(operation(), 1..60),
    ) {
        let names = (VARIANTS[choice.0].name, RECOVERIES[choice.1].name, PROFILES[choice.2].name);
        let mut model = Model::new(names, ecn, peer_mss);
        for operation in &operations {
            model.drain()?;
            model.check()?;
            model.apply(operation);
        }
        // From here on the path behaves: a round trip of 20 ms, no loss.
        model.is_silent = false;
        model.offered_bytes = 1 << 20;
        model.drain()?;
        for _ in 0..20_000 {
            if model.connection.unacked_bytes() == 0 {
                break;
            }
            let arrives = Operation::Arrive { count: 1, is_reversed: false, is_marked: false };
            let next = if model.on_the_way.is_empty() { Operation::Timer } else { arrives };
            model.apply(&next);
            model.apply(&Operation::Wait { ms: 1 });
            model.drain()?;
        }
        prop_assert_eq!(model.connection.acked_bytes(), model.written, "{:?} does not end", names);
    }
}
