"""Time that a window takes to fill the capacity that other traffic released.

The metrics of the common TCP evaluation suite (draft-irtf-iccrg-tcpeval-01, section 5.3.3) for a
decrease of cross traffic: the time until the window is 60, 80 and 90 % of the bandwidth-delay
product, and its largest change in a round trip before that.
"""

from __future__ import annotations

from functools import partial
from typing import Final

import numpy as np
import polars as pl

from narrows.analysis.chart.model import Axis, Chart, Panel, from_zero
from narrows.analysis.figures import against
from narrows.analysis.figures.base import Figure, Results, seeds_note
from narrows.analysis.load import Run
from narrows.analysis.metrics import PS_PER_S, Floats, end_s

PARTS: Final = (60, 80, 90)
"""Percent of the bandwidth-delay product."""
MEASURES: Final = (
    from_zero("Time (s)", shared="none"),
    from_zero("Growth in a round trip (kB)", shared="none"),
)


def chart(results: Results) -> Chart | None:
    """A panel per measure, a line per series; None if no traffic ends before a flow."""
    released = results.valid.where(lambda run: released_s(run) is not None)
    if not released.runs:
        return None
    ticks = [(float(part), f"{part} %") for part in PARTS]
    return Chart(
        [
            Panel(against.curves(released, released, PARTS, partial(_measure, measure)), y=axis)
            for measure, axis in enumerate(MEASURES)
        ],
        Axis("Window, of the bandwidth-delay product", ticks=ticks),
        columns=2,
        height_in=1.6,
        note=seeds_note(results, "mean and range of {count} seeds"),
    )


def released_s(run: Run) -> float | None:
    """When the last datagram of the flows of the second name left; None if one continues."""
    tested, *others = run.named.values() or [[]]
    ends = [end_s(flow) for flows in others for flow in flows if "datagrams" in flow]
    known = [end for end in ends if end is not None]
    return max(known) if tested and known and len(known) == len(ends) else None


def recovery(run: Run, from_s: float) -> Floats:
    """For each of `PARTS`, the time after `from_s` until the window of the first named flow reaches
    that size, in s. Also its largest growth from one round trip to the next before that, in kB.

    Rows: times, growths; NaN if the window does not reach a size.
    """
    flow = next(iter(run.named.values()))[0]
    rate_bps, rtt_ms = run.summary["bottleneck"]["rate_bps"], flow["rtt_ms"]
    assert rate_bps is not None and rtt_ms is not None, "a scenario of this figure has both"
    bdp_bytes = rate_bps / 8 * rtt_ms["min"] / 1e3
    rows = (
        run.table("flows")
        .filter(pl.col("flow") == int(flow["id"]), pl.col("time_ps") >= from_s * PS_PER_S)
        .select("time_ps", "round", "cwnd_bytes")
        .collect()
    )
    windows = rows["cwnd_bytes"].to_numpy()
    found = np.full((2, len(PARTS)), np.nan)
    for column, part in enumerate(PARTS):
        reached = np.flatnonzero(windows >= part / 100 * bdp_bytes)
        if reached.size:
            until = rows.head(int(reached[0]) + 1)
            rounds = until.group_by("round", maintain_order=True).agg(pl.col("cwnd_bytes").last())
            growth = np.diff(rounds["cwnd_bytes"].to_numpy())
            found[0, column] = until["time_ps"][-1] / PS_PER_S - from_s
            found[1, column] = growth.max(initial=0) / 1e3
    return found


def _measure(number: int, run: Run) -> Floats:
    return np.asarray(recovery(run, released_s(run) or 0.0)[number])


FIGURE = Figure(
    name="window_recovery",
    title="Growth into freed bandwidth",
    caption="After the datagrams end: the time until the window of the first named flow reaches "
    "each share of the bandwidth-delay product (the bottleneck's rate times its least "
    "round trip), and the window's greatest growth from one round trip to the next until "
    "then.",
    needs=("flows",),
    wants="a flow with name =, and datagrams of another name that end",
    chart=chart,
)
