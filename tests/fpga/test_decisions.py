"""The decision core against its specification in whole numbers."""

from __future__ import annotations

import random

import pytest

from narrows.testbed.targets.rtl.library import missing
from tests.fpga.core import Core, Driven, Settings
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
