"""Queueing delay of the packets as boxes, against the number of flows."""

from __future__ import annotations

import numpy as np

from narrows.analysis import metrics
from narrows.analysis.chart.boxes import box
from narrows.analysis.chart.model import Chart, Mark, Panel, from_zero
from narrows.analysis.figures import against
from narrows.analysis.figures.base import Figure, Results, point_label, seeds_note, series_name


def chart(results: Results) -> Chart | None:
    """A panel per point, a box per series at each value of the x axis."""
    counted = results.valid
    if not counted.runs:
        return None
    facets = counted.facets(counted.series_key, counted.x_key)
    return Chart(
        [Panel(_boxes(counted, among), point_label(point)) for point, among in facets],
        against.axis(counted, even=True),
        from_zero("Queueing delay (ms)"),
        columns=2,
        height_in=1.8,
        note=seeds_note(results, "packets of {count} seeds"),
    )


def _boxes(whole: Results, among: Results) -> list[Mark]:
    apart = 0.8 / len(whole.series)
    width = 0.85 * apart * against.step(whole, even=True)
    marks: list[Mark] = []
    for index, series in enumerate(whole.series):
        for position, runs in against.side_by_side(whole, among, index, series, apart, even=True):
            delays = metrics.together([metrics.queue_delays_ms(run) for run in runs])
            if delays.size:
                mean = float(np.mean(delays))
                numbers = {
                    p: metrics.percentile(delays, p, keep=False) for p in (5, 25, 50, 75, 95)
                }
                marks += box(position, width, numbers, mean, index, series_name(whole, series))
    return marks


FIGURE = Figure(
    name="queue_delay_box",
    title="Queueing delay as boxes",
    caption="Queueing delay of the packets that left the bottleneck: box from the 25th to the 75th "
    "percentile with the median, whiskers at the 5th and 95th, point at the mean.",
    needs=("queue",),
    chart=chart,
)
