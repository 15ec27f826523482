"""Completion time against the number of flows (Jasem et al. 2010, Fig 6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from analysis import metrics
from analysis.figures import style
from analysis.figures.base import (
    COUNT,
    Figure,
    Results,
    finish,
    key_label,
    number,
    panels,
    point_label,
    seeds_note,
    series_handles,
)
from analysis.load import Run


def draw(results: Results) -> Canvas | None:
    """Above, the time until the last flow has everything; below, its excess over the bound."""
    done = results.valid.where(lambda run: metrics.completion_s(run) is not None)
    if not done.runs:
        return None
    facets = done.facets(done.series_key, done.x_key)
    titles = [point_label(point) for point, _ in facets]
    both = [f"Completion time{', ' * bool(title)}{title}" for title in titles]
    both += [f"Excess over payload at link rate{', ' * bool(title)}{title}" for title in titles]
    grid = panels(len(both), len(facets), 1.5, both, share_y="row", share_x=True)
    for column, (_, among) in enumerate(facets):
        above, below = grid.axes[column], grid.axes[column + len(facets)]
        _lines(above, among, lambda run: metrics.completion_s(run) or 0.0)
        _lines(below, among, _excess_percent)
    above, below = grid.axes[0], grid.axes[len(facets)]
    above.set_ylim(bottom=0)
    above.set_ylabel("Time (s)")
    below.set_ylabel("Excess (%)")
    label = key_label(done.x_key or COUNT)
    note = seeds_note(results, "mean and range of {}")
    return finish(grid, label, "", series_handles(done, markers=True), note)


def _excess_percent(run: Run) -> float:
    bound_s = metrics.completion_bound_s(run)
    return 100 * ((metrics.completion_s(run) or 0.0) / bound_s - 1) if bound_s else 0.0


def _lines(axis: Axes, among: Results, measure: Callable[[Run], float]) -> None:
    """The measure's mean over seeds against the x key, with its range, a line per series."""
    values: list[Any] = among.values(among.x_key) if among.x_key else [None]
    sizes = [number(value) for value in values]
    places = [float(place if None in sizes else size or 0) for place, size in enumerate(sizes)]
    for index, series in enumerate(among.series):
        points = []
        for place, value in zip(places, values, strict=True):
            found = among.of_series(series).matching({among.x_key: value} if among.x_key else {})
            if found.runs:
                measured = [measure(run) for run in found.runs]
                points.append((place, np.mean(measured), min(measured), max(measured)))
        if points:
            at, mean, low, high = np.array(points, dtype=np.float64).T
            spread = np.stack([mean - low, high - mean])
            look = style.series(index, markers=True)
            axis.errorbar(at, mean, yerr=spread, capsize=2, elinewidth=0.8, **look)
    names = [f"{value:g}" if isinstance(value, (int, float)) else str(value) for value in values]
    axis.set_xticks(places, names if among.x_key else [str(len(among.runs[0].flows))])
    margin = 0.06 * (max(places) - min(places)) or 0.5
    axis.set_xlim(min(places) - margin, max(places) + margin)


FIGURE = Figure(
    name="completion_time",
    title="Completion time",
    caption="Above: time until the last flow's receiver has all of its data. Below: by how much that "
    "exceeds the delivered payload divided by the bottleneck's rate.",
    needs=(),
    draw=draw,
)
