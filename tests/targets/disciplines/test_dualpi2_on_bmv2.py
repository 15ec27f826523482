"""DualPI2 of the P4 program on bmv2, whose two queues do not share a rate, beside `sim`."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from narrows.testbed.targets.linux import LINUX
from tests.support.needs import without
from tests.support.switches import lacking_for_bmv2
from tests.support.world import RunDirectory, run
from tests.targets.test_bmv2_run import any_run_on_bmv2, skip_if_void

pytestmark = [
    pytest.mark.skipif(bool(lacking_for_bmv2()), reason=lacking_for_bmv2() or ""),
    without(LINUX.missing()),
]

SECONDS = 12
STEADY_PS = 4 * 10**12
"""The flows have left slow start."""
SCENARIO = f"""
title = "Classic and scalable flows through bmv2"
duration = "{SECONDS}s"
profile = "linux"
[bottleneck]
rate = "10Mbps"
delay = "20ms"
queue = "200packets"
# The ramp begins above the 1.2 ms for which a scalable packet may wait for a classic one.
discipline = {{ name = "p4-dualpi2", any-ect = true, min-th = "4ms", range = "2ms" }}
[access]
rate = "1Gbps"
delay = "0.5ms"
[instrument]
poll_gap = "100ms"
departure_error = "2ms"
[[flow]]
variant = "cubic"
count = 2
start = {{ at = "0s", spread = "1s" }}
[[flow]]
variant = "dctcp"
count = 2
start = {{ at = "0s", spread = "1s" }}
"""
CLASSIC, SCALABLE = pl.col("flow") <= 2, pl.col("flow") > 2


@pytest.fixture(scope="module")
def on_bmv2(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    return any_run_on_bmv2(tmp_path_factory.mktemp("bmv2"), SCENARIO)


def left(done: RunDirectory, which: pl.Expr) -> pl.DataFrame:
    """Departures of these flows in steady state."""
    rows = done.table("queue").filter(pl.col("event") == "dequeue")
    return rows.filter(which & (pl.col("time_ps") > STEADY_PS))


def rate_bps(done: RunDirectory, which: pl.Expr) -> float:
    """Their bits per second."""
    return 8e12 * float(left(done, which)["length_bytes"].sum()) / (SECONDS * 10**12 - STEADY_PS)


def delay_ms(done: RunDirectory, which: pl.Expr) -> float:
    """Their mean queueing delay."""
    return float(left(done, which)["sojourn_ps"].to_numpy().mean()) / 1e9


def test_each_packet_has_one_fate_and_its_queue(on_bmv2: RunDirectory) -> None:
    bottleneck = on_bmv2.summary["bottleneck"]
    drops = bottleneck["drops"]
    assert bottleneck["arrived"] == bottleneck["enqueued"] + drops.get("queue-full", 0)
    assert bottleneck["enqueued"] == bottleneck["dequeued"] + bottleneck["queued"]
    assert drops["egress-program"] > 0 and bottleneck["marks"]["egress-program"] > 0
    # Queue 0 is served first, as in every ledger. Bare ACKs are not ECN-capable.
    assert set(left(on_bmv2, SCALABLE)["queue"]) == {0}
    assert set(left(on_bmv2, CLASSIC)["queue"]) == {1}


def test_the_two_queues_share_the_rate(on_bmv2: RunDirectory, tmp_path: Path) -> None:
    skip_if_void(on_bmv2)
    rates = [rate_bps(on_bmv2, each) for each in (SCALABLE, CLASSIC)]
    # Without the copies each queue had 10 Mb/s. The rate is 826 packets of 1,514 bytes.
    assert sum(rates) < 10.1e6
    virtual = run(tmp_path, SCENARIO)
    assert sum(rates) == pytest.approx(rate_bps(virtual, CLASSIC | SCALABLE), rel=0.05)
    share = rate_bps(virtual, SCALABLE) / rate_bps(virtual, CLASSIC | SCALABLE)
    assert rates[0] / sum(rates) == pytest.approx(share, abs=0.12)


def test_delays_and_signals_are_those_of_sim(on_bmv2: RunDirectory, tmp_path: Path) -> None:
    skip_if_void(on_bmv2)
    virtual = run(tmp_path, SCENARIO)
    assert delay_ms(on_bmv2, CLASSIC) == pytest.approx(delay_ms(virtual, CLASSIC), rel=0.2)
    # A scalable packet does not wait for the rest of a classic one.
    assert delay_ms(on_bmv2, SCALABLE) < delay_ms(virtual, SCALABLE) < 3
    ours, theirs = on_bmv2.summary["bottleneck"], virtual.summary["bottleneck"]
    marks, drops = (
        ours[kind]["egress-program"] / theirs[kind]["egress-program"] for kind in ("marks", "drops")
    )
    assert marks == pytest.approx(1, rel=0.4)
    # Most drops end slow start, at one instant or another.
    assert 1 / 3 < drops < 3
