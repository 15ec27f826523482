"""The effect of a swept quantity on goodput, delay, loss and fairness."""

from __future__ import annotations

from typing import Final

from narrows.analysis import metrics
from narrows.analysis.chart.model import Axis, Chart, Panel, from_zero
from narrows.analysis.figures import against
from narrows.analysis.figures.base import Figure, Results, point_label, seeds_note
from narrows.analysis.figures.buffer_sweep import BUFFER
from narrows.analysis.figures.loss_sweep import LOSS

MEASURES: Final[tuple[tuple[Axis, against.Measure], ...]] = (
    (from_zero("Goodput (Mb/s)", shared="row"), lambda run: metrics.mean_goodput_bps(run) / 1e6),
    (from_zero("Queueing delay (ms)", shared="row"), metrics.mean_queue_delay_ms),
    (from_zero("Loss (%)", shared="row"), metrics.loss_percent),
    (Axis("Jain's index", low=0.0, high=1.0, pad=(0.0, 0.03), shared="row"),
     lambda run: float(run.summary["jain"])),
)  # fmt: skip


def chart(results: Results) -> Chart | None:
    """A row of panels per measure, a column per point, a line per series.

    None if nothing is swept, or if the swept key has its own figure.
    """
    counted = results.valid
    if not counted.runs or counted.x_key in (None, BUFFER, LOSS):
        return None
    facets = counted.facets(counted.series_key, counted.x_key)

    return Chart(
        [
            Panel(
                against.lines(counted, among, measure),
                point_label(point) or axis.label.split(" (")[0],
                y=axis,
            )
            for axis, measure in MEASURES
            for point, among in facets
        ],
        against.axis(counted),
        columns=len(facets),
        height_in=1.3,
        note=seeds_note(results, "mean and range of {count} seeds"),
    )


FIGURE = Figure(
    name="sweep",
    title="Results against the swept key",
    caption="Goodput of all flows over the whole run, mean queueing delay and loss at the "
    "bottleneck, Jain's index of the flows.",
    needs=(),
    wants="a sweep over a number other than bottleneck.queue and bottleneck.loss",
    chart=chart,
)
