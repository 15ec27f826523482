"""Random loss: at the configured rate, independent per packet, and counted."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from narrows.controller.stages import LOSS
from tests.packets.target import CHUNK, LOSSES, PORTS, SINK, Target
from tests.packets.test_forwarding import segment

PACKETS = 40 * CHUNK
PACKET = bytes(segment(b"x" * 20))
UNLIKELY = 1e-7
"""The probability that a correct switch fails one of these tests."""


def tail(successes: int, trials: int, p: float) -> float:
    """The binomial distribution's probability of a number of successes at least as extreme; the
    smaller tail is doubled.
    """

    def at(k: int) -> float:
        ways = math.lgamma(trials + 1) - math.lgamma(k + 1) - math.lgamma(trials - k + 1)
        return math.exp(ways + k * math.log(p) + (trials - k) * math.log1p(-p))

    below = math.fsum(map(at, range(successes + 1)))
    above = math.fsum(map(at, range(successes, trials + 1)))
    return min(2 * below, 2 * above, 1.0)


def test_the_tail_is_that_of_a_coin() -> None:
    # 0, 1, 9 or 10 heads of 10: 2 (1 + 10) / 1024.
    assert tail(1, 10, 0.5) == pytest.approx(22 / 1024)


@pytest.mark.parametrize("probability", [0.02, 0.3, 0.8])
def test_packets_are_lost_as_often_as_said_and_each_by_itself(
    target: Target, probability: float
) -> None:
    target.set_up(sink=replace(PORTS[SINK], stages={LOSS: probability}))
    before = target.dropped()[LOSSES]
    sent = [PACKET[:-4] + number.to_bytes(4, "big") for number in range(PACKETS)]
    came = {int.from_bytes(frame[-4:], "big") for frame in target.exchange(sent)[SINK]}
    lost = [number not in came for number in range(PACKETS)]
    # Markers to the port are lost too.
    assert target.dropped()[LOSSES] - before >= sum(lost)
    assert tail(sum(lost), PACKETS, probability) > UNLIKELY, f"{sum(lost)} of {PACKETS} lost"
    # The probability that two neighbours are both lost is the square of one's.
    both = sum(a and b for a, b in zip(lost[::2], lost[1::2], strict=True))
    assert tail(both, PACKETS // 2, probability**2) > UNLIKELY, f"{both} pairs lost"


@pytest.mark.parametrize("probability", [0.0, 2**-32])
def test_none_is_lost_where_none_should_be(target: Target, probability: float) -> None:
    target.set_up(sink=replace(PORTS[SINK], stages={LOSS: probability}))
    before = target.dropped()
    assert len(target.exchange([PACKET] * (10 * CHUNK))[SINK]) == 10 * CHUNK
    assert target.dropped() == before


def test_another_port_loses_nothing(target: Target) -> None:
    target.set_up(sink=replace(PORTS[SINK], stages={LOSS: 0.8}))
    back = segment(b"x" * 20, src="10.0.2.2", dst="10.0.1.1")
    assert len(target.exchange([bytes(back)] * (5 * CHUNK), into=SINK)[1]) == 5 * CHUNK
