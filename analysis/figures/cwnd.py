"""Congestion window and slow-start threshold of each flow over time, a panel per run."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D

from analysis.figures import style
from analysis.figures.base import Figure, Results, finish, point_panels, seeds_note, thin
from analysis.metrics import PS_PER_S


def draw(results: Results) -> Canvas:
    """A step line per flow, its threshold dotted in the same colour."""
    grid, runs = point_panels(results, 1.2)
    flows = sorted({flow["id"] for run in runs for flow in run.flows})
    many = len(flows) > len(style.COLOURS)
    for axis, run in zip(grid.axes, runs, strict=True):
        rows = run.table("flows").select("flow", "time_ps", "cwnd_bytes", "ssthresh_bytes").collect()
        for flow in run.flows:
            own = rows.filter(rows["flow"] == flow["id"])
            colour = style.MUTED if many else style.colour(flows.index(flow["id"]))
            for column, line, width in (("cwnd_bytes", "-", 0.7), ("ssthresh_bytes", ":", 0.9)):
                if many and column == "ssthresh_bytes":
                    continue
                known = own.filter(own[column].is_not_null())
                kilobytes = known[column].cast(float).to_numpy() / 1000
                last_ps = int(own["time_ps"][-1]) if len(own) else 0
                x, y = thin(known["time_ps"].to_numpy(), kilobytes, last_ps, grid.columns_px)
                axis.step(x, y, where="post", color=colour, linestyle=line, linewidth=width)
        axis.set_xlim(0, run.duration_ps / PS_PER_S)
        top = rows["cwnd_bytes"].max()
        axis.set_ylim(0, np.max([axis.get_ylim()[1], 1.05 * float(str(top or 1)) / 1000]))
    handles = [
        Line2D([], [], color=style.colour(index), label=f"flow {flow}")
        for index, flow in enumerate(flows)
        if not many
    ]
    handles += [Line2D([], [], color=style.INK, linestyle=":", label="ssthresh")] * (not many)
    return finish(grid, "Time (s)", "Congestion window (kB)", handles, seeds_note(results))


FIGURE = Figure(
    name="cwnd",
    title="Congestion window over time",
    caption="Congestion window (lines) and slow-start threshold (dotted, from the first loss on) as "
    "the senders recorded them. 1 kB = 1000 bytes.",
    needs=("flows",),
    draw=draw,
)
