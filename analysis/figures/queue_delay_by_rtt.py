"""Average queueing delay against the RTT's number (Jasem et al. 2010, Figs 7-10 (a))."""

from __future__ import annotations

from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import MaxNLocator

from analysis import metrics
from analysis.figures import style
from analysis.figures.base import (
    Figure,
    Results,
    finish,
    panels,
    point_label,
    seeds_note,
    series_handles,
)


def draw(results: Results) -> Canvas:
    """A panel per point, a line per series."""
    facets = results.facets(results.series_key)
    titles = [point_label(point) for point, _ in facets]
    grid = panels(len(facets), 2, 1.45, titles)
    for axis, (_, among) in zip(grid.axes, facets, strict=True):
        for index, value in enumerate(results.series):
            found = among.of_series(value)
            if not found.runs:
                continue
            rounds = metrics.mean_delay_by_round(found.first)
            axis.plot(
                rounds["round"], rounds["delay_ms"], **style.series(index) | {"linewidth": 0.8}
            )
        axis.xaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))
    grid.from_zero()
    handles = series_handles(results)
    return finish(
        grid, "Number of the RTT", "Average queueing delay (ms)", handles, seeds_note(results)
    )


FIGURE = Figure(
    name="queue_delay_by_rtt",
    title="Average queueing delay per RTT",
    caption="Mean wait at the bottleneck of the packets that left it during each round trip of a "
    "flow, then the mean over the flows at their n-th round trip.",
    needs=("queue", "flows"),
    draw=draw,
)
