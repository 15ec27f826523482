"""Where packets leave, and which of their fields change."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw

from narrows.controller.matches import Lpm
from narrows.controller.state import TableEntry
from tests.packets.target import FLOW, PORTS, SINK, SOURCE, Target, built, forwarded, mac

TTL_EXPIRED, NO_ROUTE = 4, 3
"""`DROP_TTL` and `DROP_NO_ROUTE` of p4/metadata.p4."""
FLOW_TABLE = "NarrowsIngress.identify_flow.flow"
HEAD = Ether(src=mac(FLOW.source.mac), dst=mac(PORTS[SOURCE].mac))
ROUTER_ALERT = IPOption(b"\x94\x04\x00\x00")


def to_sink(src: str = "10.0.1.1", dst: str = "10.0.2.2", **fields: Any) -> Packet:
    return HEAD / IP(src=src, dst=dst, **fields)


def segment(payload: bytes = b"", **fields: Any) -> Packet:
    return built(to_sink(**fields) / TCP(sport=10001, dport=5001, seq=77) / payload)


GOOD = {
    "tcp": segment(b"x" * 10),
    "tcp, no payload": segment(b""),
    "tcp, largest frame": segment(b"x" * 1460),
    "tcp, odd length": segment(b"x" * 333),
    "tcp options": built(to_sink() / TCP(options=[("Timestamp", (1, 2)), ("NOP", None)]) / b"x"),
    "tcp, wrong checksum": built(to_sink() / TCP(chksum=0xBAD) / Raw(b"x" * 20)),
    "udp": built(to_sink() / UDP(sport=1, dport=2) / Raw(b"x" * 30)),
    "udp without checksum": built(to_sink() / UDP(chksum=0) / Raw(b"x" * 30)),
    "icmp": built(to_sink() / ICMP() / Raw(b"x" * 56)),
    "unknown protocol": built(to_sink(proto=254) / Raw(b"x" * 40)),
    "one option": segment(b"x" * 20, options=[ROUTER_ALERT]),
    "ten words of options": segment(b"x" * 20, options=[ROUTER_ALERT] * 10),
    "first fragment": segment(b"x" * 40, flags="MF", frag=0),
    "later fragment": built(to_sink(flags="MF", frag=3, proto=6) / Raw(b"x" * 16)),
    "later fragment shorter than its protocol's header": built(to_sink(frag=9, proto=6) / b"x"),
    "broadcast": built(Ether(dst="ff:ff:ff:ff:ff:ff") / segment(b"x" * 30)[IP]),
    "congestion experienced": segment(b"x" * 20, tos=3),
    "behind its packet an Ethernet trailer": built(segment(b"") / Raw(b"\xaa" * 6)),
    "shorter than its header says": built(to_sink(len=1500) / TCP() / Raw(b"x" * 20)),
    "a length that ends in its header": built(to_sink(len=3) / TCP() / Raw(b"x" * 20)),
}


@pytest.mark.parametrize("kind", GOOD)
def test_forwarding_changes_only_next_hop_and_ttl(target: Target, kind: str) -> None:
    packet = GOOD[kind]
    if len(packet) < target.wires.least_bytes:
        pytest.skip("this target's wires can't send so short a frame")
    if "fragment" in kind and not target.wires.keeps_fragments:
        pytest.skip("the kernel puts fragments together before this target's ports have them")
    target.set_up()
    out = target.exchange([bytes(packet)])
    assert out == {port: [forwarded(packet)] if port == SINK else [] for port in PORTS}


def test_every_packet_in_order(target: Target) -> None:
    rng = random.Random(7)
    packets = [
        segment(rng.randbytes(rng.randrange(6, 1400)), id=number, ttl=rng.randrange(2, 256))
        for number in range(200)
    ]
    target.set_up()
    counted = target.do(target.client.read_entry_counts(FLOW_TABLE))
    out = target.exchange([bytes(packet) for packet in packets])
    assert out[SINK] == [forwarded(packet) for packet in packets]
    after = target.do(target.client.read_entry_counts(FLOW_TABLE))
    [entry] = [line for line in after if counted[line] != after[line]]
    assert after[entry].packets - counted[entry].packets == len(packets)
    assert after[entry].octets - counted[entry].octets == sum(map(len, packets))


def test_the_ttl_ends_at_one(target: Target) -> None:
    packets = [segment(b"x" * 20, ttl=ttl) for ttl in (0, 1, 2, 3, 64, 128, 255)]
    target.set_up()
    before = target.dropped()
    out = target.exchange([bytes(packet) for packet in packets])
    assert out[SINK] == [forwarded(packet) for packet in packets[2:]]
    assert [frame[22] for frame in out[SINK]] == [1, 2, 63, 127, 254]
    assert target.dropped()[TTL_EXPIRED] - before[TTL_EXPIRED] == 2


def test_checksums_at_the_ends_of_ones_complement(target: Target) -> None:
    """Identifications that make the checksum 0, 1, 0xFFFE and so on, before or after the hop."""
    at = segment(b"x" * 20, id=0)
    # RFC 1624: raising the identification by n lowers the checksum by n, in ones' complement.
    checksum = at[IP].chksum
    identifications = {(checksum + away) % 0xFFFF for away in range(-3, 4)}
    identifications |= {(checksum + 0x100 + away) % 0xFFFF for away in range(-3, 4)}
    packets = [segment(b"x" * 20, id=value) for value in sorted(identifications)]
    assert {packet[IP].chksum for packet in packets} >= {0, 1, 2, 0xFFFC, 0xFFFD, 0xFFFE}
    target.set_up()
    out = target.exchange([bytes(packet) for packet in packets])
    assert out[SINK] == [forwarded(packet) for packet in packets]


def route(prefix: int, length: int, port: int, to: int) -> TableEntry:
    return TableEntry(
        "NarrowsIngress.forward.ipv4_lpm",
        {"hdr.ipv4.dst_addr": Lpm(prefix, length)},
        "NarrowsIngress.forward.route",
        {"port": port, "src_mac": PORTS[port].mac, "dst_mac": to},
    )


def test_the_longest_prefix_decides_after_every_change(target: Target) -> None:
    def sent() -> dict[int, list[bytes]]:
        return target.exchange([bytes(packet) for packet in packets])

    def expected(*hops: tuple[int, int]) -> dict[int, list[bytes]]:
        found: dict[int, list[bytes]] = {port: [] for port in PORTS}
        for packet, (port, to) in zip(packets, hops, strict=True):
            if port:
                found[port].append(forwarded(packet, port, to))
        return found

    addresses = ("20.1.2.3", "20.1.2.4", "20.1.9.9", "20.9.9.9", "21.0.0.0")
    packets = [built(HEAD / IP(dst=address) / UDP() / Raw(b"x" * 30)) for address in addresses]
    host = route(0x14010203, 32, SINK, 1)
    more = [host, route(0x14010200, 24, SOURCE, 2), route(0x14010000, 16, SINK, 3)]
    nowhere = (0, 0)
    target.set_up(more=[*more, route(0x14000000, 8, SOURCE, 4)])
    before = target.dropped()
    assert sent() == expected((SINK, 1), (SOURCE, 2), (SINK, 3), (SOURCE, 4), nowhere)
    assert target.dropped()[NO_ROUTE] - before[NO_ROUTE] == 1

    target.state = None
    target.do(target.client.write_entry(host, "delete"))
    moved = replace(more[2], params={**more[2].params, "port": SOURCE})
    target.do(target.client.write_entry(moved, "modify"))
    out = sent()
    assert out[SINK] == []
    assert len(out[SOURCE]) == 4

    target.do(target.client.write_entry(TableEntry(
        host.table, {"hdr.ipv4.dst_addr": Lpm(0, 0)}, host.action, host.params
    )))  # fmt: skip
    assert sent()[SINK] == [forwarded(packets[4], SINK, 1)]
