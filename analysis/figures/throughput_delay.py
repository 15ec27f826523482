"""Throughput against delay: a point per flow, a 1-sigma ellipse per series.

As Winstein and Balakrishnan draw it (TCP ex Machina, SIGCOMM 2013): delay grows to the left,
so up and to the right is better.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.patches import Ellipse

from analysis.figures import style
from analysis.figures.base import (
    Figure,
    Results,
    finish,
    panels,
    point_label,
    seeds_note,
    series_handles,
)
from analysis.metrics import Floats


def draw(results: Results) -> Canvas | None:
    """A panel per point; every flow of every seed counts once."""
    counted = results.valid.where(lambda run: all(_point(flow) for flow in run.flows))
    if sum(len(run.flows) for run in counted.runs) < 3:
        return None
    facets = counted.facets(counted.series_key)
    titles = [point_label(point) for point, _ in facets]
    grid = panels(len(facets), 3, 1.7, titles, share_y="none")
    for axis, (_, among) in zip(grid.axes, facets, strict=True):
        for index, value in enumerate(among.series):
            flows = [flow for run in among.of_series(value).runs for flow in run.flows]
            points = np.array([point for flow in flows if (point := _point(flow))])
            if len(points):
                look = style.series(index, markers=True) | {"linestyle": ""}
                axis.plot(*points.T, markersize=2.2, alpha=0.55, markeredgewidth=0, **look)
                axis.plot(*points.mean(axis=0), markeredgecolor="white", markersize=5.5, **look)
                _ellipse(axis, points, index)
        axis.margins(0.12)
        axis.invert_xaxis()
    note = seeds_note(results, "flows of {count} seeds")
    handles = series_handles(results, markers=True)
    for handle in handles:
        handle.set_linestyle("")
    xlabel = "95th percentile of one-way delay (ms), decreasing"
    return finish(grid, xlabel, "Goodput (Mb/s)", handles, note)


def _point(flow: dict[str, Any]) -> tuple[float, float] | None:
    delay_ms = (flow.get("one_way_delay_ms") or {}).get("p95")
    return None if delay_ms is None else (float(delay_ms), float(flow["goodput_bps"]) / 1e6)


def _ellipse(axis: Axes, points: Floats, index: int) -> None:
    """The contour at one standard deviation of the normal distribution with their moments."""
    if len(points) < 3:
        return
    values, vectors = np.linalg.eigh(np.cov(points.T))
    width, height = (2 * float(np.sqrt(max(value, 0.0))) for value in values)
    degrees = float(np.degrees(np.arctan2(vectors[1, 0], vectors[0, 0])))
    centre = (float(points[:, 0].mean()), float(points[:, 1].mean()))
    colour, dashes = style.colour(index), style.series(index)["linestyle"]
    axis.add_patch(
        Ellipse(centre, width, height, angle=degrees, facecolor=colour + "22", edgecolor=colour,
                linestyle=dashes, linewidth=0.9)
    )  # fmt: skip


FIGURE = Figure(
    name="throughput_delay",
    title="Throughput against delay",
    caption="Small: every flow of every run; large: their mean; ellipse: one standard deviation. "
    "Delay decreases to the right, so up and right is better.",
    needs=(),
    draw=draw,
)
