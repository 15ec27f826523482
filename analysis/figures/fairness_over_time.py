"""Jain's fairness index second by second, a panel per point."""

from __future__ import annotations

from narrows.analysis import metrics
from narrows.analysis.chart.model import Axis, Chart, Look, Panel, Trace, time_axis
from narrows.analysis.figures.base import Figure, Results, point_label, seeds_note, series_name
from narrows.analysis.load import Run
from narrows.analysis.metrics import PS_PER_S


def chart(results: Results) -> Chart | None:
    """A line per series, for runs with at least two flows; None if no run lasts a second."""
    shared = results.where(lambda run: len(run.flows) > 1)
    if not shared.runs:
        return None
    panels = [
        Panel(_marks(shared, among), point_label(point))
        for point, among in shared.facets(shared.series_key)
    ]
    if not any(panel.marks for panel in panels):
        return None
    return Chart(
        panels,
        time_axis(),
        Axis("Jain's fairness index", low=0.0, high=1.0, pad=(0.0, 0.03)),
        columns=2,
        height_in=1.45,
        note=seeds_note(shared),
    )


def _marks(whole: Results, among: Results) -> list[Trace]:
    traces = []
    for index, value in enumerate(whole.series):
        found = among.of_series(value)
        if found.runs:
            fairness = _jain_each_second(found.first)
            if fairness is not None:
                x, y = fairness
                traces.append(Trace(x, y, Look(index, width=0.9), series_name(whole, value)))
    return traces


def _jain_each_second(run: Run) -> tuple[metrics.Floats, metrics.Floats] | None:
    """Midpoints of the seconds with at least two active flows, and the index among these flows."""
    goodput = metrics.alive(run, metrics.goodput_bps(run, PS_PER_S))
    rows = metrics.jain_over_time(goodput)
    rows = rows.filter(rows["flows"] > 1)
    if not len(rows):
        return None
    return rows["time_ps"].to_numpy() / PS_PER_S, rows["jain"].to_numpy()


FIGURE = Figure(
    name="fairness_over_time",
    title="Fairness over time",
    caption="Jain's index of the goodputs in each second, over the flows that run in it, if these "
    "are at least two.",
    needs=("flows",),
    wants="at least two flows that live a second together",
    chart=chart,
)
