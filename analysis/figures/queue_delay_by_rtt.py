"""Average queueing delay against the RTT's number (Jasem et al. 2010, Figs 7-10 (a))."""

from __future__ import annotations

from narrows.analysis import metrics
from narrows.analysis.chart.model import Axis, Chart, Look, Panel, Trace, from_zero
from narrows.analysis.figures.base import Figure, Results, point_label, seeds_note, series_name


def chart(results: Results) -> Chart:
    """A panel per point, a line per series."""
    facets = results.facets(results.series_key)
    return Chart(
        [Panel(_marks(results, among), point_label(point)) for point, among in facets],
        Axis("Number of the RTT", low=0.0, pad=(0.0, 0.0), whole=True, shared="none"),
        from_zero("Average queueing delay (ms)"),
        columns=2,
        height_in=1.45,
        note=seeds_note(results),
    )


def _marks(results: Results, among: Results) -> list[Trace]:
    traces = []
    for index, value in enumerate(results.series):
        found = among.of_series(value)
        if found.runs:
            rounds = metrics.mean_delay_by_round(found.first)
            x, y = rounds["round"].cast(float).to_numpy(), rounds["delay_ms"].to_numpy()
            traces.append(Trace(x, y, Look(index, width=0.8), series_name(results, value)))
    return traces


FIGURE = Figure(
    name="queue_delay_by_rtt",
    title="Average queueing delay per RTT",
    caption="Mean wait at the bottleneck of the packets that left it during each round trip of a "
    "flow, then the mean over the flows at their n-th round trip.",
    needs=("queue", "flows"),
    chart=chart,
)
