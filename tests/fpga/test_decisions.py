"""The decision core against its specification in whole numbers."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from narrows.testbed.targets.rtl.library import missing
from tests.fpga.core import CoDel, Core, Driven, Settings
from tests.fpga.specification import Port
from tests.support import needs

pytestmark = needs.without(missing())


def some_settings(rng: random.Random, basis: str) -> Settings:
    rate = rng.choice((rng.randint(1, 2**40 - 1), rng.randint(10**5, 10**10), 10**9))
    ps = 1500 * 8 * 10**12 // rate
    limit = rng.choice(
        (
            ("packets", rng.randint(0, 20)),
            ("bytes", rng.randint(0, 20_000)),
            ("time_ps", rng.randint(0, 20 * ps)),
        )
    )
    depths = rng.randint(0, 10), rng.randint(0, 10_000), rng.randint(0, 10 * ps)
    packets, bytes_, time_ps = (depth if rng.random() < 0.5 else None for depth in depths)
    return Settings(rate, limit, basis, (packets, bytes_, time_ps))


@pytest.mark.parametrize("seed", range(200))
def test_rows_and_departures_are_the_specifications(seed: int) -> None:
    rng = random.Random(seed)
    basis = rng.choice(("ip", "frame", "wire"))
    settings = some_settings(rng, basis)
    driven, port = Driven(settings), Port(settings)
    now = rng.choice((0, 10**12))
    for _ in range(100):
        gap = 1500 * 8 * 10**12 // settings.rate_bps
        now += rng.choice((0, rng.randint(0, 2 * gap), max(port.free_ps - now, 0)))
        if rng.random() < 0.05:
            settings = some_settings(rng, basis)
            driven.set(now, settings)
            port.set(now, settings)
        frame = rng.choice((60, 1514, rng.randint(0, 1514), rng.randint(0, 65535)))
        is_ecn_capable = rng.random() < 0.7
        driven.offer(now, frame, is_ecn_capable)
        port.offer(now, frame, is_ecn_capable)
    driven.run(now + 10**9)
    port.run(now + 10**9)
    assert driven.core.rows() == port.rows
    assert driven.sent == port.sent


def some_delay_control(rng: random.Random) -> Settings:
    """CoDel at 1 Gb/s, a packet of 1,500 bytes every 12 us."""
    target, interval = rng.randint(1000, 60 * 10**6), rng.randint(1000, 10 ** rng.randint(4, 9))
    codel = CoDel(target, interval, rng.choice((0, 1514, 6000)), rng.random() < 0.5)
    above = rng.choice((None, rng.randint(0, 200 * 10**6)))
    return Settings(10**9, ("packets", rng.choice((10, 100))), ecn=(None, None, above), codel=codel)


@pytest.mark.parametrize("seed", range(100))
def test_codel_drops_and_marks_as_rfc_8289_says(seed: int) -> None:
    rng = random.Random(seed)
    settings = some_delay_control(rng)
    driven, port = Driven(settings), Port(settings)
    now, load = 0, rng.uniform(0.5, 3)
    for n in range(400):
        # Overload, then a pause in which the queue empties.
        now += 40 * 12 * 10**6 if n % 100 == 99 else rng.randint(0, int(24 * 10**6 / load))
        if rng.random() < 0.01:
            settings = some_delay_control(rng) if rng.random() < 0.8 else Settings(10**9)
            driven.set(now, settings)
            port.set(now, settings)
        frame, is_ecn_capable = rng.choice((60, 1500, 1500)), rng.random() < 0.5
        driven.offer(now, frame, is_ecn_capable)
        port.offer(now, frame, is_ecn_capable)
    driven.run(now + 10**12)
    port.run(now + 10**12)
    assert driven.core.rows() == port.rows
    assert driven.sent == port.sent


def test_a_codel_queue_loses_by_codel_and_conserves_packets() -> None:
    driven = Driven(Settings(10**9, codel=CoDel(5 * 10**6, 10**8)))
    for n in range(3000):
        driven.offer(n * 8 * 10**6, 1500)
    driven.run(10**12)
    kinds = Counter((row.kind, row.reason) for row in driven.core.rows())
    assert kinds["drop", "codel"] > 200
    assert kinds["enqueue", ""] == kinds["dequeue", ""] == 3000
    assert len(driven.sent) == 3000 - kinds["drop", "codel"]


def test_a_minute_at_an_awkward_rate_loses_no_picosecond() -> None:
    rate, bytes_ = 9_999_937, 1250
    driven = Driven(Settings(rate))
    for _ in range(6000):
        driven.offer(0, bytes_)
    driven.run(60 * 10**12)
    ends = [end for _, _, end, _ in driven.sent]
    assert ends == [n * bytes_ * 8 * 10**12 // rate for n in range(1, 6001)]


@pytest.mark.parametrize("rate", [0, 2**40])
def test_a_rate_out_of_range_is_refused(rate: int) -> None:
    with pytest.raises(RuntimeError, match="a rate is from 1 bit/s"):
        Core().set(0, Settings(rate))


@pytest.mark.parametrize(
    "codel",
    [CoDel(10**13 + 1, 10**11), CoDel(0, 999), CoDel(0, 10**14 + 1), CoDel(0, 1000, 10**6 + 1)],
)
def test_a_codel_setting_out_of_range_is_refused(codel: CoDel) -> None:
    with pytest.raises(RuntimeError, match="CoDel's target is up to 10 s"):
        Core().set(0, Settings(10**9, codel=codel))


def test_a_frame_too_long_is_refused() -> None:
    with pytest.raises(RuntimeError, match="a frame has up to 65,535 bytes"):
        Core().offer(0, 65536)


def test_egress_drops_and_diverts_without_line_time() -> None:
    driven = Driven(Settings(10**9))
    for _ in range(4):
        driven.offer(0, 1250)
    core = driven.core
    for fate in ("dropped", "diverted"):
        assert core.dequeue(10_000_000)
        core.finish(1250, fate)
    assert core.dequeue(10_000_000)
    assert core.finish(1250) == (10_000_000, 20_000_000)
    assert [(row.kind, row.reason) for row in core.rows()[5:]] == [
        ("dequeue", ""), ("drop", "egress-program"), ("dequeue", ""), ("dequeue", ""),
    ]  # fmt: skip


def test_a_call_out_of_turn_is_refused() -> None:
    core = Core()
    core.offer(0, 1250)
    with pytest.raises(RuntimeError, match="a departure is due before the arrival"):
        core.offer(0, 1250)
    with pytest.raises(RuntimeError, match="no packet was dequeued"):
        Core().finish(1250)
