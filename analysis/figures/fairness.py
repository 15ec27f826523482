"""Jain's fairness index against the number of flows."""

from __future__ import annotations

from narrows.analysis import metrics
from narrows.analysis.chart.model import Axis, Chart, Panel
from narrows.analysis.figures import against
from narrows.analysis.figures.base import Figure, Results, point_label, seeds_note
from narrows.analysis.load import Run


def chart(results: Results) -> Chart | None:
    """A panel per point, a line per series, over the runs with at least two flows."""
    shared = results.valid.where(lambda run: len(run.flows) > 1)
    if not shared.runs or not (shared.x_key or shared.series_key):
        return None
    facets = shared.facets(shared.series_key, shared.x_key)
    lowest = min(_jain(run) for run in shared.runs)
    return Chart(
        [Panel(against.lines(shared, among, _jain), point_label(point)) for point, among in facets],
        against.axis(shared),
        Axis("Jain's fairness index", low=min(lowest, 0.95), high=1.0, pad=(0.05, 0.03)),
        columns=2,
        height_in=1.6,
        note=seeds_note(results, "mean and range of {count} seeds"),
    )


def _jain(run: Run) -> float:
    return metrics.jain(float(flow["goodput_bps"]) for flow in run.flows)


FIGURE = Figure(
    name="fairness",
    title="Fairness",
    caption="Jain's index of the flows' goodputs, each over its own life; 1 is an equal share for "
    "all, 1/n all for one of n flows.",
    needs=(),
    wants="at least two flows, and a sweep",
    chart=chart,
)
