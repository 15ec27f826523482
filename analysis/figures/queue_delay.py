"""Queueing delay of the packets against their departure time, a panel per run."""

from __future__ import annotations

from narrows.analysis import metrics
from narrows.analysis.chart.model import Chart, Look, Mark, Panel, Rule, Trace, from_zero, time_axis
from narrows.analysis.chart.thin import Thinned
from narrows.analysis.figures.base import Figure, Results, shown_runs
from narrows.analysis.load import Run


def chart(results: Results) -> Chart:
    """A line through the packets' delays and the 95th percentile."""
    shown = shown_runs(results)
    return Chart(
        [_panel(run, title, shown.run_columns) for run, title in shown],
        time_axis(shared=shown.shared_x),
        from_zero("Queueing delay (ms)"),
        columns=shown.columns,
        height_in=1.15,
        note=shown.note,
    )


def _panel(run: Run, title: str, columns: int) -> Panel:
    last_ps = metrics.last_departure_ps(run)
    if last_ps is None:
        return Panel([], title, "no packet")
    line = Thinned(last_ps, columns)
    delays_ms = metrics.queue_delays_ms(run, each=line.add)
    x, y = line.points()
    p95, look = metrics.percentile(delays_ms, 95, keep=False), Look(1, width=1.1)
    marks: list[Mark] = [Trace(x, y, Look(0, width=0.7)), Rule(y=p95, look=look)]
    return Panel(marks, title, f"p95 {p95:.1f} ms", look)


FIGURE = Figure(
    name="queue_delay",
    title="Queueing delay over time",
    caption="Wait of each packet at the bottleneck, from its enqueue to the start of its "
    "transmission, at the time of that start. Dashed: 95th percentile of all packets.",
    needs=("queue",),
    chart=chart,
)
