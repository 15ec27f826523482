"""Distribution of the latency of applications' messages, with the limits of interactive use."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D

from analysis import metrics
from analysis.figures import style
from analysis.figures.base import (
    Figure,
    Results,
    finish,
    panels,
    point_label,
    seeds_note,
    series_handles,
)

LIMITS_MS: Final = (100, 200)
"""What users of a shared world notice, and what they no longer bear."""


def draw(results: Results) -> Canvas | None:
    """A panel per point, a line per series; None where no application wrote messages."""
    facets = results.facets(results.series_key)
    grid = None
    for index, value in enumerate(results.series):
        for number, (_, among) in enumerate(facets):
            found = [metrics.message_latencies_ms(run) for run in among.of_series(value).runs]
            latencies = np.sort(np.concatenate(found)) if found else np.empty(0)
            if not latencies.size:
                continue
            if grid is None:
                titles = [point_label(point) for point, _ in facets]
                grid = panels(len(facets), 3, 1.55, titles, share_x="all")
            ranks = np.unique(np.linspace(0, latencies.size - 1, 2000).round().astype(int))
            below = (ranks + 1) / latencies.size
            x, y = np.append(latencies[0], latencies[ranks]), np.append(0, below)
            grid.axes[number].step(x, y, where="post", **style.series(index))
    if grid is None:
        return None
    look: dict[str, Any] = {"color": style.MUTED, "linewidth": 0.7, "linestyle": (0, (4, 2))}
    for axis in grid.axes:
        for limit_ms in LIMITS_MS:
            axis.axvline(limit_ms, **look)
    grid.axes[0].set_xscale("log")
    least, most = grid.axes[0].get_xlim()
    grid.axes[0].set_xlim(0.8 * least, 1.1 * most)
    grid.axes[0].set_ylim(0, 1.02)
    handles = series_handles(results)
    label = " and ".join(f"{limit_ms} ms" for limit_ms in LIMITS_MS)
    handles.append(Line2D([], [], label=label, **look))
    note = seeds_note(results, "messages of {count} seeds")
    return finish(grid, "Message latency (ms)", "Fraction of messages", handles, note)


FIGURE = Figure(
    name="message_latency",
    title="Latency of messages",
    caption="From the writing of a message by the sender's application until its last byte could "
    "be read in order, of all messages read by the end of the run; what had not arrived by then "
    "is left out. Dashed: 100 and 200 ms.",
    needs=("messages",),
    draw=draw,
)
