"""Jain's fairness index against the number of flows."""

from __future__ import annotations

from matplotlib.figure import Figure as Canvas

from analysis import metrics
from analysis.figures import against
from analysis.figures.base import (
    Figure,
    Results,
    finish,
    panels,
    point_label,
    seeds_note,
    series_handles,
)
from analysis.load import Run


def draw(results: Results) -> Canvas | None:
    """A panel per point, a line per series, over the runs with at least two flows."""
    shared = results.valid.where(lambda run: len(run.flows) > 1)
    if not shared.runs or not (shared.x_key or shared.series_key):
        return None
    facets = shared.facets(shared.series_key, shared.x_key)
    titles = [point_label(point) for point, _ in facets]
    grid = panels(len(facets), 2, 1.6, titles, share_x="all")
    for axis, (_, among) in zip(grid.axes, facets, strict=True):
        against.lines(axis, among, _jain)
    low, _ = grid.axes[0].get_ylim()
    low = min(low, 0.95)
    grid.axes[0].set_ylim(low, 1 + 0.03 * (1 - low))
    note = seeds_note(results, "mean and range of {count} seeds")
    handles = series_handles(shared, markers=True)
    return finish(grid, against.label(shared), "Jain's fairness index", handles, note)


def _jain(run: Run) -> float:
    return metrics.jain(float(flow["goodput_bps"]) for flow in run.flows)


FIGURE = Figure(
    name="fairness",
    title="Fairness",
    caption="Jain's index of the flows' goodputs, each over its own life; 1 is an equal share for "
    "all, 1/n all for one of n flows.",
    needs=(),
    draw=draw,
)
