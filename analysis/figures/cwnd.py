"""Congestion window and slow-start threshold of each flow over time, a panel per run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import polars as pl

from narrows.analysis import metrics
from narrows.analysis.chart.model import Chart, Look, Panel, Trace, from_zero, time_axis
from narrows.analysis.chart.thin import thin
from narrows.analysis.figures.base import Figure, Results, shown_runs
from narrows.analysis.figures.flows import Flows
from narrows.analysis.load import Run


def chart(results: Results) -> Chart:
    """Steps per flow, its threshold thin in the same colour."""
    shown = shown_runs(results)
    flows = Flows(shown.runs)
    unit, unit_bytes, meaning = window_unit(shown.runs)
    columns = shown.flow_columns
    return Chart(
        [Panel(_marks(run, flows, unit_bytes, columns), title) for run, title in shown],
        time_axis(shared=shown.shared_x),
        from_zero(f"Congestion window ({unit})", shared="row"),
        columns=shown.columns,
        height_in=1.2,
        note=", ".join(filter(None, [shown.note, meaning])),
        keys=[(_THRESHOLD, Look("ink", width=0.5, opacity=0.5))],
    )


_THRESHOLD: Final = "ssthresh"


def window_unit(runs: Sequence[Run]) -> tuple[str, int, str]:
    """Packets if all segments of these runs are equal, otherwise kB.

    Returns its name, its bytes and a note; the note is empty for kB.
    """
    sizes = {run.segment_bytes for run in runs}
    size = sizes.pop() if len(sizes) == 1 else None
    return ("packets", size, f"1 packet: {size:,} B of payload") if size else ("kB", 1000, "")


def _marks(run: Run, flows: Flows, unit_bytes: int, columns: int) -> list[Trace]:
    rows = run.table("flows").select("flow", "time_ps", "cwnd_bytes", "ssthresh_bytes")
    of_flow = dict(metrics.by_flow(rows.collect()))
    windows, thresholds = [], []
    for flow in run.flows:
        own, look = of_flow.get(flow["id"]), flows.look(flow, 0.7)
        if own is not None:
            windows += _steps(own, "cwnd_bytes", unit_bytes, look, flows.name(flow), columns)
            thin_look = Look(look.colour, dash=0, width=0.5, opacity=0.5)
            thresholds += _steps(own, "ssthresh_bytes", unit_bytes, thin_look, _THRESHOLD, columns)
    return windows if flows.many else windows + thresholds


def _steps(
    own: pl.DataFrame, column: str, unit_bytes: int, look: Look, name: str, columns: int
) -> list[Trace]:
    """One column of one flow's rows in this unit, to the flow's last row; none without a value."""
    known = own.filter(own[column].is_not_null())
    if not len(known):
        return []
    windows = known[column].cast(float).to_numpy() / unit_bytes
    x, y = thin(known["time_ps"].to_numpy(), windows, int(own["time_ps"][-1]), columns)
    return [Trace(x, y, look, name, step=True)]


FIGURE = Figure(
    name="cwnd",
    title="Congestion window over time",
    caption="Congestion window (lines) and slow-start threshold (thin, from the first loss on) as "
    "the senders recorded them: in packets where all segments are equal, otherwise in kB. 1 kB = "
    "1000 bytes.",
    needs=("flows",),
    chart=chart,
)
