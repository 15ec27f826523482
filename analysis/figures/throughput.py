"""Throughput over time: bytes that the bottleneck sent, per flow and total, a panel per run."""

from __future__ import annotations

from typing import Final

import numpy as np

from narrows.analysis import metrics
from narrows.analysis.chart.model import Chart, Look, Panel, Trace, from_zero, time_axis
from narrows.analysis.figures.base import Figure, Results, shown_runs
from narrows.analysis.figures.flows import Flows, rate_trace, rates_of
from narrows.analysis.load import Run
from narrows.analysis.metrics import PS_PER_S


def chart(results: Results) -> Chart:
    """Lines of means over bins of one length in all panels."""
    shown = shown_runs(results)
    flows = Flows(shown.runs)
    bin_ps = metrics.nice_bin_ps(max(run.duration_ps for run in shown.runs))
    return Chart(
        [Panel(_marks(run, flows, bin_ps), title) for run, title in shown],
        time_axis(f"Time (s), means over {bin_ps / PS_PER_S:g} s", shared=shown.shared_x),
        from_zero("Throughput (Mb/s)"),
        columns=shown.columns,
        height_in=1.15,
        note=shown.note,
    )


_ALL: Final = Look("muted", width=1.3)
_RATE: Final = Look("ink", dash=2, width=0.8)


def _marks(run: Run, flows: Flows, bin_ps: int) -> list[Trace]:
    sent, of_flow = metrics.throughputs_bps(run, bin_ps)
    each = rates_of(run, of_flow, flows, bin_ps)
    return [*_rate(run), rate_trace(sent, _ALL, "all flows"), *each]


def _rate(run: Run) -> list[Trace]:
    """The link's rate, with steps where the scenario changes it."""
    rates = metrics.link_rates_bps(run)
    if not rates:
        return []
    end_s = run.duration_ps / PS_PER_S
    kept = [(at_s, bps) for at_s, bps in rates if at_s <= end_s]
    x, y = np.array([*kept, (end_s, kept[-1][1])]).T
    return [Trace(x, y / 1e6, _RATE, "link rate", step=True)]


FIGURE = Figure(
    name="throughput",
    title="Throughput over time",
    caption="What left the bottleneck, headers and retransmissions included: of each flow or, of "
    "more than eight, in sum. Grey: of all. Dotted: the link's rate. 1 Mb/s = 1,000,000 bit/s.",
    needs=("queue",),
    chart=chart,
)
