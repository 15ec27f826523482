//! A peer that sends anything with correct checksums: no panic, no endless work, valid windows.

use crate::net::flow;
use narrows_common::budgets::MSS_MIN;
use narrows_common::{Duration, Packet, Rng, Time};
use narrows_hosts::api::{Ack, Class, Congestion, Idle, Parameters};
use narrows_hosts::cc::VARIANTS;
use narrows_hosts::cc::control::Setup;
use narrows_hosts::config::{FlowConfig, Settings};
use narrows_hosts::tcp::Connection;
use narrows_hosts::wire::options::Options;
use narrows_hosts::wire::segment::{self, Ecn, Emitter, Flags, Header};
use narrows_hosts::{Mac, PROFILES, RECOVERIES};
use narrows_traffic::Content;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

#[derive(Clone, Debug)]
enum Event {
    Segment { flags: u8, seq: i32, ack: i32, len: u32, win: u16, ecn: u8, options: Options },
    Wait { us: u64 },
    Timer,
    Write { bytes: u64 },
    Read { bytes: u64 },
    Close,
}

fn options() -> impl Strategy<Value = Options> {
    let block = (-3_000i32..40_000, 0i32..8_000);
    (
        prop::option::of(any::<u16>()),
        prop::option::of(any::<u8>()),
        any::<bool>(),
        prop::option::of(any::<(u32, u32)>()),
        prop::collection::vec(block, 0..3),
    )
        .prop_map(|(mss, window_scale, sack_permitted, timestamps, blocks)| {
            // At most 40 bytes in total.
            let mut options = Options { mss, ..Options::default() };
            for (left, len) in blocks {
                options.sack.push(left as u32, left.wrapping_add(len) as u32);
            }
            if options.sack.as_slice().is_empty() {
                options = Options { window_scale, sack_permitted, timestamps, ..options };
            }
            options
        })
}

fn event() -> impl Strategy<Value = Event> {
    let near = || prop_oneof![4 => -2i32..3, 4 => 0i32..40_000, 1 => any::<i32>()];
    let flags = prop_oneof![6 => Just(0x10u8), 1 => Just(0x11u8), 1 => any::<u8>().prop_map(|f| f & !4), 1 => any::<u8>()];
    prop_oneof![
        8 => (flags, near(), near(), prop_oneof![Just(0u32), 0u32..3_000], any::<u16>(), 0u8..4, options())
            .prop_map(|(flags, seq, ack, len, win, ecn, options)| Event::Segment { flags, seq, ack, len, win, ecn, options }),
        2 => (0u64..3_000_000).prop_map(|us| Event::Wait { us }),
        2 => Just(Event::Timer),
        2 => (1u64..50_000).prop_map(|bytes| Event::Write { bytes }),
        1 => (0u64..5_000).prop_map(|bytes| Event::Read { bytes }),
        1 => Just(Event::Close),
    ]
}

struct Bench {
    connection: Connection,
    peer: Emitter,
    now: Time,
    /// What may be sent at one instant: a peer's segment size has a least value.
    most_segments: u64,
}

const ISN: u32 = u32::MAX - 10_000;

impl Bench {
    fn new(config: &FlowConfig, is_active: bool) -> Self {
        let settings = Settings { keeps_content: true, ..Settings::resolve(config).unwrap() };
        let macs = [Mac([2, 0, 0, 0, 0, 1]), Mac([2, 0, 0, 0, 0, 2])];
        let (us, them) = (config.source, config.destination);
        let out = Emitter::new((macs[0], macs[1]), (us.ip, them.ip), (us.port, them.port));
        let back = Emitter::new((macs[1], macs[0]), (them.ip, us.ip), (them.port, us.port));
        let open = if is_active { Connection::connect } else { Connection::listen };
        let connection = open(settings, out, &mut Rng::from_seed(1)).with_isn(ISN);
        let (window, segment) = (config.window_bytes.unwrap(), config.segment_bytes.unwrap());
        let most_segments = 2 * window / u64::from(segment.min(MSS_MIN)) + 100;
        Bench { connection, peer: back, now: Time::ZERO, most_segments }
    }

    fn segment(&mut self, header: &Header, len: u32) {
        let mut packet = Packet::default();
        self.peer.begin(header, &mut packet);
        packet.zeros = len;
        self.peer.finish(&mut packet);
        self.connection.handle_segment(self.now, &segment::parse(&packet).unwrap());
    }

    /// The peer's part of the handshake.
    fn shake_hands(&mut self, is_active: bool) {
        let ack = ISN.wrapping_add(1);
        let options = Options {
            mss: Some(1_460),
            window_scale: Some(2),
            sack_permitted: true,
            ..Options::default()
        };
        let flags = if is_active { Flags::SYN.with(Flags::ACK) } else { Flags::SYN };
        let syn = Header { seq: 0, ack, flags, window: 5_000, options, ..Header::default() };
        self.segment(&syn, 0);
        self.drain().expect("a SYN is answered");
        let last = Header { seq: 1, ack, flags: Flags::ACK, window: 5_000, ..Header::default() };
        self.segment(&last, 0);
    }

    fn handle(&mut self, event: &Event) {
        match event {
            Event::Segment { flags, seq, ack, len, win, ecn, options } => {
                let mut options = *options;
                let blocks = core::mem::take(&mut options.sack);
                for &(left, right) in blocks.as_slice() {
                    options.sack.push(ISN.wrapping_add(left), ISN.wrapping_add(right));
                }
                let header = Header {
                    seq: (*seq as u32).wrapping_add(1),
                    ack: ISN.wrapping_add(*ack as u32).wrapping_add(1),
                    flags: Flags(*flags),
                    window: *win,
                    ecn: [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(*ecn)],
                    options,
                };
                self.segment(&header, *len);
            }
            Event::Wait { us } => self.now += Duration::from_us(*us),
            Event::Timer => {
                if let Some(at) = self.connection.poll_timeout() {
                    self.now = self.now.max(at);
                }
            }
            Event::Write { bytes } => self.connection.write(Content::Zeros(*bytes)),
            Event::Read { bytes } => {
                self.connection.read(*bytes, Some(&mut Vec::new()));
            }
            Event::Close => self.connection.close(),
        }
        if self.connection.poll_timeout().is_some_and(|at| at <= self.now) {
            self.connection.handle_timeout(self.now);
        }
    }

    /// Collects everything sent; at most a window's worth of new segments, and as many again.
    fn drain(&mut self) -> Result<(), TestCaseError> {
        let mut packet = Packet::default();
        for _ in 0..self.most_segments {
            let may_transmit = self.connection.may_transmit();
            if !self.connection.poll_transmit(self.now, &mut packet) {
                return Ok(());
            }
            prop_assert!(may_transmit, "it sends although it may not");
            prop_assert!(segment::parse(&packet).is_ok());
            packet.clear();
        }
        prop_assert!(false, "more than {} segments at one instant", self.most_segments);
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000 * crate::scale(), rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn a_connection_survives_any_peer(
        is_active: bool,
        shakes_hands: bool,
        choice in (0..VARIANTS.len(), 0..RECOVERIES.len(), 0..PROFILES.len()),
        window in 1u64..100_000,
        segment in 1u32..1_460,
        ecn: bool,
        events in prop::collection::vec(event(), 1..120),
    ) {
        let names = (VARIANTS[choice.0].name, RECOVERIES[choice.1].name, PROFILES[choice.2].name);
        let mut config = flow(1, names.0, names.1, names.2, None);
        config.window_bytes = Some(window);
        config.segment_bytes = Some(segment);
        config.timestamps = Some(false);
        config.ecn = Some(ecn);
        let mut bench = Bench::new(&config, is_active);
        bench.drain()?;
        if shakes_hands {
            bench.shake_hands(is_active);
            bench.drain()?;
        }
        for event in &events {
            bench.handle(event);
            bench.drain()?;
            let record = bench.connection.record(bench.now);
            prop_assert!(record.cwnd_bytes > 0);
            prop_assert!(record.in_flight_bytes < 1 << 31);
            prop_assert!(bench.connection.poll_timeout().is_none_or(|at| at > bench.now));
        }
    }

    /// After any sequence of events each variant's window is at least one segment, its growth is
    /// limited by the bytes acknowledged, and its threshold is two segments or more.
    #[test]
    fn window_rules_hold_under_any_events(
        which in 0..VARIANTS.len(),
        mss in 1u32..9_000,
        events in prop::collection::vec((0u8..6, 1u64..100, 0u64..5_000), 1..300),
    ) {
        let variant = &VARIANTS[which];
        let mut cc = (variant.build)(&Setup {
            mss,
            initial_window_bytes: 2 * u64::from(mss),
            initial_ssthresh_bytes: u64::MAX,
            times_every_segment: true,
            handshake_rtt: None,
            seed: 1,
            parameters: Parameters::resolve(variant.name, variant.parameters, &Default::default()).unwrap(),
        });
        // A rate may suggest any window, and Hybla's steps grow with the round trip.
        let is_bounded = variant.class == Class::LossBased && variant.name != "hybla";
        let (mut now, mut earned_bytes) = (Time::ZERO, 2 * u64::from(mss));
        let (mut min_rtt, mut round) = (Duration::MAX, 0);
        for (kind, amount, ms) in events {
            now += Duration::from_ms(ms);
            let acked_bytes = amount * u64::from(mss) / 3 + 1;
            let cwnd = cc.cwnd_bytes();
            let congestion = Congestion {
                now,
                window_bytes: cwnd.min(amount * u64::from(mss)),
                mss,
                whole_segments: amount % 2 == 0,
                is_repeated: amount % 3 == 0,
            };
            match kind {
                0..=2 => {
                    earned_bytes += acked_bytes;
                    let srtt = Duration::from_ms(ms);
                    let rtt = (ms % 4 != 0).then_some(srtt);
                    min_rtt = rtt.map_or(min_rtt, |rtt| min_rtt.min(rtt));
                    round += amount % 2;
                    let delivered_bytes = earned_bytes;
                    let ack = Ack { now, acked_bytes, credit_bytes: acked_bytes, mss, flight_bytes: cwnd, rtt, srtt, min_rtt, delivered_bytes, round, echoes_mark: amount % 5 == 0, one_way: None };
                    cc.on_measurement(&ack);
                    let cwnd = cc.cwnd_bytes();
                    cc.on_growth(&ack);
                    // CUBIC may grow by half a window per window of ACKs; no variant grows by more
                    // than the bytes acknowledged.
                    prop_assert!(!is_bounded || cc.cwnd_bytes() <= cwnd + acked_bytes.max(u64::from(mss)) + 1, "{}: {cwnd} to {} for {acked_bytes}", variant.name, cc.cwnd_bytes());
                    prop_assert!(cc.cwnd_bytes() >= cwnd || variant.name == "cubic" || variant.class != Class::LossBased);
                }
                3 => {
                    cc.on_congestion(&congestion);
                    prop_assert!(cc.ssthresh_bytes() >= 2 * u64::from(mss));
                    prop_assert!(variant.class == Class::RateTarget || cc.cwnd_bytes() <= cwnd.max(2 * u64::from(mss)));
                }
                4 => {
                    cc.on_rto(&congestion);
                    // ns-2's v_slowstart_ is two segments.
                    let left = if variant.name.starts_with("vegas-") { 2 } else { 1 };
                    prop_assert!(variant.name == "circuit" || cc.cwnd_bytes() == left * u64::from(mss));
                }
                _ => cc.on_idle(&Idle {
                    restart_window_bytes: 4 * u64::from(mss),
                    offered_bytes: cwnd,
                    srtt: Duration::from_ms(100),
                }),
            }
            prop_assert!(cc.cwnd_bytes() >= u64::from(mss));
        }
        prop_assert!(!is_bounded || cc.cwnd_bytes() <= 2 * earned_bytes);
    }
}

/// An event of the campaign, which draws them faster than proptest does.
fn drawn(rng: &mut Rng) -> Event {
    let near = |rng: &mut Rng| match rng.u32() % 9 {
        0..=3 => (rng.u32() % 5) as i32 - 2,
        4..=7 => (rng.u32() % 40_000) as i32,
        _ => rng.u32() as i32,
    };
    match rng.u32() % 16 {
        0 | 1 => Event::Wait { us: u64::from(rng.u32() % 3_000_000) },
        2 | 3 => Event::Timer,
        4 => Event::Write { bytes: 1 + u64::from(rng.u32() % 50_000) },
        5 => Event::Read { bytes: u64::from(rng.u32() % 5_000) },
        6 if rng.u32() % 8 == 0 => Event::Close,
        _ => {
            let mut options = Options::default();
            match rng.u32() % 4 {
                0 => (0..rng.u32() % 3).for_each(|_| {
                    let left = near(rng) as u32;
                    options.sack.push(left, left.wrapping_add(rng.u32() % 8_000));
                }),
                1 => options.timestamps = Some((rng.u32(), rng.u32())),
                2 => {
                    options.mss = Some(rng.u32() as u16);
                    options.window_scale = Some(rng.u32() as u8);
                    options.sack_permitted = rng.u32() % 2 == 0;
                }
                _ => {}
            }
            let flags = match rng.u32() % 9 {
                0..=5 => 0x10,
                6 => 0x11,
                7 => rng.u32() as u8 & !4,
                _ => rng.u32() as u8,
            };
            let len = if rng.u32() % 2 == 0 { 0 } else { rng.u32() % 3_000 };
            let (seq, ack, win) = (near(rng), near(rng), rng.u32() as u16);
            Event::Segment { flags, seq, ack, len, win, ecn: (rng.u32() % 4) as u8, options }
        }
    }
}

/// Connections of every variant, recovery and profile, each for some dozens of events. `make fuzz`
/// runs millions of events: `NARROWS_FUZZ_SCALE` multiplies them.
#[test]
fn connections_survive_a_campaign_of_events() {
    const EVENTS: u64 = 60;
    let connections = 2_000 * u64::from(crate::scale());
    let begin = std::time::Instant::now();
    let first = std::env::var("NARROWS_FUZZ_FIRST").ok().and_then(|text| text.parse().ok());
    let first = first.unwrap_or(0);
    for number in first..first + connections {
        let mut rng = Rng::from_seed(number);
        let pick = |rng: &mut Rng, count: usize| rng.u32() as usize % count;
        let variant = VARIANTS[pick(&mut rng, VARIANTS.len())].name;
        let recovery = RECOVERIES[pick(&mut rng, RECOVERIES.len())].name;
        let profile = PROFILES[pick(&mut rng, PROFILES.len())].name;
        let mut config = flow(1, variant, recovery, profile, None);
        config.window_bytes = Some(1 + u64::from(rng.u32() % 100_000));
        config.segment_bytes = Some(1 + rng.u32() % 1_459);
        config.timestamps = Some(rng.u32() % 2 == 0);
        config.ecn = Some(rng.u32() % 2 == 0);
        let is_active = rng.u32() % 2 == 0;
        let mut bench = Bench::new(&config, is_active);
        bench.drain().unwrap();
        if rng.u32() % 4 > 0 {
            bench.shake_hands(is_active);
        }
        for _ in 0..EVENTS {
            let event = drawn(&mut rng);
            bench.handle(&event);
            let cause = || format!("connection {number}, {config:?}: {event:?}");
            bench.drain().unwrap_or_else(|error| panic!("{}: {error}", cause()));
            assert!(bench.connection.poll_timeout().is_none_or(|at| at > bench.now), "{}", cause());
        }
    }
    let (events, seconds) = (connections * EVENTS, begin.elapsed().as_secs_f64());
    println!("campaign segments: {events} cases, {connections} connections, {seconds:.1} s");
}

/// Damaged packets are parsed or refused.
#[test]
fn packets_are_parsed_or_refused_in_a_campaign() {
    let count = 200_000 * u64::from(crate::scale());
    let (begin, mut rng, mut read) = (std::time::Instant::now(), Rng::from_seed(9), 0u64);
    let mut config = flow(1, "reno", "sack", "linux", None);
    (config.window_bytes, config.segment_bytes) = (Some(50_000), Some(1_448));
    let mut bench = Bench::new(&config, true);
    let mut syn = Packet::default();
    assert!(bench.connection.poll_transmit(bench.now, &mut syn));
    let seed: Vec<u8> = syn.to_bytes();
    for _ in 0..count {
        let mut bytes = seed.clone();
        for _ in 0..rng.u32() % 4 {
            let at = rng.u32() as usize % bytes.len();
            bytes[at] = rng.u32() as u8;
        }
        if rng.u32() % 4 == 0 {
            bytes.truncate(rng.u32() as usize % (bytes.len() + 1));
        }
        read += u64::from(segment::parse(&Packet::from_bytes(&bytes)).is_ok());
    }
    let seconds = begin.elapsed().as_secs_f64();
    println!("campaign parsing: {count} cases, {read} read, {seconds:.1} s");
    assert!(read > 0 && read < count);
}
