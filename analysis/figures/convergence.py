"""Time until the flows share the bottleneck evenly."""

from __future__ import annotations

from typing import Final

from narrows.analysis import metrics
from narrows.analysis.chart.model import Chart, Panel, from_zero
from narrows.analysis.figures import against
from narrows.analysis.figures.base import Figure, Results, point_label, seeds_note
from narrows.analysis.load import Run
from narrows.analysis.metrics import PS_PER_S

DELTA: Final = 0.7
"""Tolerance of an equal share, as a fraction of it (`metrics.convergence_time_s`)."""


def chart(results: Results) -> Chart | None:
    """A panel per point, a line per series, over the runs that converge."""
    shared = results.valid.where(lambda run: len(run.flows) > 1 and _time_s(run) is not None)
    if not shared.runs or not (shared.x_key or shared.series_key):
        return None
    facets = shared.facets(shared.series_key, shared.x_key)
    return Chart(
        [
            Panel(against.lines(shared, among, _time_s), point_label(point))
            for point, among in facets
        ],
        against.axis(shared),
        from_zero("Convergence time (s)"),
        columns=2,
        height_in=1.6,
        note=seeds_note(results, "mean and range of those of {count} seeds that converge"),
    )


def _time_s(run: Run) -> float | None:
    """From the last flow's start; None if shares do not stay even, or if one flow ends first."""
    latest_s = max(float(flow["start_s"]) for flow in run.flows)
    goodput = metrics.alive(run, metrics.goodput_bps(run, PS_PER_S), together=True)
    found_s = metrics.convergence_time_s(goodput, DELTA) if len(goodput) else None
    return None if found_s is None else max(found_s - latest_s, 0.0)


FIGURE = Figure(
    name="convergence",
    title="Convergence",
    caption="From the last flow's start until every flow's share of the goodput, second by second, "
    f"is within {DELTA:.0%} of an equal one and stays there while all flows live.",
    needs=("flows",),
    wants="at least two flows that come to share evenly, and a sweep",
    chart=chart,
)
