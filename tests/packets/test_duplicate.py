"""Duplication: at the configured rate, independent per packet, counted; both copies are whole."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from narrows.controller.stages import DUPLICATE, LOSS, TELEMETRY
from tests.packets.target import CHUNK, PORTS, REPORTS, SINK, Target, forwarded
from tests.packets.test_forwarding import segment
from tests.packets.test_loss import PACKET, PACKETS, UNLIKELY, tail

COUNTER = "NarrowsIngress.random_duplicate.duplicates"


def counted(target: Target) -> int:
    """The packets that the program has sent twice towards SINK."""
    return target.do(target.client.read_counters(COUNTER))[SINK].packets


@pytest.mark.parametrize("probability", [0.02, 0.3, 0.8])
def test_packets_leave_twice_as_often_as_said(target: Target, probability: float) -> None:
    target.set_up(sink=replace(PORTS[SINK], stages={DUPLICATE: probability}))
    before = counted(target)
    sent = [PACKET[:-4] + number.to_bytes(4, "big") for number in range(PACKETS)]
    came = Counter(int.from_bytes(frame[-4:], "big") for frame in target.exchange(sent)[SINK])
    assert set(came) == set(range(PACKETS))
    assert set(came.values()) == {1, 2}
    twice = [came[number] == 2 for number in range(PACKETS)]
    # Markers to the port are duplicated too.
    assert counted(target) - before >= sum(twice)
    assert tail(sum(twice), PACKETS, probability) > UNLIKELY, f"{sum(twice)} of {PACKETS} twice"
    # The probability that two neighbours are both duplicated is the square of one's.
    both = sum(a and b for a, b in zip(twice[::2], twice[1::2], strict=True))
    assert tail(both, PACKETS // 2, probability**2) > UNLIKELY, f"{both} pairs twice"


def test_both_copies_are_forwarded_and_reported(target: Target) -> None:
    stages = {DUPLICATE: 1 - 2**-32, TELEMETRY: 1}
    target.set_up(sink=replace(PORTS[SINK], stages=stages))
    packet = segment(b"x" * 20)
    out = target.exchange([bytes(packet)])
    assert out[SINK] == [forwarded(packet)] * 2
    assert len(out[REPORTS]) == 2


def test_a_lost_packet_is_not_duplicated(target: Target) -> None:
    target.set_up(sink=replace(PORTS[SINK], stages={DUPLICATE: 1 - 2**-32, LOSS: 0.5}))
    sent = [PACKET[:-4] + number.to_bytes(4, "big") for number in range(10 * CHUNK)]
    came = Counter(int.from_bytes(frame[-4:], "big") for frame in target.exchange(sent)[SINK])
    assert set(came.values()) == {2}
    assert tail(len(came), len(sent), 0.5) > UNLIKELY


def test_another_port_duplicates_nothing(target: Target) -> None:
    target.set_up(sink=replace(PORTS[SINK], stages={DUPLICATE: 0.8}))
    back = segment(b"x" * 20, src="10.0.2.2", dst="10.0.1.1")
    assert len(target.exchange([bytes(back)] * (5 * CHUNK), into=SINK)[1]) == 5 * CHUNK
