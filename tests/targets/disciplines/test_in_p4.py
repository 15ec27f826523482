"""The P4 program's queue disciplines on `--target dpdk`, beside the same scenario on `sim`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.support.real_time import judged, needs_dpdk
from tests.support.world import RunDirectory, narrows, run, write

pytestmark = needs_dpdk

SCENARIO = """
title = "A discipline of the P4 program, in real time"
duration = "6s"
profile = "linux"
[bottleneck]
rate = "5Mbps"
delay = "10ms"
queue = "200packets"
[access]
rate = "100Mbps"
delay = "1ms"
[[flow]]
variant = "cubic"
count = 2
start = { every = "100ms" }
[[flow]]
variant = "dctcp"
ecn = true
count = 2
start = { at = "50ms", every = "100ms" }
[instrument]
departure_error = "100ms"
rate_error = 0.5
poll_gap = "2s"
"""
DISCIPLINES: list[dict[str, Any]] = [
    {"name": "p4-codel", "ecn": True},
    {"name": "p4-red", "ecn": True, "min-th": 10.0, "max-th": 30.0, "mean-packet": "1500B"},
    {"name": "p4-pie", "ecn": True},
    {"name": "p4-dualpi2", "any-ect": True},
]


@pytest.mark.parametrize("discipline", DISCIPLINES, ids=lambda given: given["name"])
def test_a_discipline_in_p4_acts_in_real_time(tmp_path: Path, discipline: dict[str, Any]) -> None:
    simulated = run(tmp_path / "sim", SCENARIO, bottleneck__discipline=discipline).summary
    real = run_live(tmp_path, discipline)
    bottleneck = real.summary["bottleneck"]
    # Whatever the machine did, each packet has one fate, and the program is the only cause of one.
    drops, marks = bottleneck["drops"], bottleneck.get("marks", {})
    assert bottleneck["arrived"] == bottleneck["enqueued"] + drops.get("queue-full", 0)
    assert bottleneck["enqueued"] == bottleneck["dequeued"] + bottleneck["queued"]
    assert set(drops) <= {"egress-program", "queue-full"} and set(marks) <= {"egress-program"}
    rows = real.table("queue").filter(pl.col("reason") == "egress-program")
    by_event = dict(rows.group_by("event").len().iter_rows())
    assert by_event.get("drop", 0) == drops.get("egress-program", 0)
    assert by_event.get("mark", 0) == marks.get("egress-program", 0)
    with judged(real.longest_gap_us):
        # As in sim the queue is kept short: 200 packets would wait for 484 ms.
        assert signals(bottleneck) == pytest.approx(signals(simulated["bottleneck"]), rel=0.5)
        assert signals(bottleneck) > 10
        delay_ms = bottleneck["queue_delay_ms"]["mean"]
        assert delay_ms == pytest.approx(simulated["bottleneck"]["queue_delay_ms"]["mean"], rel=0.5)
        assert delay_ms < 100
        goodput = real.summary["aggregate_goodput_bps"]
        assert goodput == pytest.approx(simulated["aggregate_goodput_bps"], rel=0.1)


def signals(bottleneck: dict[str, Any]) -> int:
    """Packets that the program dropped or marked."""
    each = bottleneck["drops"], bottleneck.get("marks", {})
    return sum(int(reasons.get("egress-program", 0)) for reasons in each)


def run_live(directory: Path, discipline: dict[str, Any]) -> RunDirectory:
    """A run on `dpdk`."""
    source = write(directory, SCENARIO)
    given = ", ".join(f"{key} = {json.dumps(value)}" for key, value in discipline.items())
    ran = narrows(
        "run", str(source), "--target", "dpdk", "--out", str(directory), "--no-figures",
        "--set", f"bottleneck.discipline={{ {given} }}",
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    [path] = [made.parent for made in directory.glob("scenario/[!.]*/run.json")]
    return RunDirectory(path)
