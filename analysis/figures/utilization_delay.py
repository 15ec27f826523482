"""Utilization of the bottleneck against the 95th percentile of its queueing delay."""

from __future__ import annotations

import numpy as np

from narrows.analysis.chart.model import Axis, Chart, Look, Mark, Panel, Trace
from narrows.analysis.figures import disciplines
from narrows.analysis.figures.base import Figure, Results, point_label, seeds_note
from narrows.analysis.load import Run
from narrows.analysis.metrics import BOTTLENECK, link_use_percent
from narrows.analysis.of_summary import follow

LEAST_MS = 0.01
"""The shortest delay on the logarithmic axis, in ms; shorter ones are drawn here."""


def chart(results: Results) -> Chart | None:
    """A panel per point: a large point per discipline, a small one per seed."""
    counted = results.valid.where(lambda run: _point(run) is not None)
    if not counted.runs or disciplines.compared_key(counted) is None:
        return None
    facets = counted.facets(disciplines.compared_key(counted))
    return Chart(
        [Panel(_marks(counted, among), point_label(point)) for point, among in facets],
        Axis(
            "95th percentile of queueing delay (ms), decreasing",
            pad=(0.12, 0.12),
            log=True,
            reverse=True,
        ),
        Axis("Utilization (%)", pad=(0.12, 0.12)),
        height_in=1.7,
        note=seeds_note(results, "mean of {count} seeds, and each seed"),
    )


def _marks(whole: Results, among: Results) -> list[Mark]:
    marks: list[Mark] = []
    for index, name, found in disciplines.each(whole, among):
        known = [(point, run.seed) for run in found.runs if (point := _point(run)) is not None]
        points = np.array([point for point, _ in known])
        if len(points) > 1:
            small = Look(index, line=False, marker="filled", size=2.2, opacity=0.55)
            labels = [f"seed {seed}" for _, seed in known]
            marks.append(Trace(points[:, 0], points[:, 1], small, name, labels=labels))
        x, y = points.mean(axis=0, keepdims=True).T
        large = Look(index, line=False, marker="filled", size=5.5)
        marks.append(Trace(x, y, large, name, labels=["mean"]))
    return marks


def _point(run: Run) -> tuple[float, float] | None:
    """The delay in ms and the utilization in %; None if the run has no packet or no rate."""
    delay_ms = follow(run.summary, (BOTTLENECK, "queue_delay_ms", "p95"))
    used = link_use_percent(run)
    return None if delay_ms is None or used is None else (max(delay_ms, LEAST_MS), used)


FIGURE = Figure(
    name="utilization_delay",
    title="Utilization against queueing delay",
    caption="Share of its rate that the bottleneck used, and the 95th percentile of its queueing "
    "delay. A colour is a discipline, or a variant where no discipline is swept. Delay decreases "
    "to the right, so up and right is better.",
    needs=(),
    wants="a sweep over the discipline or another name",
    chart=chart,
)
