"""Figures of queue disciplines, against arithmetic."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from narrows.analysis import figures, metrics
from narrows.analysis.chart.model import Chart, Trace
from narrows.analysis.figures import disciplines
from narrows.analysis.figures.base import Results
from narrows.analysis.load import load, load_run
from tests.support.analysis_runs import MS, QUEUE

DISCIPLINE = "bottleneck.discipline"


def write(
    path: Path,
    rows: list[tuple[int, int, str, int, int, int]],
    point: dict[str, Any] | None = None,
    **bottleneck: Any,
) -> Path:
    """A run of 1 s from ledger rows: time in ms, queue, event, packet, flow, sojourn in us."""
    path.mkdir(parents=True)
    ledger = [
        (at * MS, "s1", 2, queue, event, "", packet, flow, 1000, 0, 0, sojourn_us * 1_000_000)
        for at, queue, event, packet, flow, sojourn_us in rows
    ]
    pl.DataFrame(ledger, schema=QUEUE, orient="row").write_parquet(path / "queue.parquet")
    summary = {
        "schema": 1, "valid": True, "duration_s": 1.0,
        "bottleneck": {"switch": "s1", "port": 2, "rate_bps": 10_000_000} | bottleneck,
        "flows": [{"id": 1, "variant": "cubic"}, {"id": 2, "variant": "dctcp"}],
    }  # fmt: skip
    record = {
        "schema": 1, "scenario": {"title": "t"}, "point": point or {},
        "seed": (point or {}).get("seed", 1), "target": "sim", "valid": True,
        "versions": {"narrows": "0.1.0"},
    }  # fmt: skip
    (path / "summary.json").write_text(json.dumps(summary))
    (path / "run.json").write_text(json.dumps(record))
    return path


def chart(directory: Path, name: str) -> Chart | None:
    """The figure of these results."""
    (figure,) = figures.select([name])
    return figures.chart(figure, Results(tuple(load(directory))))


def traces(found: Chart | None) -> dict[str, Trace]:
    """The first panel's traces by name."""
    assert found is not None
    return {mark.name: mark for mark in found.panels[0].marks if isinstance(mark, Trace)}


def waits(*sojourns_us: int, flow: int = 1) -> list[tuple[int, int, str, int, int, int]]:
    """Departures with these sojourns, one per ms."""
    return [(n, 0, "dequeue", n, flow, each) for n, each in enumerate(sojourns_us)]


def test_a_discipline_is_a_line_of_delay(tmp_path: Path) -> None:
    write(tmp_path / "a", waits(2000, 1000, 4000, 3000), {DISCIPLINE: "codel"})
    write(tmp_path / "b", waits(0, 500), {DISCIPLINE: {"name": "pie", "target": "5ms"}})
    found = traces(chart(tmp_path, "queue_delay_cdf"))
    assert list(found) == ["codel", "pie, target 5 ms"]
    codel = dict(zip(found["codel"].x.tolist(), found["codel"].y.tolist(), strict=True))
    assert codel == {1: 0.25, 2: 0.5, 3: 0.75, 4: 1.0}
    assert found["pie, target 5 ms"].x.tolist() == [0.01, 0.01, 0.5], "0 is drawn at 0.01 ms"


def test_without_a_sweep_a_variant_is_a_line_of_delay(tmp_path: Path) -> None:
    write(tmp_path / "one", waits(9000, 9000) + waits(100, 100, flow=2))
    found = traces(chart(tmp_path, "queue_delay_cdf"))
    assert {name: set(line.x.tolist()) for name, line in found.items()} == {
        "cubic": {9.0},
        "dctcp": {0.1},
    }


def test_flows_that_ended_have_their_completion_times(tmp_path: Path) -> None:
    for name, taken_s in (("drop-tail", [3.0, 1.0, None]), ("fq-codel", [None, 0.5, 0.25])):
        path = write(tmp_path / name, [], {DISCIPLINE: name})
        summary = json.loads((path / "summary.json").read_text())
        summary["flows"] = [
            {"id": number, "variant": "cubic", "completion_s": each}
            for number, each in enumerate(taken_s, 1)
        ]
        (path / "summary.json").write_text(json.dumps(summary))
    found = traces(chart(tmp_path, "flow_completion"))
    assert {name: (line.x.tolist()[1:], line.y.tolist()[1:]) for name, line in found.items()} == {
        "drop-tail": ([1.0, 3.0], [0.5, 1.0]),
        "fq-codel": ([0.25, 0.5], [0.5, 1.0]),
    }


def test_no_flow_that_ended_is_no_figure(tmp_path: Path) -> None:
    write(tmp_path / "one", [], {DISCIPLINE: "codel"})
    assert chart(tmp_path, "flow_completion") is None


def test_use_stands_over_delay_and_seeds_are_averaged(tmp_path: Path) -> None:
    for seed, p95, used in ((1, 10.0, 0.9), (2, 30.0, 1.0)):
        point = {DISCIPLINE: "codel", "seed": seed}
        numbers = {"queue_delay_ms": {"p95": p95}, "utilization": used}
        write(tmp_path / f"codel{seed}", [], point, **numbers)
    numbers = {"queue_delay_ms": {"p95": 600.0}, "utilization": 1.0}
    write(tmp_path / "drop-tail", [], {DISCIPLINE: "drop-tail", "seed": 1}, **numbers)
    found = chart(tmp_path, "utilization_delay")
    assert found is not None and found.x.reverse and found.x.log
    points = [
        (mark.name, mark.x.tolist(), mark.y.tolist())
        for mark in found.panels[0].marks
        if isinstance(mark, Trace)
    ]
    assert points == [
        ("codel", [10.0, 30.0], [90.0, 100.0]),
        ("codel", [20.0], [95.0]),
        ("drop-tail", [600.0], [100.0]),
    ]


def test_use_over_delay_needs_something_to_compare(tmp_path: Path) -> None:
    write(tmp_path / "one", [], queue_delay_ms={"p95": 10.0}, utilization=0.9)
    assert chart(tmp_path, "utilization_delay") is None


def test_each_queue_has_its_depth(tmp_path: Path) -> None:
    rows = [
        (0, 0, "enqueue", 0, 1, 0),
        (0, 1, "enqueue", 1, 2, 0),
        (1, 1, "mark", 1, 2, 0),
        (1, 1, "enqueue", 2, 2, 0),
        (2, 0, "dequeue", 0, 1, 2000),
        (3, 1, "dequeue", 1, 2, 3000),
    ]
    path = write(tmp_path / "one", rows, queues=[{"queue": 0}, {"queue": 1}])
    found = traces(chart(tmp_path, "queue_depths"))
    assert found["queue 0"].y.tolist() == [1, 0, 0]
    assert found["queue 1"].y.tolist() == [1, 2, 1, 1]
    assert found["queue 1"].x.tolist() == [0.0, 0.001, 0.003, 1.0]
    both = metrics.depth(load_run(path))["packets"].to_list()
    assert both == [1, 2, 3, 2, 1], "together they are the port's"


def test_a_single_queue_has_no_figure_of_each(tmp_path: Path) -> None:
    write(tmp_path / "one", waits(1))
    assert chart(tmp_path, "queue_depths") is None


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("fq-codel", "fq-codel"),
        ("{'name': 'codel'}", "codel"),
        ("{'p': 0.25, 'model': 'gemodel'}", "p 0.25, model gemodel"),
        ("{'name': 'codel', 'target': '1ms', 'ecn': True}", "codel, target 1 ms, ecn"),
    ],
)
def test_a_discipline_has_a_short_name(value: str, name: str) -> None:
    assert disciplines.name(disciplines.DISCIPLINE, value) == name
