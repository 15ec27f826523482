"""Distribution of the queueing delay, a line per discipline or per group of flows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from narrows.analysis import metrics
from narrows.analysis.chart.model import Axis, Chart, Look, Trace
from narrows.analysis.chart.thin import distribution
from narrows.analysis.figures import disciplines
from narrows.analysis.figures.base import Figure, Results, seeds_note
from narrows.analysis.figures.groups import group_names, groups
from narrows.analysis.load import Run
from narrows.analysis.metrics import Floats

LEAST_MS = 0.01
"""Where the logarithmic axis begins, in ms; shorter delays are drawn here."""


def chart(results: Results) -> Chart | None:
    """A panel per point; lines are disciplines, or groups of flows where nothing is compared."""
    panels = disciplines.panels(results, _lines)
    if not panels:
        return None
    return Chart(
        panels,
        Axis("Queueing delay (ms)", low=LEAST_MS, pad=(0.0, 0.02), log=True),
        Axis("Fraction of packets", low=0.0, high=1.0, pad=(0.0, 0.0)),
        height_in=1.7,
        note=seeds_note(results, "packets of {count} seeds"),
    )


def _lines(whole: Results, among: Results) -> list[Trace]:
    return [
        Trace(np.maximum(x, LEAST_MS), y, Look(index), name, step=True)
        for index, name, delays_ms in _delays(whole, among)
        if delays_ms.size
        for x, y in [distribution(delays_ms)]
    ]


def _delays(whole: Results, among: Results) -> Iterator[tuple[int, str, Floats]]:
    """The number and the name of each line with its delays in ms."""
    if disciplines.compared_key(whole) is not None:
        for index, name, found in disciplines.each(whole, among):
            delays = [metrics.queue_delays_ms(run) for run in found.runs]
            yield index, name, metrics.together(delays)
        return
    names = group_names(whole.runs)
    for index, name in enumerate(names):
        label = name if len(names) > 1 else ""
        yield index, label, metrics.together([_of_group(run, name) for run in among.runs])


def _of_group(run: Run, name: str) -> Floats:
    """Queueing delays of the packets of one group of flows, in ms."""
    flows = [flow["id"] for flow in groups(run).get(name, [])]
    return metrics.queue_delays_ms(run, flows)


FIGURE = Figure(
    name="queue_delay_cdf",
    title="Distribution of queueing delay by discipline",
    caption="Queueing delay of the packets that left the bottleneck, as a share of all of them. A "
    "line is a discipline; without a sweep it is a name or variant of flows. Delays below "
    f"{LEAST_MS} ms are drawn at {LEAST_MS} ms.",
    needs=("queue",),
    chart=chart,
)
