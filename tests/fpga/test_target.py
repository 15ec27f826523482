"""`--target rtl` against `sim`: the same tables and summaries from committed scenarios."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from narrows.testbed import engine
from narrows.testbed.problems import InputError
from narrows.testbed.scenario import plan, sweep
from narrows.testbed.targets.base import Target
from narrows.testbed.targets.rtl import RTL
from narrows.testbed.targets.rtl.library import library
from narrows.testbed.targets.sim import SIM
from tests.support import needs
from tests.support.world import ROOT, TWO_FLOWS, example, write

built = needs.without(RTL.missing())

RATE_CHANGES = [
    {"at": "1s", "set": {"bottleneck": {"rate": "2Mbps"}}},
    {"at": "2s", "set": {"bottleneck": {"rate": "10Mbps", "queue": "30packets"}}},
]
TARGET_CHANGE = [
    {"at": "2s", "set": {"bottleneck": {"discipline": {"name": "codel", "target": "20ms"}}}}
]
FITTING: dict[str, dict[str, Any]] = {
    "first-look": {},
    "rate-change": {"event": RATE_CHANGES},
    "random-loss": {},
    "parking-lot": {},
    "background": {},
    "web": {},
    "aqm/codel-burst": {"event": TARGET_CHANGE},
    "aqm/bufferbloat": {"bottleneck.discipline": "codel"},
    "aqm/short-flows": {"bottleneck.discipline": "codel"},
    "aqm/p4": {"bottleneck.discipline": {"name": "codel", "ecn": True}},
}
"""Committed scenarios, with earlier events where they have some."""
STEPS = 'discipline = { name = "ecn-threshold", packets = 5, bytes = "12kB", time = "9ms" }'


def tables(target: Target, source: Path, out: Path, changes: dict[str, Any]) -> dict[str, bytes]:
    """Runs the first point of a scenario; its files as bytes, the summary without its clock."""
    point = sweep.read(source, list(changes.items()))[0]
    out.mkdir()
    target.check(point.scenario, str(source), {})
    made = json.dumps(plan.make_plan(point.scenario, str(source)))
    summary: Any = target.run(made, out, lambda _: True, {})
    files = {path.name: path.read_bytes() for path in sorted(out.glob("*.parquet"))}
    assert {"queue.parquet", "flows.parquet"} <= set(files)
    assert summary["switches"] or summary["bottleneck"]
    return files | {"bottleneck": json.dumps(summary["bottleneck"], sort_keys=True).encode()}


@built
@pytest.mark.parametrize("name", FITTING)
def test_a_committed_scenario_has_the_tables_of_sim(name: str, tmp_path: Path) -> None:
    source = ROOT / f"scenarios/{name}.toml"
    changes = {"duration": "3s", **FITTING[name]}
    by_target = [tables(t, source, tmp_path / t.name, changes) for t in (SIM, RTL)]
    assert by_target[0] == by_target[1]


@built
def test_duplicates_are_those_of_sim(tmp_path: Path) -> None:
    source = write(tmp_path, TWO_FLOWS)
    changes = {"bottleneck.duplicate": "10%"}
    by_target = [tables(t, source, tmp_path / t.name, changes) for t in (SIM, RTL)]
    assert by_target[0] == by_target[1]
    reasons = pl.read_parquet(tmp_path / "rtl/queue.parquet")["reason"]
    assert (reasons == "duplicate").sum() > 100


@built
def test_marks_are_those_of_sim(tmp_path: Path) -> None:
    text = TWO_FLOWS.replace("[access]", f"{STEPS}\n[access]").replace('"reno"', '"dctcp"')
    source = write(tmp_path, text)
    by_target = [tables(t, source, tmp_path / t.name, {}) for t in (SIM, RTL)]
    assert by_target[0] == by_target[1]
    events = pl.read_parquet(tmp_path / "rtl/queue.parquet")["event"].cast(pl.String)
    assert events.str.contains("mark").any()


@built
@pytest.mark.parametrize("ecn", ["false", "true"])
def test_codel_decides_as_in_sim(ecn: str, tmp_path: Path) -> None:
    discipline = f'{{ name = "codel", target = "1ms", interval = "20ms", ecn = {ecn} }}'
    text = TWO_FLOWS.replace("20packets", "200packets").replace('"reno"', '"dctcp"')
    source = write(tmp_path, text.replace("[access]", f"discipline = {discipline}\n[access]"))
    by_target = [tables(t, source, tmp_path / t.name, {}) for t in (SIM, RTL)]
    assert by_target[0] == by_target[1]
    rows = pl.read_parquet(tmp_path / "rtl/queue.parquet")
    event = "mark" if ecn == "true" else "drop"
    assert rows.filter((pl.col("event") == event) & (pl.col("reason") == "codel")).height > 0


def refusal(tmp_path: Path, keys: str) -> str:
    text = TWO_FLOWS.replace("[access]", f"{keys}\n[access]")
    [point] = sweep.read(write(tmp_path, text))
    with pytest.raises(InputError) as refused:
        RTL.check(point.scenario, "s.toml", {})
    return str(refused.value)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ('discipline = "pie"', "s.toml: bottleneck.discipline"),
        ('discipline = { name = "ecn-threshold", ramp = 2 }', "bottleneck.discipline.ramp"),
        ('discipline = { name = "ecn-threshold", max-p = 0.5 }', "bottleneck.discipline.max-p"),
        ("queues = [{}, {}]", "s.toml: bottleneck.queues: is not supported by --target rtl"),
    ],
)
def test_what_the_core_has_not_is_refused_by_its_key(
    tmp_path: Path, keys: str, message: str
) -> None:
    assert message in refusal(tmp_path, keys)


@built
def test_a_queue_beyond_the_core_is_refused(tmp_path: Path) -> None:
    text = TWO_FLOWS.replace("20packets", "2000000packets")
    with pytest.raises(engine.PlanError, match=r"port \d+: queue: a core has room for 1048576"):
        tables(RTL, write(tmp_path, text), tmp_path / "run", {})


def test_a_machine_without_verilator_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert "verilator is not installed: apt-get install -y verilator" in RTL.missing()


@built
def test_the_core_decides_as_the_traffic_manager(tmp_path: Path) -> None:
    """Random arrivals, rates, limits and marks; `make fpga-fuzz` has more of them."""
    done = subprocess.run(
        [example("differential"), str(library()), "200000"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.startswith("200000 arrivals in ")
