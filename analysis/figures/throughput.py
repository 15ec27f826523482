"""Throughput over time: goodput of each flow and what the bottleneck sent, a panel per run."""

from __future__ import annotations

from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D

from analysis import metrics
from analysis.figures import style
from analysis.figures.base import Figure, Results, finish, point_panels, seeds_note
from analysis.metrics import PS_PER_S


def draw(results: Results) -> Canvas:
    """Lines of means over bins, one bin for all panels."""
    grid, runs = point_panels(results, 1.15)
    flows = sorted({flow["id"] for run in runs for flow in run.flows})
    many = len(flows) > len(style.COLOURS)
    bin_ps = metrics.nice_bin_ps(max(run.duration_ps for run in runs))
    for axis, run in zip(grid.axes, runs, strict=True):
        sent = metrics.throughput_bps(run, bin_ps)
        axis.plot(sent["time_ps"] / PS_PER_S, sent["bps"] / 1e6, color=style.MUTED, linewidth=1.3)
        goodput = metrics.goodput_bps(run, bin_ps)
        for flow in run.flows:
            done_ps = round((flow["completion_s"] or run.summary["duration_s"]) * PS_PER_S)
            own = goodput.filter(
                goodput["flow"] == flow["id"], goodput["time_ps"] < done_ps + bin_ps // 2
            )
            look = style.series(flows.index(flow["id"])) | {"linewidth": 0.9}
            look = {"color": style.colour(0), "linewidth": 0.4, "alpha": 0.5} if many else look
            axis.plot(own["time_ps"] / PS_PER_S, own["bps"] / 1e6, **look)
    grid.from_zero()
    handles = [Line2D([], [], color=style.MUTED, linewidth=1.3, label="bottleneck, all bytes")]
    if many:
        handles.append(Line2D([], [], color=style.colour(0), linewidth=0.6, label="each flow"))
    else:
        handles += [
            Line2D([], [], label=f"flow {flow}", **style.series(index))
            for index, flow in enumerate(flows)
        ]
    xlabel = f"Time (s), means over {bin_ps / PS_PER_S:g} s"
    return finish(grid, xlabel, "Throughput (Mb/s)", handles, seeds_note(results))


FIGURE = Figure(
    name="throughput",
    title="Throughput over time",
    caption="Per flow: goodput, the bytes acknowledged in sequence. Grey: everything that the "
    "bottleneck sent, headers and retransmissions included. 1 Mb/s = 1,000,000 bit/s.",
    needs=("queue", "flows"),
    draw=draw,
)
