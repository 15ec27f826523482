"""Queue length in bytes against time, a panel per run (Jasem et al. 2010, Figs 7-10 (b))."""

from __future__ import annotations

from narrows.analysis import metrics
from narrows.analysis.chart.model import Chart, Look, Mark, Panel, Rule, Trace, from_zero, time_axis
from narrows.analysis.chart.thin import Thinned
from narrows.analysis.figures.base import Figure, Results, shown_runs
from narrows.analysis.load import Run


def chart(results: Results) -> Chart:
    """Steps of the bottleneck's depth and its time-weighted mean."""
    shown = shown_runs(results)
    return Chart(
        [_panel(run, title, shown.run_columns) for run, title in shown],
        time_axis(shared=shown.shared_x),
        from_zero("Queue length (kB)"),
        columns=shown.columns,
        height_in=1.15,
        note=shown.note,
    )


def _panel(run: Run, title: str, columns: int) -> Panel:
    line, mean = Thinned(run.duration_ps, columns), metrics.MeanOverTime(0, run.duration_ps)
    for part in metrics.depth_parts(run):
        time_ps, kilobytes = part["time_ps"].to_numpy(), part["bytes"].to_numpy() / 1000
        line.add(time_ps, kilobytes)
        mean.add(time_ps, kilobytes)
    x, y = line.points()
    mean_kb, look = mean.value(), Look(1, width=1.1)
    marks: list[Mark] = [Trace(x, y, Look(0, width=0.7), step=True), Rule(y=mean_kb, look=look)]
    return Panel(marks, title, f"mean {mean_kb:.1f} kB", look)


FIGURE = Figure(
    name="queue_length",
    title="Queue length over time",
    caption="Bytes waiting in the bottleneck's queue after each enqueue and dequeue; the packet in "
    "transmission does not count. Dashed: time-weighted mean. 1 kB = 1000 bytes.",
    needs=("queue",),
    chart=chart,
)
