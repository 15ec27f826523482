"""Distribution of the flows' completion times, a line per discipline or series."""

from __future__ import annotations

import numpy as np

from narrows.analysis.chart.model import Axis, Chart, Look, Trace
from narrows.analysis.chart.thin import distribution
from narrows.analysis.figures import disciplines
from narrows.analysis.figures.base import Figure, Results, seeds_note
from narrows.analysis.load import Run
from narrows.analysis.metrics import Floats

TICKS = [
    (at_s, f"{at_s:g}")
    for at_s in (step * 10.0**decade for decade in range(-4, 4) for step in (1, 2, 5))
]
"""Labels of seconds as numbers, which are narrower than powers."""


def chart(results: Results) -> Chart | None:
    """A panel per point; None if no flow ended."""
    panels = disciplines.panels(results, _lines)
    if not panels:
        return None
    return Chart(
        panels,
        Axis("Completion time (s)", log=True, ticks=TICKS),
        Axis("Fraction of flows", low=0.0, high=1.0, pad=(0.0, 0.0)),
        height_in=1.7,
        note=seeds_note(results, "flows of {count} seeds"),
    )


def _lines(whole: Results, among: Results) -> list[Trace]:
    return [
        Trace(*distribution(taken_s), Look(index), name, step=True)
        for index, name, found in disciplines.each(whole, among)
        if (taken_s := np.concatenate([_taken_s(run) for run in found.runs])).size
    ]


def _taken_s(run: Run) -> Floats:
    """Completion times of the flows that ended, in s."""
    taken = [flow.get("completion_s") for flow in run.flows]
    return np.array([each for each in taken if each is not None], dtype=float)


FIGURE = Figure(
    name="flow_completion",
    title="Distribution of completion times",
    caption="Time from a flow's start to the acknowledgement of its last byte, for all flows that "
    "ended in the run, as a share of these. A line is a discipline or a series. Flows without an "
    "end, and those that had not ended, are left out.",
    needs=(),
    wants="flows that end (app = { bytes = ... })",
    chart=chart,
)
