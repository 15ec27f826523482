"""Disciplines as stages of the P4 program, beside the traffic manager's in the same run."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from narrows.controller import aqm
from narrows.controller.state import SwitchState
from narrows.testbed import engine
from narrows.testbed.problems import InputError
from narrows.testbed.scenario import plan, sweep
from narrows.testbed.targets.bmv2.clock import US_NS
from tests.support.world import ROOT, RunDirectory, run, write

SCENARIO = """
title = "CoDel twice"
seed = 1
duration = "60s"
profile = "linux"
[bottleneck]
rate = "10Mbps"
delay = "20ms"
queue = "1000packets"
[access]
rate = "1Gbps"
delay = "0.5ms"
[[flow]]
variant = "cubic"
count = 4
start = { at = "0s", spread = "1s" }
"""
EVENT = """
[[event]]
at = "5s"
set = { bottleneck = { discipline = "pie" } }
"""


RED: dict[str, Any] = {"min-th": 10.0, "max-th": 30.0, "mean-packet": "1500B"}
PAIRS: list[tuple[str, dict[str, Any], float]] = [
    ("codel", {}, 0.05),
    ("red", RED, 0.1),
    ("red", RED | {"adaptive": True, "interval": "200ms"}, 0.1),
    ("pie", {}, 0.1),
]


def of(name: str, settings: dict[str, Any], ecn: bool = False) -> dict[str, Any]:
    """A discipline as an override."""
    return {"name": name, "ecn": ecn, **settings}


def figures(done: RunDirectory) -> tuple[float, float, int]:
    """Mean queueing delay in ms, goodput in bit/s, dropped packets."""
    queue = done.summary["bottleneck"]
    goodput = sum(flow["goodput_bps"] for flow in done.summary["flows"])
    return queue["queue_delay_ms"]["mean"], goodput, sum(queue["drops"].values())


@pytest.mark.parametrize(("name", "settings", "within"), PAIRS)
def test_a_discipline_in_p4_does_what_its_twin_does(
    tmp_path: Path, name: str, settings: dict[str, Any], within: float
) -> None:
    twin, stage = (
        run(tmp_path / each, SCENARIO, bottleneck__discipline=of(each, settings))
        for each in (name, f"p4-{name}")
    )
    (delay, goodput, drops), (p4_delay, p4_goodput, p4_drops) = figures(twin), figures(stage)
    assert drops > 500
    assert p4_delay == pytest.approx(delay, rel=within)
    assert p4_goodput == pytest.approx(goodput, rel=0.01)
    assert p4_drops == pytest.approx(drops, rel=2 * within)
    assert stage.summary["bottleneck"]["drops"] == {"egress-program": p4_drops}
    assert stage.summary["bottleneck"]["utilization"] <= 1


@pytest.mark.parametrize(("name", "settings", "within"), PAIRS)
def test_a_mark_is_a_row_at_the_departure(
    tmp_path: Path, name: str, settings: dict[str, Any], within: float
) -> None:
    asked = of(f"p4-{name}", settings, ecn=True)
    done = run(tmp_path, SCENARIO, bottleneck__discipline=asked, flow__ecn=True, duration="20s")
    rows = done.table("queue").filter(pl.col("event") == "mark")
    assert set(rows["reason"]) == {"egress-program"}
    assert rows["packet"].is_unique().all()
    assert done.summary["bottleneck"]["marks"] == {"egress-program": rows.height}
    left = done.table("queue").filter(pl.col("event") == "dequeue").join(rows, on="packet")
    assert left["time_ps"].equals(left["time_ps_right"]), "a mark is of the moment of departure"


DUAL = (
    SCENARIO.replace("count = 4", "count = 2")
    + """
[[flow]]
variant = "dctcp"
ecn = true
count = 2
start = { at = "0s", spread = "1s" }
"""
)


def test_dualpi2_in_p4_shares_the_link_as_its_twin(tmp_path: Path) -> None:
    twin, stage = (
        run(tmp_path / name, DUAL, bottleneck__discipline={"name": name, "any-ect": True})
        for name in ("dualpi2", "p4-dualpi2")
    )

    def classic(done: RunDirectory) -> float:
        """The classic flows' share of the goodput."""
        rates: list[float] = [flow["goodput_bps"] for flow in done.summary["flows"]]
        return sum(rates[:2]) / sum(rates)

    def delays(done: RunDirectory) -> list[float]:
        """The mean delay of scalable and of classic packets, in ms."""
        rows = done.table("queue").filter(pl.col("event") == "dequeue")
        is_classic = pl.col("flow") <= 2
        return [
            float(rows.filter(each)["sojourn_ps"].to_numpy().mean()) / 1e9
            for each in (~is_classic, is_classic)
        ]

    assert classic(stage) == pytest.approx(classic(twin), abs=0.1)
    (scalable, waited), (p4_scalable, p4_waited) = delays(twin), delays(stage)
    assert p4_waited == pytest.approx(waited, rel=0.15)
    # Turns by weight: a scalable packet may wait for one more classic one, 1.2 ms.
    assert p4_scalable < scalable + 1.2


@pytest.mark.parametrize(("name", "settings", "within"), PAIRS)
def test_a_discipline_does_the_same_in_microseconds(
    tmp_path: Path, name: str, settings: dict[str, Any], within: float
) -> None:
    """bmv2's unit of time, on our switch."""
    asked = of(f"p4-{name}", settings)
    source = write(tmp_path, SCENARIO)
    (point,) = sweep.read(source, [("bottleneck.discipline", asked)])
    made = plan.make_plan(point.scenario, str(source))
    switch = made["switches"][0]
    switch["config"]["timestamp_unit"] = "us"
    state = aqm.in_longer_ticks(SwitchState.from_json(switch), US_NS)
    switch["entries"] = state.as_json()["entries"]
    (tmp_path / "us").mkdir()
    engine.run(json.dumps(made), str(tmp_path / "us"), None)
    in_ns = run(tmp_path / "ns", SCENARIO, bottleneck__discipline=asked)
    (delay, goodput, drops), (us_delay, us_goodput, us_drops) = (
        figures(done) for done in (in_ns, RunDirectory(tmp_path / "us"))
    )
    assert us_delay == pytest.approx(delay, rel=within)
    assert us_goodput == pytest.approx(goodput, rel=0.01)
    assert us_drops == pytest.approx(drops, rel=2 * within)


def test_runs_are_equal_byte_for_byte(tmp_path: Path) -> None:
    first, second = (
        run(tmp_path / name, SCENARIO, bottleneck__discipline="p4-pie") for name in ("a", "b")
    )
    for table in ("queue", "flows"):
        assert first.table(table).equals(second.table(table))


def test_an_event_cannot_replace_a_stage(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="p4-codel"):
        run(tmp_path, SCENARIO + EVENT, bottleneck__discipline="p4-codel")


def test_dualpi2_in_p4_has_its_own_queues(tmp_path: Path) -> None:
    text = SCENARIO + "[[bottleneck.queues]]\nweight = 1\n"
    with pytest.raises(InputError, match="p4-dualpi2 has two queues of its own"):
        run(tmp_path, text, bottleneck__discipline="p4-dualpi2")


def test_each_root_is_near_those_of_its_counts() -> None:
    text = (ROOT / "p4/aqm/inverse_root.p4").read_text(encoding="utf-8")
    found = re.findall(r"^0x(\w+) &&& 0x(\w+) : set_root\((\d+)\)", text, re.M)
    entries = [(int(value, 16), int(mask, 16), int(root)) for value, mask, root in found]
    following = 1
    for value, mask, root in entries:
        last = value | (~mask & 0xFFFF_FFFF)
        assert value == following  # No count is left out.
        for count in (value, last):
            assert root == pytest.approx(2**16 / math.sqrt(count), rel=0.017)
        following = last + 1
    assert following == 2**16
