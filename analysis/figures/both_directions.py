"""Use, loss and queueing delay of the bottleneck's link in each direction.

The metrics of the common TCP evaluation suite's basic scenarios (draft-irtf-iccrg-tcpeval-01,
section 4.5).
"""

from __future__ import annotations

from functools import partial
from typing import Final

from narrows.analysis import metrics
from narrows.analysis.chart.model import Axis, Chart, Panel, from_zero
from narrows.analysis.figures import against
from narrows.analysis.figures.base import Figure, Results, seeds_note

DIRECTIONS: Final = ((metrics.BOTTLENECK, "bottleneck"), (metrics.REVERSE, "other direction"))
MEASURES: Final = (
    (Axis("Link use (%)", low=0.0, high=100.0, pad=(0.0, 0.03), shared="row"),
     metrics.link_use_percent),
    (from_zero("Loss (%)", shared="row"), metrics.loss_percent),
    (from_zero("Queueing delay (ms)", shared="row"), metrics.mean_queue_delay_ms),
)  # fmt: skip


def chart(results: Results) -> Chart | None:
    """A row of panels per measure, a column per direction, a line per series; None without runs
    that recorded both directions.
    """
    both = results.valid.where(lambda run: metrics.REVERSE in run.summary)
    if not both.runs:
        return None
    return Chart(
        [
            Panel(against.lines(both, both, partial(measure, port=port)), title, y=axis)
            for axis, measure in MEASURES
            for port, title in DIRECTIONS
        ],
        against.axis(both),
        columns=len(DIRECTIONS),
        height_in=1.3,
        note=seeds_note(results, "mean and range of {count} seeds"),
    )


FIGURE = Figure(
    name="both_directions",
    title="The bottleneck in both directions",
    caption="Use of the link, loss and mean queueing delay, over the whole run, in the direction "
    "of the bottleneck's data and in the other one.",
    needs=(),
    wants="runs that recorded both directions",
    chart=chart,
)
