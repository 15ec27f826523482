"""Goodput over time: the in-order bytes of each flow, a panel per run."""

from __future__ import annotations

from narrows.analysis import metrics
from narrows.analysis.chart.model import Chart, Panel, from_zero, time_axis
from narrows.analysis.figures.base import Figure, Results, shown_runs
from narrows.analysis.figures.flows import Flows, rates_of
from narrows.analysis.metrics import PS_PER_S


def chart(results: Results) -> Chart:
    """Lines of means over bins of one length in all panels."""
    shown = shown_runs(results)
    flows = Flows(shown.runs)
    bin_ps = metrics.nice_bin_ps(max(run.duration_ps for run in shown.runs))
    return Chart(
        [
            Panel(rates_of(run, metrics.goodput_bps(run, bin_ps), flows, bin_ps), title)
            for run, title in shown
        ],
        time_axis(f"Time (s), means over {bin_ps / PS_PER_S:g} s", shared=shown.shared_x),
        from_zero("Goodput (Mb/s)"),
        columns=shown.columns,
        height_in=1.15,
        note=shown.note,
    )


FIGURE = Figure(
    name="goodput",
    title="Goodput over time",
    caption="Payload acknowledged in sequence, per flow or, of more than eight, in sum. When a "
    "lost segment is repaired, all that waited behind it counts at once: a bin may exceed the "
    "link's rate, the mean over the run cannot.",
    needs=("flows",),
    chart=chart,
)
