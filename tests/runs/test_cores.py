"""A run on several cores has the bytes of a run on one."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from narrows._engine import PlanError, RunError
from narrows.schema.plan import Plan
from narrows.testbed import engine
from narrows.testbed.problems import InputError
from narrows.testbed.scenario import sweep
from narrows.testbed.scenario.plan import make_plan
from narrows.testbed.targets.our_hosts import OUR_HOSTS
from narrows.testbed.targets.sim import SIM
from tests.support.world import ROOT

FIRST_LOOK = ROOT / "scenarios" / "first-look.toml"
TABLES = {"record.queue": True, "record.flows": "ack"}
SETTINGS: dict[str, dict[str, Any]] = {
    "first-look.toml": {"record.capture": True, "telemetry.every": 3},
    "standard-path.toml": {},
    "rate-change.toml": {"duration": "12s"},
    "random-loss.toml": {},
    "new-aimd.toml": {"access.jitter": "0s"},
    "parking-lot.toml": {"record.capture": True, "telemetry.every": 2},
    "asymmetric.toml": {},
    "web.toml": {},
    "cve.toml": {},
    "paths/cellular.toml": {},
    "paths/satellite.toml": {"duration": "20s"},
    "tcpeval/multiple-bottlenecks.toml": {"telemetry.every": 5, **TABLES},
    "tcpeval/data-center.toml": {"duration": "300ms", **TABLES},
}
"""Of these scenarios the first point, 3 s unless another duration is given."""
WIDE = {"bottleneck.rate": "10Gbps", "access.rate": "100Gbps", "access.delay": "20ms"}


def planned(name: str) -> Plan:
    source = ROOT / "scenarios" / name
    overrides = {"duration": "3s"} | SETTINGS[name]
    return make_plan(sweep.read(source, list(overrides.items()))[0].scenario, str(source))


def run(plan: Plan, out: Path, threads: int) -> dict[str, bytes]:
    out.mkdir()
    engine.run(json.dumps(plan), str(out), threads=threads)
    return {path.name: path.read_bytes() for path in out.iterdir()}


@pytest.mark.parametrize("name", SETTINGS)
def test_the_number_of_cores_changes_no_byte(tmp_path: Path, name: str) -> None:
    plan = planned(name)
    whole = run(plan, tmp_path / "1", 1)
    assert "queue.parquet" in whole
    for threads in (2, 3, 5):
        parts = run(plan, tmp_path / str(threads), threads)
        assert sorted(parts) == sorted(whole)
        assert [file for file in whole if parts[file] != whole[file]] == [], threads


def test_with_many_hosts_cores_change_no_byte(tmp_path: Path) -> None:
    """With so many link directions a packet waits for its host's memory before its link."""
    point = sweep.read(FIRST_LOOK, [("flow.count", 1300), ("duration", "1s")])[0]
    plan = make_plan(point.scenario, str(FIRST_LOOK))
    assert 2 * len(plan["hosts"]) > 5000
    whole, parts = (run(plan, tmp_path / str(threads), threads) for threads in (1, 2))
    assert sorted(parts) == sorted(whole)
    assert [file for file in whole if parts[file] != whole[file]] == []


def test_full_rings_between_cores_change_no_byte(tmp_path: Path) -> None:
    """500 initial windows in one round trip are more packets than fit into a ring (2,048)."""
    settings = {"flow.count": 500, "flow.start": "0s", "duration": "300ms", **WIDE}
    plan = make_plan(sweep.read(FIRST_LOOK, list(settings.items()))[0].scenario, str(FIRST_LOOK))
    whole, parts = (run(plan, tmp_path / str(threads), threads) for threads in (1, 2))
    assert [file for file in whole if parts[file] != whole[file]] == []


def test_a_network_without_delays_stays_whole(tmp_path: Path) -> None:
    plan = planned("first-look.toml")
    for cable in plan["cables"]:
        cable["delay_ps"] = 0
    for host in plan["hosts"]:
        host["config"]["access"]["delay_ps"] = 0
    assert run(plan, tmp_path / "4", 4) == run(plan, tmp_path / "1", 1)


def test_a_failed_event_ends_all_parts(tmp_path: Path) -> None:
    plan = planned("parking-lot.toml")
    entry = plan["switches"][0]["entries"][0]
    plan["events"] = [
        {"at_ps": 10**12, "switch": "s1", "port": None, "rate_bps": None, "queue": None,
         "entry": entry, "op": "insert"}
    ]  # fmt: skip
    with pytest.raises((PlanError, RunError), match="event at 1s on switch 's1'"):
        run(plan, tmp_path / "3", 3)


def test_progress_stops_all_parts(tmp_path: Path) -> None:
    plan = planned("parking-lot.toml") | {"duration_ps": 10**18}
    with pytest.raises(engine.Cancelled):
        engine.run(json.dumps(plan), str(tmp_path), lambda _: False, threads=2)


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5", ""])
def test_a_wrong_number_of_cores_is_named(text: str) -> None:
    with pytest.raises(InputError, match="--cores"):
        SIM.settings(OUR_HOSTS, {"cores": text})


def test_several_runs_share_the_cores() -> None:
    settings = SIM.settings(OUR_HOSTS, {"cores": "8"})
    shares = [SIM.settings_of_each(settings, runs)["cores"] for runs in (1, 3, 8, 100)]
    assert shares == [8, 2, 1, 1]


def test_threads_do_not_outnumber_the_cores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On one core, two threads took 28 times the time."""
    asked: list[int] = []

    def record(*_: object, threads: int, **__: object) -> dict[str, int]:
        asked.append(threads)
        return {}

    monkeypatch.setattr(engine, "run", record)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 5})
    plan = json.dumps(planned("first-look.toml"))
    for cores in (1, 2, 8):
        SIM.run(plan, tmp_path, lambda _: True, {"cores": cores})
    assert asked == [1, 2, 2]
