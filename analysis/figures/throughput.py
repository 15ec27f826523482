"""Throughput over time: goodput of each flow and what the bottleneck sent, a panel per run."""

from __future__ import annotations

from typing import Any, Final

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D

from analysis import metrics
from analysis.figures import style
from analysis.figures.base import Figure, Results, finish, point_panels, seeds_note
from analysis.figures.flows import Flows
from analysis.load import Run
from analysis.metrics import PS_PER_S


def draw(results: Results) -> Canvas:
    """Lines of means over bins, one bin for all panels."""
    grid, runs = point_panels(results, 1.15)
    flows = Flows(runs)
    bin_ps = metrics.nice_bin_ps(max(run.duration_ps for run in runs))
    for axis, run in zip(grid.axes, runs, strict=True):
        sent = metrics.throughput_bps(run, bin_ps)
        axis.plot(sent["time_ps"] / PS_PER_S, sent["bps"] / 1e6, **_ALL)
        goodput = metrics.goodput_bps(run, bin_ps)
        if flows.many:
            _sums(axis, run, goodput, flows.mixed)
        else:
            _each(axis, run, goodput, flows, bin_ps)
    grid.from_zero()
    handles = [Line2D([], [], label="bottleneck, all bytes", **_ALL)]
    handles += _sum_handles(flows.mixed) if flows.many else flows.handles()
    xlabel = f"Time (s), means over {bin_ps / PS_PER_S:g} s"
    return finish(grid, xlabel, "Throughput (Mb/s)", handles, seeds_note(results))


_ALL: Final[dict[str, Any]] = {"color": style.MUTED, "linewidth": 1.3}


def _each(axis: Axes, run: Run, goodput: pl.DataFrame, flows: Flows, bin_ps: int) -> None:
    """A line per flow, to the bin in which it ends."""
    of_flow = dict(metrics.by_flow(goodput))
    for flow in run.flows:
        own = of_flow.get(flow["id"])
        if own is not None:
            end_s = metrics.end_s(flow) or float(run.summary["duration_s"])
            own = own.filter(own["time_ps"] < round(end_s * PS_PER_S) + bin_ps // 2)
            look = {"linewidth": 0.9} | flows.look(flow)
            axis.plot(own["time_ps"] / PS_PER_S, own["bps"] / 1e6, **look)


def _sums(axis: Axes, run: Run, goodput: pl.DataFrame, mixed: list[str]) -> None:
    """A line of all flows together, or of those of each variant that runs beside another."""
    for index, variant in enumerate(mixed or [None]):
        ids = [flow["id"] for flow in run.flows if variant in (None, flow["variant"])]
        own = goodput.filter(pl.col("flow").is_in(ids)).group_by("time_ps").agg(pl.col("bps").sum())
        own = own.sort("time_ps")
        axis.plot(own["time_ps"] / PS_PER_S, own["bps"] / 1e6, **style.series(index))


def _sum_handles(mixed: list[str]) -> list[Line2D]:
    names = [f"{variant} flows" for variant in mixed] or ["all flows"]
    return [
        Line2D([], [], label=f"goodput of {name}", **style.series(index))
        for index, name in enumerate(names)
    ]


FIGURE = Figure(
    name="throughput",
    title="Throughput over time",
    caption="Goodput: bytes acknowledged in sequence, per flow or, of more than eight, in sum. "
    "Grey: all that the bottleneck sent, headers and retransmissions included. "
    "1 Mb/s = 1,000,000 bit/s.",
    needs=("queue", "flows"),
    draw=draw,
)
