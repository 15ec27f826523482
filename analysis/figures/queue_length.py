"""Queue length in bytes against time, a panel per run (Jasem et al. 2010, Figs 7-10 (b))."""

from __future__ import annotations

from matplotlib.figure import Figure as Canvas

from analysis import metrics
from analysis.figures import style
from analysis.figures.base import Figure, Results, finish, point_panels, seeds_note, thin


def draw(results: Results) -> Canvas:
    """A step line of the bottleneck's depth and its time-weighted mean."""
    grid, runs = point_panels(results, 1.15)
    for axis, run in zip(grid.axes, runs, strict=True):
        depth = metrics.depth(run)
        time_ps, kilobytes = depth["time_ps"].to_numpy(), depth["bytes"].to_numpy() / 1000
        mean = metrics.time_weighted_mean(time_ps, kilobytes, 0, run.duration_ps)
        x, y = thin(time_ps, kilobytes, run.duration_ps, grid.columns_px)
        axis.step(x, y, where="post", color=style.colour(0), linewidth=0.7)
        axis.axhline(mean, color=style.colour(1), linestyle=(0, (4, 1.4)), linewidth=1.1)
        axis.set_title(f"mean {mean:.1f} kB", loc="right", color=style.colour(1))
    grid.from_zero()
    return finish(grid, "Time (s)", "Queue length (kB)", note=seeds_note(results))


FIGURE = Figure(
    name="queue_length",
    title="Queue length over time",
    caption="Bytes waiting in the bottleneck's queue after each enqueue and dequeue; the packet in "
    "transmission does not count. Dashed: time-weighted mean. 1 kB = 1000 bytes.",
    needs=("queue",),
    draw=draw,
)
