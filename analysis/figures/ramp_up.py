"""Time that a new flow takes to transfer given amounts.

The metric of the common TCP evaluation suite (draft-irtf-iccrg-tcpeval-01, section 5.2.3): the time
until the (1500 x 10^n)-th byte, n = 1, 2, ..., which needs no definition of fairness. Here the
byte's acknowledgement counts, not its arrival.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

from narrows.analysis.chart.model import Axis, Chart, Panel
from narrows.analysis.figures import against
from narrows.analysis.figures.base import Figure, Results, point_label, seeds_note
from narrows.analysis.load import Run
from narrows.analysis.metrics import PS_PER_S, Floats

BYTES: Final = tuple(1500 * 10**n for n in range(1, 8))
"""The first seven amounts; the last is 15 GB."""
NAMES: Final = ("15 kB", "150 kB", "1.5 MB", "15 MB", "150 MB", "1.5 GB", "15 GB")


def chart(results: Results) -> Chart | None:
    """A panel per point, a line per series; None if no flow is named."""
    named = results.valid.where(lambda run: bool(run.named))
    if not named.runs:
        return None
    facets = named.facets(named.series_key)
    return Chart(
        [
            Panel(against.curves(named, among, BYTES, times_s), point_label(point))
            for point, among in facets
        ],
        Axis("Acknowledged", log=True, ticks=list(zip(BYTES, NAMES, strict=True))),
        Axis("Time since its start (s)", log=True),
        columns=min(len(facets), 3),
        height_in=1.6,
        note=seeds_note(results, "mean and range of {count} seeds"),
    )


def times_s(run: Run) -> Floats:
    """Time from the start of the flow named last until each of `BYTES` was acknowledged, in s.

    NaN if that did not happen.
    """
    flow = [flow for flows in run.named.values() for flow in flows][-1]
    rows = (
        run.table("flows")
        .filter(pl.col("flow") == int(flow["id"]))
        .select("time_ps", "acked_bytes")
        .collect()
    )
    at = np.searchsorted(rows["acked_bytes"].to_numpy(), BYTES)
    times = np.append(rows["time_ps"].to_numpy() / PS_PER_S, np.nan)
    return np.asarray(times[at] - float(flow["start_s"]), dtype=np.float64)


FIGURE = Figure(
    name="ramp_up",
    title="Ramp-up of a new flow",
    caption="Time from the start of the last named flow until each number of its bytes was "
    "acknowledged. Numbers that some seed did not reach are left out.",
    needs=("flows",),
    wants="a flow with name =",
    chart=chart,
)
