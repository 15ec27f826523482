"""Depth of each queue of a bottleneck with several, against time, a panel per run."""

from __future__ import annotations

from narrows.analysis import metrics
from narrows.analysis.chart.model import Chart, Look, Mark, Panel, Trace, from_zero, time_axis
from narrows.analysis.chart.thin import Thinned
from narrows.analysis.figures.base import Figure, Results, shown_runs
from narrows.analysis.load import Run


def chart(results: Results) -> Chart | None:
    """A line per queue; None where the bottleneck has only one."""
    several = results.where(lambda run: len(run.summary["bottleneck"].get("queues", [])) > 1)
    if not several.runs:
        return None
    shown = shown_runs(several)
    lines = sum(len(run.summary["bottleneck"]["queues"]) for run in shown.runs)
    return Chart(
        [_panel(run, title, shown.columns_of(lines)) for run, title in shown],
        time_axis(shared=shown.shared_x),
        from_zero("Queued packets"),
        columns=shown.columns,
        height_in=1.3,
        note=shown.note,
    )


def _panel(run: Run, title: str, columns: int) -> Panel:
    marks: list[Mark] = []
    for queue in run.summary["bottleneck"]["queues"]:
        line = Thinned(run.duration_ps, columns)
        for part in metrics.depth_parts(run, queue["queue"]):
            line.add(part["time_ps"], part["packets"])
        x, y = line.points()
        look = Look(queue["queue"], width=0.7)
        marks.append(Trace(x, y, look, f"queue {queue['queue']}", step=True))
    return Panel(marks, title)


FIGURE = Figure(
    name="queue_depths",
    title="Depth of each queue over time",
    caption="Packets waiting in each of the bottleneck's queues after every enqueue and dequeue; "
    "queue 0 is served first. The packet in transmission does not count.",
    needs=("queue",),
    wants="a bottleneck with several queues",
    chart=chart,
)
