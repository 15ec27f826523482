"""Throughput against delay: a point per flow, a 1-sigma ellipse per variant or name.

After Winstein and Balakrishnan (TCP ex Machina, SIGCOMM 2013): delay grows to the left, so the
upper right is better.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from narrows.analysis.chart.ellipse import ellipse
from narrows.analysis.chart.model import Axis, Chart, Look, Mark, Panel, Trace
from narrows.analysis.figures.base import (
    VARIANT,
    Figure,
    Results,
    point_label,
    seeds_note,
    value_label,
)
from narrows.analysis.figures.groups import groups
from narrows.analysis.load import Run
from narrows.analysis.of_summary import follow

if TYPE_CHECKING:
    from narrows.schema.summary import FlowSummary


def chart(results: Results) -> Chart | None:
    """A panel per point; every flow of every seed that has a one-way delay counts once."""
    counted = results.valid.where(lambda run: _points(run) > 0)
    if sum(map(_points, counted.runs)) < 3:
        return None
    facets = counted.facets(counted.series_key)
    names = list(dict.fromkeys(name for run in counted.runs for name in _groups(counted, run)))
    label = "95th percentile of one-way delay (ms), decreasing"
    return Chart(
        [Panel(_marks(counted, among, names), point_label(point)) for point, among in facets],
        Axis(label, pad=(0.12, 0.12), reverse=True, shared="none"),
        Axis("Goodput (Mb/s)", pad=(0.12, 0.12), shared="none"),
        height_in=1.7,
        note=seeds_note(results, "flows of {count} seeds"),
        keys=[(name, _mean(index)) for index, name in enumerate(names)],
    )


def _points(run: Run) -> int:
    """How many of a run's flows have a one-way delay."""
    return sum(_point(flow) is not None for flow in run.flows)


def _groups(whole: Results, run: Run) -> dict[str, list[FlowSummary]]:
    """A run's flows by the name that distinguishes them: their name or variant, and the run's
    series.
    """
    key = whole.series_key
    series = value_label(key, run.point.get(key)) if key else ""
    found = groups(run)
    if len(found) == 1:
        return {series or next(iter(found)): run.flows}
    # In a sweep over the variant of some flows, those names already say it.
    apart = series if key != VARIANT else ""
    return {", ".join(filter(None, [name, apart])): flows for name, flows in found.items()}


def _marks(whole: Results, among: Results, names: list[str]) -> list[Mark]:
    marks: list[Mark] = []
    for index, name in enumerate(names):
        flows = [(f, run) for run in among.runs for f in _groups(whole, run).get(name, [])]
        known = [(found, flow, run) for flow, run in flows if (found := _point(flow)) is not None]
        if not known:
            continue
        points = np.array([point for point, _, _ in known])
        labels = [f"flow {flow['id']}, seed {run.seed}" for _, flow, run in known]
        small = Look(index, line=False, marker="filled", size=2.2, opacity=0.55)
        marks += ellipse(points, index, name)
        marks.append(Trace(points[:, 0], points[:, 1], small, name, labels=labels))
        x, y = points.mean(axis=0, keepdims=True).T
        marks.append(Trace(x, y, _mean(index), name, labels=["mean"]))
    return marks


def _mean(index: int) -> Look:
    return Look(index, line=False, marker="filled", size=5.5)


def _point(flow: FlowSummary) -> tuple[float, float] | None:
    delay_ms = follow(flow, ("one_way_delay_ms", "p95"))
    return None if delay_ms is None else (delay_ms, flow["goodput_bps"] / 1e6)


FIGURE = Figure(
    name="throughput_delay",
    title="Throughput against delay",
    caption="Small: every flow of every run; large: the mean of a variant or name; ellipse: one "
    "standard deviation. "
    "Delay decreases to the right, so up and right is better. Flows without a one-way delay are "
    "left out.",
    needs=(),
    wants="at least three flows, with their one-way delay",
    chart=chart,
)
