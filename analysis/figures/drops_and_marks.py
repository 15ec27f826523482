"""Share of packets that the bottleneck drops and marks, against time, a panel per run."""

from __future__ import annotations

import numpy as np
import polars as pl

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
    rows = metrics.bottleneck_ledger(run).select("time_ps", "event", "packet").collect()
    # A packet's first row is its arrival: stored, marked or refused.
    came = rows.group_by("packet").agg(pl.col("time_ps").min())["time_ps"].to_numpy()
    arrived = np.maximum(np.histogram(came, edges)[0], 1)
    middle_s = (edges[:-1] + bin_ps / 2) / PS_PER_S
    marks: list[Mark] = []
    for event, look, name in (("drop", DROPPED, "dropped"), ("mark", MARKED, "marked")):
        times = rows.filter(pl.col("event") == event)["time_ps"].to_numpy()
        share = 100 * np.histogram(times, edges)[0] / arrived
        marks.append(Trace(middle_s, share, look, name=name))
    return Panel(marks, title)


FIGURE = Figure(
    name="drops_and_marks",
    title="Drops and marks over time",
    caption="Packets that the bottleneck dropped and marked, over the packets that came to it, "
    "in bins of a 150th of the run, at least 100 ms.",
    needs=("queue",),
    chart=chart,
)
