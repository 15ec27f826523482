"""Variation of the flows' throughput from second to second."""

from __future__ import annotations

import numpy as np

from narrows.analysis import metrics
from narrows.analysis.chart.model import Chart, Panel, from_zero
from narrows.analysis.figures import against
from narrows.analysis.figures.base import Figure, Results, point_label, seeds_note
from narrows.analysis.load import Run
from narrows.analysis.metrics import PS_PER_S


def chart(results: Results) -> Chart | None:
    """A panel per point, a line per series."""
    counted = results.valid.where(lambda run: _variation(run) is not None)
    if not counted.runs or not (counted.x_key or counted.series_key):
        return None
    return Chart(
        [
            Panel(against.lines(counted, among, _variation), point_label(point))
            for point, among in counted.facets(counted.series_key, counted.x_key)
        ],
        against.axis(counted),
        from_zero("Coefficient of variation"),
        columns=2,
        height_in=1.6,
        note=seeds_note(results, "mean and range of {count} seeds"),
    )


def _variation(run: Run) -> float | None:
    """Mean over the flows that lasted at least two whole seconds; None without one."""
    goodput = metrics.alive(run, metrics.goodput_bps(run, PS_PER_S))
    each = [metrics.variation(own["bps"]) for _, own in metrics.by_flow(goodput) if len(own) > 1]
    return float(np.mean(each)) if each else None


FIGURE = Figure(
    name="smoothness",
    title="Smoothness",
    caption="Standard deviation over mean of a flow's goodput in bins of 1 s (RFC 5166), mean over "
    "the flows; 0 is an even rate.",
    needs=("flows",),
    wants="flows that live two seconds, and a sweep",
    chart=chart,
)
