"""Completion time against the number of flows (Jasem et al. 2010, Fig 6)."""

from __future__ import annotations

import math

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
    """Above, the time until the last flow has everything; below, its excess over the bound."""
    done = results.valid.where(lambda run: metrics.completion_s(run) is not None)
    if not done.runs or not (done.x_key or done.series_key):
        return None
    facets = done.facets(done.series_key, done.x_key)
    points = [point_label(point) for point, _ in facets]
    titles = [", ".join(filter(None, ["Completion time", point])) for point in points]
    titles += [
        ", ".join(filter(None, ["Excess over payload at link rate", point])) for point in points
    ]
    grid = panels(len(titles), len(facets), 1.5, titles, share_y="row", share_x="all")
    for column, (_, among) in enumerate(facets):
        against.lines(grid.axes[column], among, lambda run: metrics.completion_s(run) or 0.0)
        against.lines(grid.axes[column + len(facets)], among, _excess_percent)
    grid.axes[0].set_ylim(bottom=0)
    grid.axes[0].set_ylabel("Time (s)")
    grid.axes[len(facets)].set_ylabel("Excess (%)")
    note = seeds_note(results, "mean and range of {count} seeds")
    return finish(grid, against.label(done), "", series_handles(done, markers=True), note)


def _excess_percent(run: Run) -> float:
    bound_s = metrics.completion_bound_s(run)
    return 100 * ((metrics.completion_s(run) or 0.0) / bound_s - 1) if bound_s else math.nan


FIGURE = Figure(
    name="completion_time",
    title="Completion time",
    caption="Above: from the first flow's start to the acknowledgement of the last flow's last "
    "byte. Below: by how much that exceeds the delivered payload divided by the bottleneck's rate.",
    needs=(),
    draw=draw,
)
