"""Distribution of the queueing delay of packets, with quantiles of their one-way delay."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D

from analysis import metrics
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

QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
"""The quantiles of one-way delay that a summary has."""


def draw(results: Results) -> Canvas:
    """A panel per point, a line of queueing delay and markers of one-way delay per series."""
    facets = results.facets(results.series_key)
    titles = [point_label(point) for point, _ in facets]
    grid = panels(len(facets), 3, 1.55, titles, share_x="all")
    for axis, (_, among) in zip(grid.axes, facets, strict=True):
        for index, value in enumerate(results.series):
            found = among.of_series(value).runs
            if not found:
                continue
            delays = np.concatenate([metrics.queue_delays_ms(run) for run in found])
            if delays.size:
                axis.step(*_distribution(delays), where="post", **style.series(index))
            for key, quantile in QUANTILES.items():
                known = [metrics.mean_of_flows(run, "one_way_delay_ms", key) for run in found]
                delay = np.mean([delay for delay in known if delay is not None] or [np.nan])
                axis.plot([delay], [quantile], clip_on=False, **one_way_look(index))
    grid.axes[0].set_ylim(0, 1)
    widest = grid.axes[0].get_xlim()[1]
    grid.axes[0].set_xlim(-0.02 * widest, 1.02 * widest)
    handles = series_handles(results) or [Line2D([], [], label="queueing", **style.series(0))]
    label = "one-way: p50, p95, p99"
    handles.append(Line2D([], [], label=label, **one_way_look(0) | {"color": style.INK}))
    note = seeds_note(results, "packets of {count} seeds")
    return finish(grid, "Delay (ms)", "Fraction of packets", handles, note)


def _distribution(delays: metrics.Floats) -> tuple[metrics.Floats, metrics.Floats]:
    """Delays with the share of packets that had at most as much, from 0 up, in 2,000 steps."""
    ordered = np.sort(delays)
    ranks = np.unique(np.linspace(0, ordered.size - 1, 2000).round().astype(int))
    return np.append(ordered[0], ordered[ranks]), np.append(0, ranks + 1) / ordered.size


def one_way_look(index: int) -> dict[str, Any]:
    """The look of a series' one-way delay: hollow markers without a line."""
    return style.series(index, markers=True) | {
        "linestyle": "",
        "markersize": 3.5,
        "markerfacecolor": "white",
    }


FIGURE = Figure(
    name="delay_cdf",
    title="Distribution of delay",
    caption="Lines: queueing delay of every packet that left the bottleneck. Hollow markers: 50th, "
    "95th and 99th percentile of one-way delay as the receivers recorded it, mean over the flows.",
    needs=("queue",),
    draw=draw,
)
