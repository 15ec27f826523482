"""Rates over time: goodput and throughput in bins, progress, rise time. All from the tables."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import polars as pl

from narrows.analysis.load import Run
from narrows.analysis.metrics.base import PS_PER_S, Floats, Ints, by_flow
from narrows.analysis.metrics.queue import bottleneck_ledger


def nice_bin_ps(duration_ps: int, bins: int = 150) -> int:
    """A bin of 1, 2 or 5 times a power of ten (ps), so that `duration_ps` has about `bins`.

    At least 100 ms: a rate over less than a few round trips shows the bursts, not the rate.
    """
    wanted = max(duration_ps / bins, 0.1 * PS_PER_S)
    power: int = 10 ** math.floor(math.log10(wanted) + 1e-9)
    return next(step * power for step in (1, 2, 5, 10) if step * power >= wanted * (1 - 1e-9))


def bin_edges_ps(duration_ps: int, bin_ps: int) -> Ints:
    """Edges of the whole bins in [0, `duration_ps`]; a last part of a bin is left out."""
    if bin_ps <= 0:
        raise ValueError(f"bin of {bin_ps} ps: expected more than 0")
    return np.arange(0, duration_ps // bin_ps + 1, dtype=np.int64) * bin_ps


def goodput_bps(run: Run, bin_ps: int) -> pl.DataFrame:
    """Goodput of each flow in each bin: `flow`, `time_ps` (the bin's middle), `bps`.

    Bytes acknowledged in sequence, so no byte counts twice (RFC 5166); of datagrams those that
    arrived. One row per flow and bin, a bin without progress included.
    """
    edges = bin_edges_ps(run.duration_ps, bin_ps)
    frames = []
    for flow, rows in by_flow(progress(run)):
        at = np.searchsorted(rows["time_ps"].to_numpy(), edges, side="right") - 1
        total = np.where(at < 0, 0, rows["acked_bytes"].to_numpy()[np.maximum(at, 0)])
        frames.append(_rate_rows(flow, edges, np.diff(total), bin_ps))
    return pl.concat(frames) if frames else _rate_rows(0, edges[:0], edges[:0], bin_ps)


def progress(run: Run) -> pl.DataFrame:
    """What each flow has brought over so far: `flow`, `time_ps`, `acked_bytes`.

    What the sender knows, at each of its rows; of a flow of datagrams whose sender is told nothing
    what has arrived, at each arrival.
    """
    acked = run.table("flows").select("flow", "time_ps", "acked_bytes").collect()
    told = set(acked["flow"].unique())
    flows = {int(flow["id"]) for flow in run.flows if "datagrams" in flow} - told
    if not flows or not run.has("messages"):
        return acked
    read = run.table("messages").filter(pl.col("flow").is_in(flows))
    so_far = pl.col("length_bytes").cum_sum().over("flow").alias("acked_bytes")
    rows = read.select("flow", pl.col("read_ps").alias("time_ps"), so_far)
    return pl.concat([acked, rows.cast(acked.schema).collect()])


def throughput_bps(run: Run, bin_ps: int) -> pl.DataFrame:
    """What the bottleneck sent in each bin: `flow` 0, `time_ps` (the bin's middle), `bps`.

    All bytes that count against its rate, headers and retransmissions included (RFC 5166);
    a packet counts where its transmission starts.
    """
    edges = bin_edges_ps(run.duration_ps, bin_ps)
    sent = (
        bottleneck_ledger(run)
        .filter(pl.col("event") == "dequeue")
        .select("time_ps", "length_bytes")
        .collect()
    )
    total = np.append(0, np.cumsum(sent["length_bytes"].to_numpy().astype(np.int64)))
    at_edge = total[np.searchsorted(sent["time_ps"].to_numpy(), edges, side="left")]
    return _rate_rows(0, edges, np.diff(at_edge), bin_ps)


def _rate_rows(flow: int, edges: Ints, byte_counts: Ints, bin_ps: int) -> pl.DataFrame:
    middle = edges[: len(byte_counts)] + bin_ps // 2
    return pl.DataFrame(
        {
            "flow": np.full(len(byte_counts), flow, dtype=np.int64),
            "time_ps": middle,
            "bps": byte_counts * (8 * PS_PER_S / bin_ps),
        }
    )


def rise_time_s(
    time_s: Sequence[float] | Floats,
    bps: Sequence[float] | Floats,
    target_bps: float,
    part: float = 0.9,
) -> float | None:
    """First time at which a rate is at least `part` of its target; None when it never is."""
    reached = np.flatnonzero(np.asarray(bps, dtype=np.float64) >= part * target_bps)
    return float(time_s[int(reached[0])]) if reached.size else None


# Fairness and convergence
