//! One connection with a scripted peer. Sequence numbers are relative to each side's ISN, in the
//! notation of tcpdump and packetdrill: `flags start:end(length) ack n win w <options>`.
#![allow(dead_code)] // each test binary uses its part

use narrows_common::{Duration, Packet, Rng, Time};
use narrows_hosts::Mac;
use narrows_hosts::config::{FlowConfig, Settings};
use narrows_hosts::tcp::Connection;
use narrows_hosts::wire::options::Options;
use narrows_hosts::wire::segment::{self, Ecn, Emitter, Flags, Header};
use narrows_traffic::Content;

pub const OUR_ISN: u32 = u32::MAX - 1500; // wraps within the second segment
pub const PEER_ISN: u32 = 7_000;

pub struct Script {
    pub connection: Connection,
    peer: Emitter,
    pub now: Time,
}

/// A segment from the peer.
pub struct Peer {
    pub flags: Flags,
    pub seq: u32,
    pub len: u32,
    pub ack: u32,
    pub win: u16,
    pub ecn: Ecn,
    pub options: Options,
}

pub fn peer(flags: Flags, seq: u32, len: u32, ack: u32, win: u16) -> Peer {
    Peer { flags, seq, len, ack, win, ecn: Ecn::NotEct, options: Options::default() }
}

pub fn ack(seq: u32, ack: u32, win: u16) -> Peer {
    peer(Flags::ACK, seq, 0, ack, win)
}

pub fn data(seq: u32, len: u32, ack: u32) -> Peer {
    peer(Flags::ACK, seq, len, ack, 60_000)
}

pub const FIN_ACK: Flags = Flags::ACK.with(Flags::FIN);
pub const SYN_ACK: Flags = Flags::ACK.with(Flags::SYN);

/// Segments of 1,000 bytes, no options except the window scale, immediate ACKs, RTO at least 200
/// ms.
pub fn plain() -> FlowConfig {
    let mut config = super::net::flow(1, "reno", "newreno", "rfc", None);
    config.segment_bytes = Some(1000);
    config.window_bytes = Some(8000);
    config.sack = Some(false);
    config.timestamps = Some(false);
    config.delayed_ack = Some(false);
    config.min_rto = Some(Duration::from_ms(200));
    config
}

impl Script {
    pub fn new(config: &FlowConfig, is_active: bool) -> Self {
        let settings = Settings { keeps_content: true, ..Settings::resolve(config).unwrap() };
        let macs = [Mac([2, 0, 0, 0, 0, 1]), Mac([2, 0, 0, 0, 0, 2])];
        let (us, them) = (config.source, config.destination);
        let out = Emitter::new((macs[0], macs[1]), (us.ip, them.ip), (us.port, them.port));
        let back = Emitter::new((macs[1], macs[0]), (them.ip, us.ip), (them.port, us.port));
        let open = if is_active { Connection::connect } else { Connection::listen };
        let connection = open(settings, out, &mut Rng::from_seed(1)).with_isn(OUR_ISN);
        Script { connection, peer: back, now: Time::ZERO }
    }

    /// An active open with a peer that offers `win` bytes, complete at 100 ms.
    pub fn established(config: &FlowConfig, win: u16) -> Self {
        let mut script = Script::new(config, true);
        script.drain(0);
        script.send(
            100,
            Peer {
                options: Options { mss: Some(1460), ..Options::default() },
                ..peer(SYN_ACK, 0, 0, 1, win)
            },
        );
        assert_eq!(script.drain(100).len(), 1);
        script
    }

    pub fn at(&mut self, ms: u64) {
        let now = Time::ZERO + Duration::from_ms(ms);
        assert!(now >= self.now);
        self.now = now;
    }

    /// The peer's segment arrives.
    pub fn send(&mut self, ms: u64, segment: Peer) {
        self.at(ms);
        let header = Header {
            seq: PEER_ISN.wrapping_add(segment.seq),
            ack: OUR_ISN.wrapping_add(segment.ack),
            flags: segment.flags,
            window: segment.win,
            ecn: segment.ecn,
            options: segment.options,
        };
        let mut packet = Packet::default();
        self.peer.begin(&header, &mut packet);
        packet.zeros = segment.len;
        self.peer.finish(&mut packet);
        self.connection.handle_segment(self.now, &segment::parse(&packet).unwrap());
    }

    /// Collects everything sent now.
    pub fn drain(&mut self, ms: u64) -> Vec<String> {
        self.at(ms);
        let (mut lines, mut packet) = (Vec::new(), Packet::default());
        loop {
            let may_transmit = self.connection.may_transmit();
            if !self.connection.poll_transmit(self.now, &mut packet) {
                return lines;
            }
            assert!(may_transmit, "it sends although it may not");
            lines.push(show(&packet));
            packet.clear();
        }
    }

    /// Checks that exactly these segments are sent now.
    #[track_caller]
    pub fn recv(&mut self, ms: u64, lines: &[&str]) {
        assert_eq!(self.drain(ms), lines, "at {ms} ms");
    }

    /// Checks that the next timer is due at `ms` and sends exactly these segments.
    #[track_caller]
    pub fn timer(&mut self, ms: u64, lines: &[&str]) {
        let due = self.connection.poll_timeout().map(|at| at.as_us());
        assert_eq!(due, Some(ms * 1000), "the timer, in microseconds");
        self.at(ms);
        self.connection.handle_timeout(self.now);
        self.recv(ms, lines);
    }

    pub fn write(&mut self, bytes: u64) {
        self.connection.write(Content::Zeros(bytes));
    }
}

pub fn show(packet: &Packet) -> String {
    let segment = segment::parse(packet).unwrap();
    let (flags, len) = (segment.flags, segment.payload.len());
    let start = segment.seq.wrapping_sub(OUR_ISN);
    let mut line = format!("{flags:?} {start}:{}({len})", start + len);
    if flags.has(Flags::ACK) {
        line += &format!(" ack {}", segment.ack.wrapping_sub(PEER_ISN));
    }
    line += &format!(" win {}", segment.window);
    let Options { mss, window_scale, sack_permitted, timestamps, sack, .. } = segment.options;
    let mut options = Vec::new();
    options.extend(mss.map(|mss| format!("mss {mss}")));
    options.extend(window_scale.map(|shift| format!("wscale {shift}")));
    options.extend(sack_permitted.then(|| "sackOK".to_owned()));
    options.extend(timestamps.map(|(value, echo)| format!("TS {value} {echo}")));
    options.extend(sack.as_slice().iter().map(|(left, right)| {
        format!("sack {}:{}", left.wrapping_sub(PEER_ISN), right.wrapping_sub(PEER_ISN))
    }));
    if !options.is_empty() {
        line += &format!(" <{}>", options.join(","));
    }
    if segment.ecn != Ecn::NotEct {
        line += &format!(" [{:?}]", segment.ecn);
    }
    line
}
