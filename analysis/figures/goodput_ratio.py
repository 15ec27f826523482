"""Goodput of one kind of flow relative to another.

The metrics of the common TCP evaluation suite (draft-irtf-iccrg-tcpeval-01) for fairness within a
protocol and between round trips (section 6.2.3) and for multiple bottlenecks (section 6.3.2).
"""

from __future__ import annotations

from typing import Final

from narrows.analysis import metrics
from narrows.analysis.chart.model import Chart, Panel, from_zero
from narrows.analysis.figures import against
from narrows.analysis.figures.base import Figure, Results, point_label, seeds_note
from narrows.analysis.load import Run


def _ratio(run: Run) -> float | None:
    """For the first two names, the first's goodput over the second's; None if that is 0."""
    one, other, *_ = (
        sum(float(flow["goodput_bps"]) for flow in flows) / len(flows)
        for flows in run.named.values()
    )
    return one / other if other else None


MEASURES: Final = (
    (from_zero("Ratio of goodputs", shared="row"), _ratio),
    (from_zero("Loss (%)", shared="row"), metrics.loss_percent),
)


def chart(results: Results) -> Chart | None:
    """A row of panels per measure, a column per point, a line per series; None if flows do not have
    two names.
    """
    named = results.valid.where(lambda run: len(run.named) > 1)
    if not named.runs:
        return None
    facets = named.facets(named.series_key, named.x_key)
    names = " : ".join(list(named.runs[0].named)[:2])
    return Chart(
        [
            Panel(against.lines(named, among, measure), point_label(point), y=axis)
            for axis, measure in MEASURES
            for point, among in facets
        ],
        against.axis(named),
        columns=len(facets),
        height_in=1.3,
        note=", ".join(
            filter(None, [names, seeds_note(results, "mean and range of {count} seeds")])
        ),
    )


FIGURE = Figure(
    name="goodput_ratio",
    title="One kind of flow against another",
    caption="Mean goodput of the connections with the first name in the scenario, over that of "
    "the second name, for the whole run; loss at the bottleneck.",
    needs=(),
    wants="flows of at least two names (name = in [[flow]])",
    chart=chart,
)
