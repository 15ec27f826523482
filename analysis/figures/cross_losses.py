"""Losses that a flow causes for unresponsive traffic: the lost datagrams of competing flows.

The metric of the common TCP evaluation suite (draft-irtf-iccrg-tcpeval-01, section 5.3.3) for an
increase of cross traffic.
"""

from __future__ import annotations

from narrows.analysis.chart.model import Axis, Chart, Look, Panel, Trace, from_zero
from narrows.analysis.figures import against
from narrows.analysis.figures.base import Figure, Results, point_label, seeds_note, series_name
from narrows.analysis.load import Run


def chart(results: Results) -> Chart | None:
    """A mark per point and series; None unless datagrams and other traffic were sent."""
    crossed = results.valid.where(lambda run: 0 < len(_datagrams(run)) < len(run.flows))
    if not crossed.runs:
        return None
    facets = crossed.facets(crossed.series_key)
    ticks = [(float(n), point_label(point) or "all runs") for n, (point, _) in enumerate(facets)]
    return Chart(
        [
            Panel(
                [mark for n, (_, among) in enumerate(facets) for mark in _marks(crossed, among, n)]
            )
        ],
        Axis(low=-0.5, high=len(facets) - 0.5, pad=(0.0, 0.0), ticks=ticks),
        from_zero("Datagrams lost"),
        columns=1,
        height_in=1.8,
        note=seeds_note(results, "mean and range of {count} seeds"),
    )


def _datagrams(run: Run) -> list[int]:
    """Lost datagrams of each flow of datagrams."""
    return [int(flow["datagrams"]["lost"]) for flow in run.flows if "datagrams" in flow]


def _marks(whole: Results, among: Results, position: int) -> list[Trace]:
    traces = []
    for index, value in enumerate(whole.series):
        lost = [sum(_datagrams(run)) for run in among.of_series(value).runs]
        aside = (index - (len(whole.series) - 1) / 2) * 0.08
        look = Look(index, line=False, marker="filled")
        traces += against.over_seeds([position + aside], lost, look, series_name(whole, value))
    return traces


FIGURE = Figure(
    name="cross_losses",
    title="Losses of traffic that does not respond",
    caption="Datagrams lost over the whole run, while TCP flows share the bottleneck.",
    needs=(),
    wants="TCP flows and datagrams",
    chart=chart,
)
