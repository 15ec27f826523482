"""The senders' records in bins of equal length, as a tool that polls sockets would see them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from narrows.analysis import metrics
from narrows.analysis.load import Run


@dataclass(frozen=True)
class Samples:
    """One flow's numbers, one for each bin between `edges_ps`."""

    flow: int
    acked_bytes: npt.NDArray[np.int64]
    """Bytes acknowledged in the bin; for datagrams, bytes received."""
    retransmits: npt.NDArray[np.int64]
    """Segments retransmitted in the bin."""
    cwnd_bytes: npt.NDArray[np.int64]
    """At the bin's end; 0 before the flow's first row."""
    srtt_ps: npt.NDArray[np.int64]
    """Smoothed round trip at the bin's end; 0 before the first."""


def samples(run: Run, edges_ps: npt.NDArray[np.int64]) -> list[Samples]:
    """Every flow of the summary, in the order of their ids. Raises `LoadError`."""
    columns = ["flow", "time_ps", "retransmits", "cwnd_bytes", "srtt_ps"]
    of_flow = dict(metrics.by_flow(run.table("flows").select(columns).collect()))
    progress = dict(metrics.by_flow(metrics.progress(run)))
    found = []
    for number in (int(flow["id"]) for flow in run.flows):
        values = {name: _at(edges_ps, of_flow.get(number), name) for name in columns[2:]}
        values["acked_bytes"] = _at(edges_ps, progress.get(number), "acked_bytes")
        found.append(
            Samples(
                number,
                np.diff(values["acked_bytes"]),
                np.diff(values["retransmits"]),
                values["cwnd_bytes"][1:],
                values["srtt_ps"][1:],
            )
        )
    return found


def _at(
    edges_ps: npt.NDArray[np.int64], rows: pl.DataFrame | None, column: str
) -> npt.NDArray[np.int64]:
    """A column's value at each edge, 0 before the first row."""
    if rows is None:
        return np.zeros(len(edges_ps), dtype=np.int64)
    index = np.searchsorted(rows["time_ps"].to_numpy(), edges_ps, side="right") - 1
    return np.where(index < 0, 0, rows[column].fill_null(0).to_numpy()[np.maximum(index, 0)])
