//! Every byte arrives once and in order, compared byte by byte. The paths lose, reorder, duplicate
//! and damage packets in both directions; windows and readers vary.

use crate::net::{Net, Node, Path, flow, secs};
use narrows_common::{Duration, Packet, Rng, Time};
use narrows_hosts::api::State;
use narrows_hosts::config::Settings;
use narrows_hosts::tcp::Connection;
use narrows_hosts::wire::segment::{self, Emitter};
use narrows_hosts::{Mac, PROFILES, RECOVERIES, VARIANTS};
use narrows_traffic::Content;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// A connection that writes one text and reads another.
struct Peer {
    connection: Connection,
    unwritten: Vec<u8>,
    read: Vec<u8>,
    /// Bytes read at a time, and how often.
    read_limit: u64,
    read_every: Duration,
    next_read: Time,
    discards: u64,
}

impl Peer {
    fn work(&mut self, now: Time) {
        if now >= self.next_read {
            self.connection.read(self.read_limit, Some(&mut self.read));
            self.next_read = now + self.read_every;
        }
        if !self.unwritten.is_empty() && self.connection.unacked_bytes() < 3_000 {
            let rest = self.unwritten.split_off(self.unwritten.len().min(1_234));
            let piece = core::mem::replace(&mut self.unwritten, rest);
            self.connection.write(Content::Bytes(piece.into()));
        } else if self.unwritten.is_empty() && self.connection.state() != State::Listen {
            self.connection.close();
        }
    }
}

impl Node for Peer {
    fn handle_packet(&mut self, now: Time, packet: &Packet) {
        match segment::parse(packet) {
            Ok(segment) => self.connection.handle_segment(now, &segment),
            Err(_) => self.discards += 1,
        }
        self.work(now);
    }
    fn handle_timeout(&mut self, now: Time) {
        self.connection.handle_timeout(now);
        self.work(now);
    }
    fn poll_transmit(&mut self, now: Time, packet: &mut Packet) -> bool {
        self.connection.poll_transmit(now, packet)
    }
    fn poll_timeout(&self) -> Option<Time> {
        let read = (self.connection.readable_bytes() > 0).then_some(self.next_read);
        [self.connection.poll_timeout(), read].into_iter().flatten().min()
    }
}

#[derive(Clone, Debug)]
struct Case {
    seed: u64,
    variant: usize,
    recovery: usize,
    profile: usize,
    window_bytes: u64,
    segment_bytes: u32,
    isn: u32,
    sizes: [usize; 2],
    read_limit: u64,
    read_every_ms: u64,
    nagle: bool,
    delayed_ack: bool,
    timestamps: bool,
    ecn: bool,
    path: Path,
}

fn case() -> impl Strategy<Value = Case> {
    let names = (any::<u64>(), 0..VARIANTS.len(), 0..RECOVERIES.len(), 0..PROFILES.len());
    let sizes = (
        prop_oneof![1u64..20, 20u64..3_000, 3_000u64..200_000],
        prop_oneof![1u32..10, 10u32..1_460],
        prop_oneof![any::<u32>(), (u32::MAX - 20_000)..=u32::MAX],
        (0usize..20_000, 0usize..5_000),
        prop_oneof![Just(u64::MAX), 1u64..2_000],
        0u64..200,
    );
    let switches = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let path = (
        prop_oneof![Just(0.0), 0.0..0.2f64],
        prop_oneof![Just(0.0), 0.0..0.2f64],
        prop_oneof![Just(0.0), 0.0..0.1f64],
        prop_oneof![Just(0.0), 0.0..0.5f64],
        1usize..50,
        0u64..100,
    );
    (names, sizes, switches, path).prop_map(|(names, sizes, switches, path)| Case {
        seed: names.0,
        variant: names.1,
        recovery: names.2,
        profile: names.3,
        window_bytes: sizes.0,
        segment_bytes: sizes.1,
        isn: sizes.2,
        // One-byte segments are slow.
        sizes: [sizes.3.0, sizes.3.1]
            .map(|n| n.min(200 * (sizes.1 as usize).min(sizes.0 as usize))),
        read_limit: sizes.4,
        read_every_ms: if sizes.4 == u64::MAX { 0 } else { sizes.5 },
        nagle: switches.0,
        delayed_ack: switches.1,
        timestamps: switches.2,
        ecn: switches.3,
        path: Path {
            rate_bps: 10_000_000,
            delay: Duration::from_ms(path.5),
            queue_packets: path.4,
            arrivals_first: false,
            loss: path.0,
            duplication: path.1,
            corruption: path.2,
            reordering: path.3,
        },
    })
}

fn check(case: &Case) -> Result<(), TestCaseError> {
    let mut config = flow(
        1,
        VARIANTS[case.variant].name,
        RECOVERIES[case.recovery].name,
        PROFILES[case.profile].name,
        None,
    );
    config.window_bytes = Some(case.window_bytes);
    config.segment_bytes = Some(case.segment_bytes);
    config.nagle = Some(case.nagle);
    config.delayed_ack = Some(case.delayed_ack);
    config.timestamps = Some(case.timestamps);
    config.ecn = Some(case.ecn);
    let settings = Settings { keeps_content: true, ..Settings::resolve(&config).unwrap() };
    let mut rng = Rng::for_component(case.seed, "texts");
    let texts = case.sizes.map(|size| (0..size).map(|_| rng.u32() as u8).collect::<Vec<u8>>());
    let macs = [1, 2].map(|n| Mac([2, 0, 0, 0, 0, n]));
    let ends = [config.source, config.destination];
    let peer = |me: usize, connection: Connection| Peer {
        connection,
        unwritten: texts[me].clone(),
        read: Vec::new(),
        read_limit: case.read_limit,
        read_every: Duration::from_ms(case.read_every_ms),
        next_read: Time::ZERO,
        discards: 0,
    };
    let emitter = |me: usize| {
        let you = 1 - me;
        Emitter::new(
            (macs[me], macs[you]),
            (ends[me].ip, ends[you].ip),
            (ends[me].port, ends[you].port),
        )
    };
    let client = Connection::connect(settings.clone(), emitter(0), &mut rng).with_isn(case.isn);
    let server =
        Connection::listen(settings, emitter(1), &mut rng).with_isn(case.isn ^ 0x8000_0000);
    let mut net = Net::between([peer(0, client), peer(1, server)], case.path.clone(), case.seed);
    net.transmit(0);
    // An end whose last ACKs were all lost until the peer's TIME-WAIT expired never gets an answer;
    // its data have arrived.
    let is_over = |peer: &Peer| matches!(peer.connection.state(), State::Closed | State::TimeWait);
    let is_gone = |peer: &Peer| peer.connection.state() == State::Closed;
    net.run_while(secs(500_000.0), |net| {
        !net.hosts.iter().all(is_over) && !net.hosts.iter().any(is_gone)
    });
    for (me, peer) in net.hosts.iter_mut().enumerate() {
        peer.connection.read(u64::MAX, Some(&mut peer.read));
        prop_assert!(
            peer.read == texts[1 - me],
            "{} of {} bytes at end {me}, states {:?}",
            peer.read.len(),
            texts[1 - me].len(),
            peer.connection.state()
        );
        let counters = peer.connection.receiver_counters();
        prop_assert_eq!(counters.delivered_bytes, texts[1 - me].len() as u64);
        if is_over(peer) {
            prop_assert_eq!(peer.connection.acked_bytes(), texts[me].len() as u64);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000 * crate::scale(), max_shrink_iters: 400, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn every_byte_arrives_once_and_in_order(case in case()) {
        check(&case)?;
    }
}
