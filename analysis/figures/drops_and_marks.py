"""Share of packets that the bottleneck drops and marks, against time, a panel per run."""

from __future__ import annotations

import numpy as np

from narrows.analysis import metrics
from narrows.analysis.chart.model import Chart, Look, Mark, Panel, Trace, from_zero, time_axis
from narrows.analysis.figures.base import Figure, Results, shown_runs
from narrows.analysis.load import Run
from narrows.analysis.metrics import PS_PER_S


def chart(results: Results) -> Chart:
    """A line of drops and a line of marks, each over the packets that arrived in its bin."""
    shown = shown_runs(results)
    return Chart(
        [_panel(run, title) for run, title in shown],
        time_axis(shared=shown.shared_x),
        from_zero("Packets (%)"),
        columns=shown.columns,
        height_in=1.15,
        note=shown.note,
    )


DROPPED = Look(0, width=0.9)
MARKED = Look(1, width=0.9)


def _panel(run: Run, title: str) -> Panel:
    bin_ps = metrics.nice_bin_ps(run.duration_ps)
    edges = metrics.bin_edges_ps(run.duration_ps, bin_ps)
    arrivals, arrived, dropped, marked = metrics.Arrivals(), *np.zeros((3, len(edges) - 1))
    for part in metrics.ledger_parts(run, "event", "packet"):
        drop, mark = part["event"] == "drop", part["event"] == "mark"
        for counts, rows in ((arrived, arrivals.among(part)), (dropped, drop), (marked, mark)):
            counts += np.histogram(part["time_ps"].filter(rows).to_numpy(), edges)[0]
    middle_s = (edges[:-1] + bin_ps / 2) / PS_PER_S
    each = ((dropped, DROPPED, "dropped"), (marked, MARKED, "marked"))
    marks: list[Mark] = [
        Trace(middle_s, 100 * counts / np.maximum(arrived, 1), look, name=name)
        for counts, look, name in each
    ]
    return Panel(marks, title)


FIGURE = Figure(
    name="drops_and_marks",
    title="Drops and marks over time",
    caption="Packets that the bottleneck dropped and marked, over the packets that came to it, "
    "in bins of a 150th of the run, at least 100 ms.",
    needs=("queue",),
    chart=chart,
)
