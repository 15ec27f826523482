"""IPv6 through the switch: next hop, hop limit, flow, mark and report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from ipaddress import IPv6Address
from typing import Any

import pytest
from scapy.layers.inet import TCP, UDP
from scapy.layers.inet6 import ICMPv6EchoRequest, IPv6, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw

from narrows.controller import topology as net
from narrows.controller.matches import Lpm
from narrows.controller.routes import routes
from narrows.controller.stages import ECN, TELEMETRY
from narrows.controller.state import TableEntry
from narrows.controller.switch import switch_state
from narrows.testbed.targets.bmv2.clock import is_report_of, probe
from narrows.traffic.scapy import FlowMetadata, IndividualReport
from tests.packets.target import FLOW, NODE, PORTS, REPORTS, SINK, SOURCE, Target, built, forwarded
from tests.packets.test_forwarding import HEAD, NO_ROUTE, TTL_EXPIRED

FLOW_TABLE = "NarrowsIngress.identify_flow.ipv6_flow"
SENDER = replace(FLOW.source, ip=IPv6Address("fd00::a00:101"))
RECEIVER = replace(FLOW.destination, ip=IPv6Address("fd00::a00:202"))
OURS = net.Flow(66, SENDER, RECEIVER, FLOW.source_port, FLOW.destination_port)


def entries() -> tuple[TableEntry, ...]:
    """What the controller writes for two hosts with IPv6 and a flow between them."""
    switch = net.Switch("s1", NODE, tuple(PORTS.values()))
    topology = net.Topology((switch,), hosts=(SENDER, RECEIVER), flows=(OURS,))
    return switch_state(topology, routes(topology), switch).entries


def to_sink(**fields: Any) -> Packet:
    return HEAD / IPv6(src=str(SENDER.ip), dst=str(RECEIVER.ip), **fields)


def segment(payload: bytes = b"", **fields: Any) -> Packet:
    return built(to_sink(**fields) / TCP(sport=10001, dport=5001, seq=77) / payload)


GOOD = {
    "tcp": segment(b"x" * 10),
    "tcp, no payload": segment(b""),
    "tcp, largest frame": segment(b"x" * 1440),
    "tcp, wrong checksum": built(to_sink() / TCP(chksum=0xBAD) / Raw(b"x" * 20)),
    "udp": built(to_sink() / UDP(sport=1, dport=2) / Raw(b"x" * 30)),
    "icmp": built(to_sink() / ICMPv6EchoRequest(data=b"x" * 20)),
    "no next header": built(to_sink(nh=59) / Raw(b"x" * 20)),
    "nothing behind the header": built(to_sink(nh=59)),
    "hop-by-hop options": built(to_sink() / IPv6ExtHdrHopByHop() / TCP() / Raw(b"x" * 20)),
    "a fragment": built(to_sink() / IPv6ExtHdrFragment(m=1) / Raw(b"x" * 32)),
    "class and label": segment(b"x" * 20, tc=0xFF, fl=0xFFFFF),
    "shorter than its header says": built(to_sink(plen=1500) / TCP() / Raw(b"x" * 20)),
    "a length of zero": built(to_sink(plen=0) / TCP() / Raw(b"x" * 20)),
}


@pytest.mark.parametrize("kind", GOOD)
def test_forwarding_changes_next_hop_and_hop_limit(target: Target, kind: str) -> None:
    target.set_up(more=entries())
    out = target.exchange([bytes(GOOD[kind])])
    assert out == {port: [forwarded(GOOD[kind])] if port == SINK else [] for port in PORTS}


def test_the_hop_limit_ends_at_one(target: Target) -> None:
    packets = [segment(b"x" * 20, hlim=limit) for limit in (0, 1, 2, 64, 255)]
    target.set_up(more=entries())
    before = target.dropped()
    out = target.exchange([bytes(packet) for packet in packets])
    assert [frame[21] for frame in out[SINK]] == [1, 63, 254]
    assert target.dropped()[TTL_EXPIRED] - before[TTL_EXPIRED] == 2


def test_the_longest_of_128_bits_decides(target: Target) -> None:
    def route(prefix: str, length: int, port: int, to: int) -> TableEntry:
        matches = {"hdr.ipv6.dst_addr": Lpm(int(IPv6Address(prefix)), length)}
        params = {"port": port, "src_mac": PORTS[port].mac, "dst_mac": to}
        table = "NarrowsIngress.forward.ipv6_lpm"
        return TableEntry(table, matches, "NarrowsIngress.forward.route", params)

    addresses = ("fd01::1:2", "fd01::1:3", "fd01::2:0", "fd01:0:0:1::", "fd02::")
    packets = [built(HEAD / IPv6(dst=one) / UDP() / Raw(b"x" * 30)) for one in addresses]
    target.set_up(
        more=[
            route("fd01::1:2", 128, SINK, 1),
            route("fd01::1:0", 112, SOURCE, 2),
            route("fd01::", 64, SINK, 3),
            route("fd01::", 32, SOURCE, 4),
        ]
    )
    before = target.dropped()
    out = target.exchange([bytes(packet) for packet in packets])
    first, second, third, fourth, _ = packets
    assert out[SINK] == [forwarded(first, SINK, 1), forwarded(third, SINK, 3)]
    assert out[SOURCE] == [forwarded(second, SOURCE, 2), forwarded(fourth, SOURCE, 4)]
    assert target.dropped()[NO_ROUTE] - before[NO_ROUTE] == 1


def reported(target: Target, packets: Sequence[Packet]) -> list[Packet]:
    """Sends packets; returns their reports."""
    target.set_up(sink=replace(PORTS[SINK], stages={TELEMETRY: 1}), more=entries())
    out = target.exchange([bytes(packet) for packet in packets])
    assert out[SINK] == [forwarded(packet) for packet in packets]
    return [Ether(frame) for frame in out[REPORTS]]


def test_reports_name_the_flow_and_hold_60_bytes(target: Target) -> None:
    packets = [
        segment(b"x" * 100),
        built(to_sink() / TCP(sport=2, dport=3, seq=1 << 31) / Raw(b"x" * 700)),
        built(to_sink() / TCP(sport=2, dport=4) / Raw(b"x" * 700)),
        built(to_sink() / UDP(sport=4, dport=5) / Raw(b"x" * 3)),
        built(to_sink() / IPv6ExtHdrHopByHop() / TCP(sport=2, dport=3)),
        built(to_sink() / IPv6ExtHdrHopByHop() / TCP(sport=2, dport=4)),
        built(to_sink(nh=59) / Raw(b"x" * 10)),
    ]
    reports = reported(target, packets)
    assert len(reports) == len(packets)
    for report, packet in zip(reports, packets, strict=True):
        main, flow = report[IndividualReport], report[FlowMetadata]
        length = len(packet) - 14
        inner = min(length, 60)
        assert (main.inner_type, main.report_words) == (5, 14 + -(-inner // 4))
        assert (flow.ip_length, flow.frame_length) == (length, len(packet))
        plain = packet[TCP].seq if packet[IPv6].nh == 6 else 0
        assert flow.tcp_sequence == plain
        assert bytes(flow.payload)[:inner] == forwarded(packet)[14 : 14 + inner]
        assert isinstance(flow.payload, IPv6)
    ids = [report[FlowMetadata].flow_id for report in reports]
    assert ids[0] == OURS.id
    # The rest are hashes: of addresses and next header alone where an extension header comes first.
    assert all(number >> 31 for number in ids[1:])
    assert len(set(ids[1:4])) == 3
    assert ids[4] == ids[5]


@pytest.mark.parametrize("to", [FLOW.destination, RECEIVER], ids=["ipv4", "ipv6"])
def test_a_probes_report_is_known_by_its_number(target: Target, to: net.Host) -> None:
    numbers = (3, 0xFFFF, 260)
    reports = reported(target, [built(Ether(probe(str(to.ip), number))) for number in numbers])
    known = [[is_report_of(bytes(report), number) for number in numbers] for report in reports]
    assert known == [[row == column for column in range(3)] for row in range(3)]
    assert not is_report_of(bytes(reports[0])[:100], 0)


def test_an_entry_counts_its_flow(target: Target) -> None:
    packets = [segment(b"x" * size) for size in (20, 30, 40)]
    target.set_up(more=entries())
    before = target.do(target.client.read_entry_counts(FLOW_TABLE))
    target.exchange([bytes(packet) for packet in packets])
    after = target.do(target.client.read_entry_counts(FLOW_TABLE))
    [entry] = [line for line in after if before[line] != after[line]]
    assert after[entry].packets - before[entry].packets == 3
    assert after[entry].octets - before[entry].octets == sum(map(len, packets))


def test_marks_go_to_packets_that_can_carry_them(target: Target) -> None:
    """The link takes 20 ms for a packet, so all wait when the second leaves."""
    sink = replace(PORTS[SINK], stages={ECN: 1})
    target.set_up(sink=sink, more=entries())
    assert target.shape(400_000, {"packets": 100}) == 400_000
    codes = [0, 1, 2, 3] * 3
    packets = [segment(b"x" * 926, tc=0x40 | code) for code in codes]
    out = target.exchange([bytes(packet) for packet in packets])[SINK]
    expected = [0 if code == 0 else 3 for code in codes]
    found = [IPv6(frame[14:]).tc for frame in out]
    assert [tc >> 2 for tc in found] == [0x10] * len(codes)
    assert [tc & 3 for tc in found][:8] == expected[:8]
