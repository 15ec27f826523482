"""Queueing delay of the packets as boxes, against the number of flows."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.patches import Patch

from analysis import metrics
from analysis.figures import against, style
from analysis.figures.base import (
    Figure,
    Results,
    finish,
    panels,
    point_label,
    seeds_note,
    value_label,
)


def draw(results: Results) -> Canvas | None:
    """A panel per point, a box per series at each value of the x axis."""
    counted = results.valid
    if not counted.runs:
        return None
    facets = counted.facets(counted.series_key, counted.x_key)
    titles = [point_label(point) for point, _ in facets]
    grid = panels(len(facets), 2, 1.8, titles, share_x="all")
    for axis, (_, among) in zip(grid.axes, facets, strict=True):
        _boxes(axis, among)
    grid.axes[0].set_ylim(bottom=-0.03 * grid.axes[0].get_ylim()[1])
    handles = [
        Patch(label=value_label(counted.series_key, value), **_fill(index))
        for index, value in enumerate(counted.series)
        if counted.series_key
    ]
    note = seeds_note(results, "packets of {count} seeds")
    return finish(grid, against.label(counted), "Queueing delay (ms)", handles, note)


def _boxes(axis: Axes, among: Results) -> None:
    apart = 0.8 / len(among.series)
    for index, series in enumerate(among.series):
        for place, runs in against.places(among, index, series, apart):
            delays = np.concatenate([metrics.queue_delays_ms(run) for run in runs])
            if delays.size:
                _box(axis, place, 0.85 * apart * against.step(among), delays, index)
    against.ticks(axis, among)
    axis.grid(visible=False, axis="x")


def _box(axis: Axes, place: float, width: float, delays: metrics.Floats, index: int) -> None:
    box: dict[str, Any] = {
        key: metrics.percentile(delays, percent)
        for key, percent in {"whislo": 5, "q1": 25, "med": 50, "q3": 75, "whishi": 95}.items()
    }
    mean = {"marker": "o", "markersize": 2.4, "markeredgecolor": "white", "markeredgewidth": 0.4}
    axis.bxp(
        [box | {"mean": float(np.mean(delays)), "fliers": np.array([])}],
        positions=[place],
        widths=width,
        manage_ticks=False,
        showmeans=True,
        patch_artist=True,
        boxprops=_fill(index),
        medianprops={"color": style.INK, "linewidth": 1.1},
        whiskerprops={"linewidth": 0.7},
        capprops={"linewidth": 0.7},
        meanprops=mean | {"markerfacecolor": style.INK},
    )


def _fill(index: int) -> dict[str, Any]:
    hatches = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "oo", "++++")
    return {
        "facecolor": style.colour(index) + "66",
        "edgecolor": style.colour(index),
        "hatch": hatches[index % len(hatches)],
        "linewidth": 0.7,
    }


FIGURE = Figure(
    name="queue_delay_box",
    title="Queueing delay, box by box",
    caption="Queueing delay of the packets that left the bottleneck: box from the 25th to the 75th "
    "percentile with the median, whiskers at the 5th and 95th, point at the mean.",
    needs=("queue",),
    draw=draw,
)
