"""Congestion window and slow-start threshold of each flow over time, a panel per run."""

from __future__ import annotations

from typing import Any, Final

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D

from analysis import metrics
from analysis.figures import style
from analysis.figures.base import Figure, Panels, Results, finish, point_panels, seeds_note, thin
from analysis.figures.flows import Flows


def draw(results: Results) -> Canvas:
    """A step line per flow, its threshold thin in the same colour."""
    grid, runs = point_panels(results, 1.2, share_y="row")
    flows = Flows(runs)
    for axis, run in zip(grid.axes, runs, strict=True):
        rows = run.table("flows").select("flow", "time_ps", "cwnd_bytes", "ssthresh_bytes")
        of_flow = dict(metrics.by_flow(rows.collect()))
        for flow in run.flows:
            own, look = of_flow.get(flow["id"]), flows.look(flow)
            if own is not None:
                _step(grid, axis, own, "cwnd_bytes", {"linewidth": 0.7} | look)
            if own is not None and not flows.many:
                _step(grid, axis, own, "ssthresh_bytes", {"color": look["color"]} | _THRESHOLD)
    grid.from_zero()
    threshold = Line2D([], [], color=style.INK, label="ssthresh", **_THRESHOLD)
    handles = flows.handles() + [threshold] * (not flows.many)
    return finish(grid, "Time (s)", "Congestion window (kB)", handles, seeds_note(results))


_THRESHOLD: Final[dict[str, Any]] = {"linewidth": 0.5, "alpha": 0.5}


def _step(grid: Panels, axis: Axes, own: pl.DataFrame, column: str, look: dict[str, Any]) -> None:
    """One column of one flow's rows in kB, to the flow's last row."""
    known = own.filter(own[column].is_not_null())
    if len(known):
        kilobytes = known[column].cast(float).to_numpy() / 1000
        last_ps = int(own["time_ps"][-1])
        x, y = thin(known["time_ps"].to_numpy(), kilobytes, last_ps, grid.columns_px)
        axis.step(x, y, where="post", **look)


FIGURE = Figure(
    name="cwnd",
    title="Congestion window over time",
    caption="Congestion window (lines) and slow-start threshold (thin, from the first loss on) as "
    "the senders recorded them. 1 kB = 1000 bytes.",
    needs=("flows",),
    draw=draw,
)
