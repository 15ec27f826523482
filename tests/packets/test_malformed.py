"""Packets that a switch must drop, and count by reason. A good packet passes after each."""

from __future__ import annotations

import random

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Raw

from tests.packets.target import SINK, Target, built, forwarded
from tests.packets.test_forwarding import HEAD, NO_ROUTE, ROUTER_ALERT, segment, to_sink

MALFORMED, NOT_IP = 1, 2
"""`DROP_MALFORMED` and `DROP_NOT_IPV4` of p4/metadata.p4."""
IHL = 14
FRAGMENT_BITS = (48, 64)
"""Part of the IPv4 header."""
PLAIN = bytes(segment(b"x" * 46))
OPTIONS = bytes(segment(b"x" * 46, options=[ROUTER_ALERT] * 10))
DATAGRAM = bytes(built(to_sink() / UDP() / Raw(b"x" * 46)))
IPV6 = bytes(built(HEAD / IPv6(dst="fd00::1") / TCP() / Raw(b"x" * 40)))
IPV6_DATAGRAM = bytes(built(HEAD / IPv6(dst="fd00::1") / UDP() / Raw(b"x" * 40)))


def with_byte(frame: bytes, at: int, value: int) -> bytes:
    """A frame with one byte changed, and the checksum of its IPv4 header corrected."""
    changed = Ether(frame[:at] + bytes([value]) + frame[at + 1 :])
    words = bytearray(bytes(changed))
    words[24:26] = b"\0\0"
    length = 4 * (words[IHL] & 15)
    header = bytes(words[14 : 14 + max(length, 20)])
    total = sum(int.from_bytes(header[i : i + 2], "big") for i in range(0, len(header), 2))
    total = (total & 0xFFFF) + (total >> 16)
    words[24:26] = (0xFFFF - (total & 0xFFFF) - (total >> 16)).to_bytes(2, "big")
    return bytes(words)


BAD = {
    "no Ethernet header": (PLAIN[:6], MALFORMED),
    "an Ethernet header less a byte": (PLAIN[:13], MALFORMED),
    "IPv4 announced, nothing there": (PLAIN[:14], MALFORMED),
    "IPv4 header less a byte": (PLAIN[:33], MALFORMED),
    "IPv4 header alone, TCP announced": (PLAIN[:34], MALFORMED),
    "TCP header less a byte": (PLAIN[:53], MALFORMED),
    "UDP header less a byte": (DATAGRAM[:41], MALFORMED),
    "options less a byte": (OPTIONS[:73], MALFORMED),
    "TCP header behind options less a byte": (OPTIONS[:93], MALFORMED),
    "options announced beyond the frame": (with_byte(PLAIN[:70], IHL, 0x4F), MALFORMED),
    "version 0": (with_byte(PLAIN, IHL, 0x05), MALFORMED),
    "version 6 under IPv4's type": (with_byte(PLAIN, IHL, 0x65), MALFORMED),
    "header of no words": (with_byte(PLAIN, IHL, 0x40), MALFORMED),
    "header of four words": (with_byte(PLAIN, IHL, 0x44), MALFORMED),
    "checksum": (bytes(to_sink(chksum=0x1234) / TCP() / Raw(b"x" * 40)), MALFORMED),
    "no checksum": (bytes(to_sink(chksum=0) / TCP() / Raw(b"x" * 40)), MALFORMED),
    "checksum with options": (OPTIONS[:40] + b"\xff" + OPTIONS[41:], MALFORMED),
    "ARP": (bytes(HEAD / ARP() / Raw(b"x" * 40)), NOT_IP),
    "IPv6 announced, nothing there": (IPV6[:14], MALFORMED),
    "IPv6 header less a byte": (IPV6[:53], MALFORMED),
    "TCP header behind IPv6 less a byte": (IPV6[:73], MALFORMED),
    "UDP header behind IPv6 less a byte": (IPV6_DATAGRAM[:61], MALFORMED),
    "version 4 under IPv6's type": (IPV6[:14] + b"\x45" + IPV6[15:], MALFORMED),
    "IPv6 without a route": (IPV6, NO_ROUTE),
    "a VLAN tag": (bytes(HEAD / Dot1Q(vlan=5) / IP() / TCP() / Raw(b"x" * 40)), NOT_IP),
    "a length for a type (802.3)": (PLAIN[:12] + b"\x00\x40" + PLAIN[14:], NOT_IP),
    "LLDP": (PLAIN[:12] + b"\x88\xcc" + PLAIN[14:], NOT_IP),
}


@pytest.mark.parametrize("kind", BAD)
def test_it_is_dropped_for_its_reason(target: Target, kind: str) -> None:
    frame, reason = BAD[kind]
    if len(frame) < target.wires.least_bytes:
        pytest.skip("this target's wires can't send so short a frame")
    after = segment(b"x" * 20)
    target.set_up()
    before = target.dropped()
    assert target.exchange([frame, bytes(after)]) == {1: [], SINK: [forwarded(after)], 3: []}
    counted = target.dropped()
    assert {n: counted[n] - before[n] for n in counted if counted[n] != before[n]} == {reason: 1}


@pytest.mark.parametrize("frame", [PLAIN, OPTIONS], ids=["plain", "options"])
def test_no_single_bit_of_the_header_can_change(target: Target, frame: bytes) -> None:
    """A ones' complement sum detects every single-bit error (RFC 1071)."""
    header_bytes = 4 * (frame[IHL] & 15)
    flipped = []
    for bit in range(8 * header_bytes):
        if not target.wires.keeps_fragments and FRAGMENT_BITS[0] <= bit < FRAGMENT_BITS[1]:
            continue
        changed = bytearray(frame)
        changed[14 + bit // 8] ^= 1 << bit % 8
        flipped.append(bytes(changed))
    target.set_up()
    before = target.dropped()
    assert target.exchange(flipped) == {1: [], SINK: [], 3: []}
    assert target.dropped()[MALFORMED] - before[MALFORMED] == len(flipped)


def test_noise_passes_nothing_and_stops_nothing(target: Target) -> None:
    rng = random.Random(11)
    noise = []
    for number in range(300):
        frame = bytearray(rng.randbytes(rng.choice([60, 61, 64, 90, 200, 1514])))
        frame[12:14] = (b"\x08\x00", b"\x88\xb5", b"\x86\xdd")[number % 3]
        frame[14] &= 0x5F
        noise.append(bytes(frame))
    after = segment(b"x" * 20)
    target.set_up()
    before = target.dropped()
    assert target.exchange([*noise, bytes(after)]) == {1: [], SINK: [forwarded(after)], 3: []}
    counted = target.dropped()
    assert counted[MALFORMED] - before[MALFORMED] == 200
    assert counted[NOT_IP] - before[NOT_IP] == 100
