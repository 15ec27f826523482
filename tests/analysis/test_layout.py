"""No text of a figure is clipped or overlaps another, by the extents of the drawn artists."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from narrows.analysis import figures
from narrows.analysis.chart import paper
from narrows.analysis.chart.model import Axis, Chart, Look, Panel, Trace
from narrows.analysis.figures import FIGURES
from narrows.analysis.figures.base import Results
from narrows.analysis.load import load
from tests.analysis.extents import faults, has_cells
from tests.analysis.test_sweep_figures import flow, named, write
from tests.support.analysis_runs import write_run, write_sweep

TITLE = "buffer 100 packets, recovery of variant aimd-fc-plus"


def patch(path: Path, name: str, **more: Any) -> None:
    """Adds to a file of a run directory."""
    content = json.loads((path / f"{name}.json").read_text())
    (path / f"{name}.json").write_text(json.dumps(content | more))


def sweeps(directory: Path) -> Iterator[Path]:
    """Results with data for every figure."""
    yield write_sweep(directory / "toy", counts=(1, 2), seeds=(1,), segments=60, rate_bps=200_000)
    back = {"utilization": 0.2, "enqueued": 57, "dropped": 3, "queue_delay_ms": {"mean": 7.0}}
    for key, values in (("queue", ["0.5bdp", "1bdp", "4bdp"]), ("loss", [0.0, 1e-4, 1e-2])):
        for value in values:
            for variant in ("reno", "cubic"):
                point = {f"bottleneck.{key}": value, "flow.variant": variant}
                flows = [flow(1, variant, 4, 20.0), flow(2, variant, 1, 80.0),
                         flow(3, "udp", 1) | {"datagrams": {"lost": 3}}]  # fmt: skip
                path = directory / key / f"{value}-{variant}"
                queue = value if key == "queue" else "1bdp"
                tables = named("upper", "lower", "cross")
                write(path, point, flows, str(queue), flow=tables, link=[{"delay": "1ms"}])
                patch(path, "summary", reverse=back)
        yield directory / key
    for pair in ("a", "b", "c"):
        flows = [flow(1, "a", 4), flow(2, pair, 5)]
        write(directory / "camps" / pair, {"choice.new": pair}, flows, flow=named("A", "B"))
    yield directory / "camps"
    path = write_run(directory / "queues" / "one", {}, segments=60)
    bottleneck = json.loads((path / "summary.json").read_text())["bottleneck"]
    patch(path, "summary", bottleneck=bottleneck | {"queues": [{"queue": 0}, {"queue": 1}]})
    yield directory / "queues"
    path = write_run(directory / "cross" / "one", {}, segments=100)
    record, summary = (json.loads((path / f"{n}.json").read_text()) for n in ("run", "summary"))
    patch(path, "run", scenario=record["scenario"] | {"flow": named("tested", "cross")})
    tcp, udp = summary["flows"]
    udp |= {"datagrams": {"lost": 7}, "completion_s": 0.2}
    patch(path, "summary", flows=[tcp | {"rtt_ms": {"min": 20.0}}, udp])
    yield directory / "cross"


@pytest.fixture(scope="module")
def charts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Chart]:
    found: dict[str, Chart] = {}
    for directory in sweeps(tmp_path_factory.mktemp("layout")):
        results = Results(tuple(load(directory)))
        for figure in FIGURES:
            chart = None if figure.name in found else figures.chart(figure, results)
            if chart is not None:
                found[figure.name] = chart
    return found


def of_size(chart: Chart, columns: int, panels: int, series: int) -> Chart:
    """A figure's chart with so many panels and series."""
    if has_cells(chart):
        return replace(chart, panels=chart.panels[:1])
    first = next(mark for panel in chart.panels for mark in panel.marks if isinstance(mark, Trace))
    marks = [
        Trace(first.x, first.y * (1 + n / 10), Look(n), f"flow {n + 1} (aimd-fc-plus)")
        for n in range(series)
    ]
    filled = [
        replace(panel, marks=[*panel.marks, *marks], title=TITLE)
        for panel in (list(chart.panels) * panels)[:panels]
    ]
    note = "seed 1 of 30 shown, 48 of 90 panels"
    return replace(chart, panels=filled, columns=columns, note=note)


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_no_text_is_clipped_or_overlaps(figure: Any, charts: dict[str, Chart]) -> None:
    chart = charts[figure.name]
    assert faults(chart) == []
    for columns, panels, series in ((1, 1, 12), (2, 3, 5)):
        assert faults(of_size(chart, columns, panels, series)) == [], (columns, panels, series)


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("series", range(1, 13))
def test_legends_of_1_to_12_series_fit(columns: int, series: int, charts: dict[str, Chart]) -> None:
    assert faults(of_size(charts["throughput"], columns, 2, series)) == []


def test_many_names_under_a_panel_stay_apart() -> None:
    ticks = [(float(n), f"variant number {n}") for n in range(60)]
    trace = Trace(np.arange(60.0), np.arange(60.0))
    assert faults(Chart([Panel([trace])], Axis("Variant", ticks=ticks))) == []


def test_a_title_that_is_not_fitted_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper, "_fit", lambda canvas, axes: None)
    chart = Chart([Panel([Trace(np.arange(2.0), np.arange(2.0))], TITLE * 3)])
    assert any("leaves the figure" in fault for fault in faults(chart))
