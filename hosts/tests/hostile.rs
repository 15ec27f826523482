//! A peer that sends anything with correct checksums: no panic, no endless work, valid windows.

mod net;

use narrows_common::{Duration, Packet, Rng, Time};
use narrows_hosts::cc::VARIANTS;
use narrows_hosts::cc::control::Setup;
use narrows_hosts::config::{FlowConfig, Settings};
use narrows_hosts::tcp::Connection;
use narrows_hosts::tcp::api::{Ack, Class, Congestion, Idle, Parameters};
use narrows_hosts::wire::options::Options;
use narrows_hosts::wire::segment::{self, Ecn, Emitter, Flags, Header};
use narrows_hosts::{Mac, PROFILES, RECOVERIES};
use narrows_traffic::Content;
use net::flow;
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
        Bench { connection, peer: back, now: Time::ZERO }
    }

    fn segment(&mut self, header: &Header, len: u32) {
        let mut packet = Packet::default();
        self.peer.begin(header, &mut packet);
        packet.zeros = len;
        self.peer.finish(&mut packet);
        self.connection.handle_segment(self.now, &segment::parse(&packet).unwrap());
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

    /// Collects everything sent; at most a window's worth.
    fn drain(&mut self) -> Result<(), TestCaseError> {
        let mut packet = Packet::default();
        for _ in 0..100_000 {
            if !self.connection.poll_transmit(self.now, &mut packet) {
                return Ok(());
            }
            prop_assert!(segment::parse(&packet).is_ok());
            packet.clear();
        }
        prop_assert!(false, "100,000 segments at one instant");
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6_000, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

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
            let options = Options { mss: Some(1_460), window_scale: Some(2), sack_permitted: true, ..Options::default() };
            let syn = if is_active { Flags::SYN.with(Flags::ACK) } else { Flags::SYN };
            bench.segment(&Header { seq: 0, ack: ISN.wrapping_add(1), flags: syn, window: 5_000, options, ..Header::default() }, 0);
            bench.drain()?;
            bench.segment(&Header { seq: 1, ack: ISN.wrapping_add(1), flags: Flags::ACK, window: 5_000, ..Header::default() }, 0);
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
