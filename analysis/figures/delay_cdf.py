"""Distribution of the queueing delay of packets, with quantiles of their one-way delay."""

from __future__ import annotations

from typing import Final

import numpy as np

from narrows.analysis import metrics
from narrows.analysis.chart.model import Axis, Chart, Look, Panel, Trace
from narrows.analysis.chart.thin import distribution
from narrows.analysis.figures.base import (
    Figure,
    Results,
    point_label,
    seeds_note,
    series_name,
)
from narrows.analysis.load import Run

QUANTILES: Final = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
"""The quantiles of one-way delay in a summary."""
_ONE_WAY: Final = "one-way: p50, p95, p99"


def chart(results: Results) -> Chart:
    """A panel per point, a line of queueing delay and markers of one-way delay per series."""
    facets = results.facets(results.series_key)
    return Chart(
        [Panel(_marks(results, among), point_label(point)) for point, among in facets],
        Axis("Delay (ms)", low=0.0, pad=(0.02, 0.02)),
        Axis("Fraction of packets", low=0.0, high=1.0, pad=(0.0, 0.0)),
        columns=3,
        height_in=1.55,
        note=seeds_note(results, "packets of {count} seeds"),
        keys=[(_ONE_WAY, Look("ink", line=False, marker="hollow", size=3.5))],
    )


def _marks(results: Results, among: Results) -> list[Trace]:
    lines, markers = [], []
    for index, value in enumerate(results.series):
        found = among.of_series(value).runs
        delays = metrics.together([metrics.queue_delays_ms(run) for run in found])
        if delays.size:
            name = series_name(results, value) or "queueing"
            lines.append(Trace(*distribution(delays), Look(index), name, step=True))
        known = [(delay, part) for key, part in QUANTILES.items()
                 if (delay := _one_way_ms(found, key)) is not None]  # fmt: skip
        if known:
            x, y = np.array(known).T
            look = Look(index, line=False, marker="hollow", size=3.5)
            markers.append(Trace(x, y, look, _ONE_WAY))
    return lines + markers


def _one_way_ms(runs: tuple[Run, ...], quantile: str) -> float | None:
    """Mean over runs and flows of a quantile of one-way delay; None if none is known."""
    of_runs = [metrics.mean_of_flows(run, "one_way_delay_ms", quantile) for run in runs]
    known = [delay for delay in of_runs if delay is not None]
    return float(np.mean(known)) if known else None


FIGURE = Figure(
    name="delay_cdf",
    title="Distribution of delay",
    caption="Lines: queueing delay of every packet that left the bottleneck. Hollow markers: 50th, "
    "95th and 99th percentile of one-way delay as the receivers recorded it, mean over the flows.",
    needs=("queue",),
    chart=chart,
)
