"""Reports and marks: the program's report of a packet, against the packet itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw

from narrows.controller.stages import ECN, TELEMETRY, PortStage
from narrows.traffic.scapy import FlowMetadata, HopMetadata, IndividualReport, TelemetryReport
from tests.packets.target import (
    COLLECTOR_UDP,
    FLOW,
    NODE,
    PORTS,
    REPORTS,
    SINK,
    SOURCE,
    Target,
    built,
    forwarded,
    is_marker,
    mac,
)
from tests.packets.test_forwarding import HEAD, ROUTER_ALERT, segment, to_sink
from tests.support.real_time import Machine

BURST = 12
PACKET_BYTES = 1000
PACKETS_PER_S = 50
"""A packet takes 20 ms: the whole burst arrives before the first packet has left."""
RATE_BPS = PACKETS_PER_S * PACKET_BYTES * 8
NOT_CAPABLE, CAPABLE_1, CAPABLE_0, EXPERIENCED = range(4)
"""RFC 3168 section 5."""


def reported(
    target: Target,
    packets: Sequence[Packet],
    every: int = 1,
    stages: Mapping[PortStage, float] | None = None,
) -> list[Packet]:
    """Sends packets, and returns their reports; all must leave unchanged."""
    target.set_up(sink=replace(PORTS[SINK], stages={**(stages or {}), TELEMETRY: every}))
    out = target.exchange([bytes(packet) for packet in packets])
    assert out[SINK] == [forwarded(packet) for packet in packets]
    return [Ether(frame) for frame in out[REPORTS]]


def test_every_field_of_a_report(target: Target) -> None:
    elsewhere = built(to_sink() / TCP(sport=2, dport=3, seq=1 << 31) / Raw(b"x" * 700))
    packets = [
        segment(b"x" * 100),
        elsewhere,
        segment(b"x" * 6, options=[ROUTER_ALERT]),
        built(to_sink() / UDP(sport=4, dport=5) / Raw(b"x" * 30)),
        built(to_sink() / ICMP() / Raw(b"x" * 56)),
        built(to_sink(proto=254) / Raw(b"x" * 26)),
    ]
    reports = reported(target, packets)
    assert len(reports) == len(packets)
    first = reports[0][TelemetryReport].sequence
    for number, (report, packet) in enumerate(zip(reports, packets, strict=True)):
        group, main, hop, flow = (
            report[layer]
            for layer in (TelemetryReport, IndividualReport, HopMetadata, FlowMetadata)
        )
        inner = bytes(packet[IP])[:40]
        assert (report.src, report.dst) == (mac(PORTS[REPORTS].mac), mac(0x02CC))
        outer = report[IP]
        assert (outer.dst, outer.ttl, outer.proto) == ("10.0.255.1", 64, 17)
        assert outer.len == len(report) - 14 == 20 + 76 + len(inner)
        assert bytes(built(report)) == bytes(report)
        checked = outer.copy()
        del checked.chksum
        assert IP(bytes(checked)).chksum == outer.chksum
        assert (report[UDP].dport, report[UDP].len) == (COLLECTOR_UDP, 76 + len(inner))
        assert (group.version, group.node_id) == (2, NODE)
        assert group.sequence == (first + number) % 2**22
        assert (main.report_type, main.inner_type, main.metadata_words) == (1, 4, 12)
        assert main.report_words == 14 + -(-len(inner) // 4)
        assert (hop.ingress_port, hop.egress_port, hop.queue_id) == (SOURCE, SINK, 0)
        assert hop.egress_timestamp_ns - hop.ingress_timestamp_ns == hop.hop_latency_ns
        assert flow.queue_delay_ns <= hop.hop_latency_ns
        assert (flow.ip_length, flow.frame_length) == (packet[IP].len, len(packet))
        assert flow.tcp_sequence == (packet[TCP].seq if TCP in packet else 0)
        assert bytes(flow.payload)[: len(inner)] == forwarded(packet)[14 : 14 + len(inner)]
    ids = [report[FlowMetadata].flow_id for report in reports]
    assert ids[0] == ids[2] == FLOW.id
    # The rest has no entry, so it is hashes, which have the top bit set.
    others = [ids[1], *ids[3:]]
    assert all(number >> 31 for number in others)
    assert len({ids[1], ids[3]}) == 2


def test_one_in_so_many_is_reported(target: Target) -> None:
    packets = [segment(b"x" * 20, id=number) for number in range(1, 21)]
    # Markers to the port count as well, so the count may start anywhere.
    reports = [one for one in reported(target, packets, every=4) if not is_marker(bytes(one))]
    numbers = [report[FlowMetadata][IP].id for report in reports]
    assert len(numbers) in (4, 5)
    assert {b - a for a, b in pairwise(numbers)} <= {3, 4}


def burst(target: Target, tos: Sequence[int], threshold: int) -> list[tuple[bytes, Packet]]:
    """A burst of packets with these codepoints through a slow port: each as it left, and its
    report.
    """
    target.set_up(sink=replace(PORTS[SINK], stages={ECN: threshold, TELEMETRY: 1}))
    assert target.shape(RATE_BPS, {"packets": 100}) == RATE_BPS
    payload = b"x" * (PACKET_BYTES - 54)
    packets = [segment(payload, id=number, tos=one) for number, one in enumerate(tos)]
    out = target.exchange([bytes(packet) for packet in packets])
    reports = [Ether(frame) for frame in out[REPORTS]]
    assert len(out[SINK]) == len(reports) == len(packets)
    return list(zip(out[SINK], reports, strict=True))


def test_depths_and_delays_are_those_of_a_full_queue(target: Target, machine: Machine) -> None:
    """A burst of twelve: the first leaves at once, number n after n times 20 ms."""
    reports = [report for _, report in burst(target, [NOT_CAPABLE] * BURST, threshold=1000)]
    times = [report[HopMetadata].egress_timestamp_ns * target.tick_ns for report in reports]
    assert times == sorted(times)
    with machine.figures():
        for number, report in enumerate(reports):
            flow, hop = report[FlowMetadata], report[HopMetadata]
            if number >= 2:
                # All earlier packets but the one on the line wait before it; all later ones wait
                # behind it.
                assert flow.enqueue_depth == number - 1
                # A marker follows the burst, and waits too.
                assert hop.queue_depth in (BURST - 1 - number, BURST - number)
                waited_ms = flow.queue_delay_ns * target.tick_ns / 1e6
                assert waited_ms == pytest.approx(number * 1000 / PACKETS_PER_S, abs=5)
        assert (times[-1] - times[1]) / 1e6 == pytest.approx((BURST - 2) * 20, abs=5)


def test_marks_are_for_the_capable_above_the_threshold(target: Target, machine: Machine) -> None:
    threshold = 4
    sent = [NOT_CAPABLE, CAPABLE_1, CAPABLE_0, EXPERIENCED] * (BURST // 4)
    marks = 0
    for was, (frame, report) in zip(sent, burst(target, sent, threshold), strict=True):
        left = Ether(frame)[IP]
        above = report[HopMetadata].queue_depth > threshold
        expected = EXPERIENCED if above and was != NOT_CAPABLE else was
        assert left.tos == expected
        marks += expected != was
        right = left.copy()
        del right.chksum
        assert IP(bytes(right)).chksum == left.chksum
    # Numbers 2 to 6 have more than four behind them; two of these could be marked and were not.
    with machine.figures():
        assert marks >= 3


def test_a_full_queue_drops_the_tail(target: Target, machine: Machine) -> None:
    """One is on the line and four wait; the queue has no room for the eleven behind them."""
    target.set_up()
    target.shape(RATE_BPS, {"packets": 4})
    packets = [segment(b"x" * (PACKET_BYTES - 54), id=number) for number in range(16)]
    out = target.exchange([bytes(packet) for packet in packets])[SINK]
    assert set(out) <= {forwarded(packet) for packet in packets}
    # bmv2 takes the first out when its thread wakes up, so a later one may find room.
    fifth = packets[4:] if target.name == "bmv2" else packets[4:5]
    with machine.figures():
        assert out[:4] == [forwarded(packet) for packet in packets[:4]]
        assert len(out) == 5
        assert out[4] in [forwarded(packet) for packet in fifth]


def test_the_way_back_is_not_reported(target: Target) -> None:
    target.set_up(sink=replace(PORTS[SINK], stages={TELEMETRY: 1}))
    back = built(HEAD / IP(src="10.0.2.2", dst="10.0.1.1") / TCP() / Raw(b"x" * 20))
    out = target.exchange([bytes(back)], into=SINK)
    assert out[SOURCE] == [forwarded(back, SOURCE, FLOW.source.mac)]
    assert out[REPORTS] == []
