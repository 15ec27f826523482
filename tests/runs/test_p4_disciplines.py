"""Disciplines as stages of the P4 program, beside the traffic manager's in the same run."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

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


def figures(done: RunDirectory) -> tuple[float, float, int]:
    """Mean queueing delay in ms, goodput in bit/s, dropped packets."""
    queue = done.summary["bottleneck"]
    goodput = sum(flow["goodput_bps"] for flow in done.summary["flows"])
    return queue["queue_delay_ms"]["mean"], goodput, sum(queue["drops"].values())


def test_codel_in_p4_is_codel(tmp_path: Path) -> None:
    ours = run(tmp_path / "tm", SCENARIO, bottleneck__discipline="codel")
    stage = run(tmp_path / "p4", SCENARIO, bottleneck__discipline="p4-codel")
    (delay, goodput, drops), (p4_delay, p4_goodput, p4_drops) = figures(ours), figures(stage)
    assert drops > 500
    assert p4_delay == pytest.approx(delay, rel=0.05)
    assert p4_goodput == pytest.approx(goodput, rel=0.005)
    assert p4_drops == pytest.approx(drops, rel=0.05)
    assert stage.summary["bottleneck"]["drops"] == {"egress-program": p4_drops}
    assert stage.summary["bottleneck"]["utilization"] <= 1


def test_codel_keeps_its_delay_in_microseconds(tmp_path: Path) -> None:
    """bmv2's unit of time, on our switch."""
    source = write(tmp_path, SCENARIO)
    (point,) = sweep.read(source, [("bottleneck.discipline", "p4-codel")])
    made = plan.make_plan(point.scenario, str(source))
    switch = made["switches"][0]
    switch["config"]["timestamp_unit"] = "us"
    state = aqm.in_longer_ticks(SwitchState.from_json(switch), US_NS)
    switch["entries"] = state.as_json()["entries"]
    (tmp_path / "us").mkdir()
    engine.run(json.dumps(made), str(tmp_path / "us"), None)
    in_ns = run(tmp_path / "ns", SCENARIO, bottleneck__discipline="p4-codel")
    (delay, goodput, drops), (us_delay, us_goodput, us_drops) = (
        figures(done) for done in (in_ns, RunDirectory(tmp_path / "us"))
    )
    assert us_delay == pytest.approx(delay, rel=0.05)
    assert us_goodput == pytest.approx(goodput, rel=0.005)
    assert us_drops == pytest.approx(drops, rel=0.05)


def test_runs_are_equal_byte_for_byte(tmp_path: Path) -> None:
    first, second = (
        run(tmp_path / name, SCENARIO, bottleneck__discipline="p4-codel") for name in ("a", "b")
    )
    for table in ("queue", "flows"):
        assert first.table(table).equals(second.table(table))


@pytest.mark.parametrize("text", [SCENARIO + EVENT])
def test_an_event_cannot_replace_a_stage(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="p4-codel"):
        run(tmp_path, text, bottleneck__discipline="p4-codel")


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
