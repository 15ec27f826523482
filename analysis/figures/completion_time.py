"""Completion time against the number of flows (Jasem et al. 2010, Fig 6)."""

from __future__ import annotations

from narrows.analysis import metrics
from narrows.analysis.chart.model import Axis, Chart, Panel, from_zero
from narrows.analysis.figures import against
from narrows.analysis.figures.base import Figure, Results, point_label, seeds_note
from narrows.analysis.load import Run


def chart(results: Results) -> Chart | None:
    """The upper row is the time until the last flow has all its data; the lower row its excess over
    the bound.
    """
    done = results.valid.where(lambda run: metrics.completion_s(run) is not None)
    if not done.runs or not (done.x_key or done.series_key):
        return None
    facets = done.facets(done.series_key, done.x_key)
    time, excess = from_zero("Time (s)", shared="row"), Axis("Excess (%)", shared="row")
    return Chart(
        [
            Panel(
                against.lines(done, among, measure),
                ", ".join(filter(None, [title, point_label(point)])),
                y=axis,
            )
            for title, measure, axis in (
                ("Completion time", metrics.completion_s, time),
                ("Excess over payload at link rate", _excess_percent, excess),
            )
            for point, among in facets
        ],
        against.axis(done),
        columns=len(facets),
        note=seeds_note(results, "mean and range of {count} seeds"),
    )


def _excess_percent(run: Run) -> float | None:
    bound_s, taken_s = metrics.completion_bound_s(run), metrics.completion_s(run)
    return 100 * (taken_s / bound_s - 1) if bound_s and taken_s else None


FIGURE = Figure(
    name="completion_time",
    title="Completion time",
    caption="Above: from the first flow's start to the acknowledgement of the last flow's last "
    "byte. Below: by how much that exceeds the delivered payload divided by the bottleneck's rate.",
    needs=(),
    wants="flows that end (app = { bytes = ... }), and a sweep",
    chart=chart,
)
