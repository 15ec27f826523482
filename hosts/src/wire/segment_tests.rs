//! Compares frames with bytes computed by hand, and damages them randomly.

use super::*;
use narrows_common::Checksums;
use proptest::prelude::*;

fn emitter() -> Emitter {
    Emitter::new(
        (Mac([2, 0, 0, 0, 0, 1]), Mac([2, 0, 0, 0, 0, 2])),
        ([10, 0, 0, 1].into(), [10, 0, 0, 2].into()),
        (0x1234, 0x0050),
    )
}

fn ipv6_emitter() -> Emitter {
    Emitter::new(
        (Mac([2, 0, 0, 0, 0, 1]), Mac([2, 0, 0, 0, 0, 2])),
        ("fd00::1".parse().unwrap(), "fd00::2".parse().unwrap()),
        (0x1234, 0x0050),
    )
}

fn data_segment(payload: &[u8], zeros: u32) -> Packet {
    data_segment_by(emitter(), payload, zeros)
}

fn data_segment_by(mut emitter: Emitter, payload: &[u8], zeros: u32) -> Packet {
    let header = Header {
        seq: 0x01020304,
        ack: 0x05060708,
        flags: Flags::ACK.with(Flags::PSH),
        window: 0x2000,
        ecn: Ecn::Ect0,
        options: Options { timestamps: Some((1, 2)), ..Options::default() },
    };
    let mut packet = Packet::default();
    emitter.begin(&header, &mut packet);
    packet.data.extend_from_slice(payload);
    packet.zeros = zeros;
    emitter.finish(&mut packet);
    packet
}

#[test]
fn a_bare_ack_byte_by_byte() {
    let (mut packet, mut emitter) = (Packet::default(), emitter());
    let header = Header { seq: 1, ack: 2, flags: Flags::ACK, window: 0xffff, ..Header::default() };
    emitter.begin(&header, &mut packet);
    emitter.finish(&mut packet);
    #[rustfmt::skip]
    let expected = [
        2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0,
        // 4500 + 0028 + 4000 + 4006 + 0a00 + 0001 + 0a00 + 0002 = d931; its complement is 26ce.
        0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 6, 0x26, 0xce, 10, 0, 0, 1, 10, 0, 0, 2,
        // 1234 + 0050 + 0001 + 0002 + 5010 + ffff, and 0a00 + 0001 + 0a00 + 0002 + 0006 + 0014:
        // 1 6296 + 141d = 1 76b3, folded 76b4; its complement is 894b.
        0x12, 0x34, 0, 0x50, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x10, 0xff, 0xff, 0x89, 0x4b, 0, 0,
    ];
    assert_eq!(packet.to_bytes(), expected);
}

#[test]
fn a_bare_ack_over_ipv6_byte_by_byte() {
    let (mut packet, mut emitter) = (Packet::default(), ipv6_emitter());
    let header = Header { seq: 1, ack: 2, flags: Flags::ACK, window: 0xffff, ..Header::default() };
    emitter.begin(&header, &mut packet);
    emitter.finish(&mut packet);
    #[rustfmt::skip]
    let expected = [
        2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x86, 0xdd,
        0x60, 0, 0, 0, 0, 20, 6, 64,
        0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
        0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2,
        // 1234 + 0050 + 0001 + 0002 + 5010 + ffff, and fd00 + 0001 + fd00 + 0002 + 0006 + 0014:
        // 1 6296 + 1 fa1d = 3 5cb3, folded 5cb6; its complement is a349.
        0x12, 0x34, 0, 0x50, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x10, 0xff, 0xff, 0xa3, 0x49, 0, 0,
    ];
    assert_eq!(packet.to_bytes(), expected);
    let segment = parse(&packet).unwrap();
    assert_eq!(segment.ips, ("fd00::1".parse().unwrap(), "fd00::2".parse().unwrap()));
    set_ack(&mut packet, 0xabcd_0123);
    assert_eq!(parse(&packet).unwrap().ack, 0xabcd_0123);
}

#[test]
fn each_fault_of_ipv6_has_its_reason() {
    let damaged = |at: usize, byte: u8| {
        let mut packet = data_segment_by(ipv6_emitter(), b"stamp", 100);
        packet.data[at] = byte;
        parse(&packet).map(|_| ()).unwrap_err()
    };
    assert_eq!(damaged(13, 0x00), Discard::NotIp);
    assert_eq!(damaged(14, 0x40), Discard::BadIpHeader);
    assert_eq!(damaged(18, 0xff), Discard::Truncated);
    assert_eq!(damaged(20, 44), Discard::Fragment);
    assert_eq!(damaged(20, 0), Discard::UnknownProtocol, "hop-by-hop options");
    assert_eq!(damaged(37, 7), Discard::BadTcpChecksum, "a bit of the source");
    assert_eq!(damaged(66, 0x40), Discard::BadTcpHeader);
    assert_eq!(damaged(86, b'S'), Discard::BadTcpChecksum);
    for bytes in [40, 53, 54, 60] {
        let mut short = data_segment_by(ipv6_emitter(), b"stamp", 100);
        short.truncate(bytes);
        assert_eq!(parse(&short).map(|_| ()).unwrap_err(), Discard::Truncated);
    }
    let mut padded = data_segment_by(ipv6_emitter(), b"", 0);
    padded.data.extend_from_slice(&[0xaa; 6]);
    assert!(parse(&padded).unwrap().payload.is_empty());
}

#[test]
fn a_checksum_left_to_the_device_is_the_pseudo_headers_sum() {
    let (mut packet, mut emitter) =
        (Packet::default(), emitter().with_ip(|ip| ip.leaving_checksum(true)));
    let header = Header { seq: 1, ack: 2, flags: Flags::ACK, window: 0xffff, ..Header::default() };
    emitter.begin(&header, &mut packet);
    emitter.finish(&mut packet);
    // The sums above: IPv4's header is complete, and 141d is the pseudo-header's.
    assert_eq!(
        (&packet.data[24..26], &packet.data[50..52]),
        (&[0x26, 0xce][..], &[0x14, 0x1d][..])
    );
    assert_eq!(packet.checksums, Checksums::Left { protocol: 6 });
    assert!(parse(&packet).is_ok(), "a node on its way out reads it");
    assert!(parse(&Packet::from_bytes(&packet.to_bytes())).is_err());
}

#[test]
fn another_time_to_live_changes_the_header_checksum_alone() {
    let header = Header { seq: 1, ack: 2, flags: Flags::ACK, window: 0xffff, ..Header::default() };
    let written = |mut emitter: Emitter| {
        let mut packet = Packet::default();
        emitter.begin(&header, &mut packet);
        emitter.finish(&mut packet);
        packet.to_bytes()
    };
    let mut expected = written(emitter());
    expected[22] = 2;
    // d931 less 4006 and with 0206: 9b31; its complement is 64ce.
    expected[24..26].copy_from_slice(&[0x64, 0xce]);
    assert_eq!(written(emitter().with_ip(|ip| ip.with_ttl(2))), expected);
}

#[test]
fn a_code_point_changes_the_header_checksum_alone() {
    let header = Header { seq: 1, ack: 2, window: 0xffff, ecn: Ecn::Ect0, ..Header::default() };
    let written = |mut emitter: Emitter| {
        let mut packet = Packet::default();
        emitter.begin(&header, &mut packet);
        emitter.finish(&mut packet);
        packet.to_bytes()
    };
    let plain = written(emitter().with_ip(|ip| ip.with_ttl(2)));
    let mut expected = plain.clone();
    // Code point 46 and ECT(0): 0xb8 + 2.
    expected[15] = 0xba;
    let sum = u32::from(!u16::from_be_bytes([plain[24], plain[25]])) + 0xb8;
    let checksum = !((sum & 0xffff) + (sum >> 16)) as u16;
    expected[24..26].copy_from_slice(&checksum.to_be_bytes());
    assert_eq!(written(emitter().with_ip(|ip| ip.with_ttl(2).with_dscp(46))), expected);
    assert_eq!(
        written(emitter().with_ip(|ip| ip.with_dscp(46).with_ttl(2))),
        expected,
        "in either order"
    );
}

#[test]
fn zeros_and_written_out_zeros_are_the_same_segment() {
    for payload in [&b""[..], b"a", b"ab", b"abc"] {
        let short = data_segment(payload, 101);
        let long = Packet::from_bytes(&short.to_bytes());
        let (a, b) = (parse(&short).unwrap(), parse(&long).unwrap());
        assert_eq!(a.payload.len(), b.payload.len());
        assert_eq!((a.seq, a.ack, a.window, a.options), (b.seq, b.ack, b.window, b.options));
        assert_eq!(a.ecn, Ecn::Ect0);
        assert_eq!(a.options.timestamps, Some((1, 2)));
        assert_eq!(a.payload.bytes, payload);
    }
}

#[test]
fn ethernet_padding_is_not_payload() {
    let mut packet = data_segment(b"", 0);
    packet.data.extend_from_slice(&[0xaa; 6]);
    assert!(parse(&packet).unwrap().payload.is_empty());
    packet.zeros = 3;
    assert!(parse(&packet).unwrap().payload.is_empty());
}

/// Only the checksums reveal a wrong time to live or payload.
#[test]
fn a_device_that_has_checked_the_sums_is_believed() {
    for at in [22, 66] {
        let mut packet = data_segment(b"stamp", 100);
        packet.data[at] ^= 1;
        assert!(parse(&packet).is_err());
        packet.checksums = Checksums::Verified;
        assert!(parse(&packet).is_ok());
    }
}

#[test]
fn each_fault_has_its_reason() {
    let damaged = |at: usize, byte: u8| {
        let mut packet = data_segment(b"stamp", 100);
        packet.data[at] = byte;
        parse(&packet).map(|_| ()).unwrap_err()
    };
    assert_eq!(damaged(12, 0x86), Discard::NotIp);
    assert_eq!(damaged(14, 0x65), Discard::BadIpHeader);
    assert_eq!(damaged(14, 0x44), Discard::BadIpHeader);
    assert_eq!(damaged(16, 0xff), Discard::Truncated);
    assert_eq!(damaged(22, 63), Discard::BadIpChecksum);
    assert_eq!(damaged(46, 0x40), Discard::BadTcpHeader);
    assert_eq!(damaged(66, b'S'), Discard::BadTcpChecksum);
    let mut short = data_segment(b"stamp", 100);
    short.truncate(80);
    assert_eq!(parse(&short).map(|_| ()).unwrap_err(), Discard::Truncated);
}

proptest! {
    /// The packets of a connection, written at once and in turn.
    #[test]
    fn zeros_are_written_alike_at_once_and_in_turn(
        (v6, leaves, dscp, flow) in (any::<bool>(), any::<bool>(), 0u8..64, any::<u32>()),
        packets in prop::collection::vec((any::<(u32, u32, u8, u16, u64)>(), 0u8..4, prop::option::of(any::<(u32, u32)>()), prop::collection::vec(any::<(u32, u32)>(), 0..3), prop_oneof![Just(0), 1u32..40, 1u32..9000]), 1..4),
    ) {
        let mut at_once = if v6 { ipv6_emitter() } else { emitter() }
            .with_ip(|ip| ip.leaving_checksum(leaves).with_dscp(dscp));
        let mut in_turn = at_once.clone();
        for ((seq, ack, flags, window, ps), ecn, timestamps, blocks, zeros) in packets {
            let mut options = Options { timestamps, ..Options::default() };
            blocks.iter().for_each(|&(left, right)| options.sack.push(left, right));
            let ecn = Ecn::from_bits(ecn);
            let header = Header { seq, ack, flags: Flags(flags), window, ecn, options };
            let (mut packet, mut expected) = (Packet::default(), Packet::default());
            at_once.emit_zeros(&header, zeros, (flow, Time::from_ps(ps)), &mut packet);
            in_turn.emit_zeros_in_turn(&header, zeros, (flow, Time::from_ps(ps)), &mut expected);
            prop_assert_eq!(&packet, &expected);
            prop_assert_eq!(parse(&packet).unwrap().payload.len(), zeros);
        }
    }

    #[test]
    fn random_bytes_never_panic(data in prop::collection::vec(any::<u8>(), 0..120), zeros in 0u32..2000) {
        let mut packet = Packet { data, zeros, ..Packet::default() };
        let _ = parse(&packet);
        if packet.data.len() > 14 {
            packet.data[12..15].copy_from_slice(&[0x86, 0xdd, 0x60]);
        }
        let _ = parse(&packet);
    }

    /// A single flipped bit after the Ethernet header is always detected.
    #[test]
    fn one_flipped_bit_is_found(bit in 14 * 8..(66 + 5) * 8usize) {
        let mut packet = data_segment(b"stamp", 100);
        packet.data[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(parse(&packet).is_err());
    }
}
