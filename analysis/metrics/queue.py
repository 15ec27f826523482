"""The bottleneck's queue by its ledger: depth, delay and loss."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from narrows.analysis.load import Run
from narrows.analysis.metrics.base import Floats, by_flow
from narrows.schema.units import PS_PER_MS

_ROUND_COLUMNS: Final = {
    "flow": pl.Int64,
    "round": pl.Int64,
    "start_ps": pl.Int64,
    "end_ps": pl.Int64,
    "packets": pl.Int64,
    "delay_ms": pl.Float64,
}


def bottleneck_ledger(run: Run) -> pl.LazyFrame:
    """The rows of `queue` for the port that the summary calls the bottleneck."""
    bottleneck = run.summary["bottleneck"]
    return run.table("queue").filter(
        (pl.col("switch") == bottleneck["switch"]) & (pl.col("port") == bottleneck["port"])
    )


def depth(run: Run, queue: int | None = None) -> pl.DataFrame:
    """Depth of the bottleneck after each of its events: `time_ps`, `packets`, `bytes`.

    All queues of the port together, or the one with this number. The packet in transmission has
    left its queue.
    """
    ledger = bottleneck_ledger(run).filter(pl.col("event") != "mark")
    if queue is not None:
        ledger = ledger.filter(pl.col("queue") == queue)
    sign = (
        pl.when(pl.col("event") == "enqueue")
        .then(1)
        .when(pl.col("event") == "dequeue")
        .then(-1)
        .otherwise(0)
    )
    return (
        ledger.select(
            "time_ps",
            sign.cast(pl.Int64).cum_sum().alias("packets"),
            (sign.cast(pl.Int64) * pl.col("length_bytes")).cum_sum().alias("bytes"),
        )
    ).collect()


def queue_delays_ms(run: Run) -> Floats:
    """Queueing delay of every packet that left the bottleneck, in order of departure, in ms.

    It ends at the start of transmission, so it excludes the packet's own transmission time.
    """
    sojourns = (
        bottleneck_ledger(run).filter(pl.col("event") == "dequeue").select("sojourn_ps").collect()
    )
    return sojourns["sojourn_ps"].to_numpy() / PS_PER_MS


def loss_ratio(run: Run) -> float:
    """Packets dropped at the bottleneck over packets that arrived there (RFC 5166)."""
    counts = (
        bottleneck_ledger(run)
        .select(
            dropped=(pl.col("event") == "drop").sum(),
            arrived=pl.col("packet").n_unique(),
        )
        .collect()
    )
    dropped, arrived = counts.row(0)
    return float(dropped / arrived) if arrived else 0.0


def time_weighted_mean(
    time_ps: npt.ArrayLike, value: npt.ArrayLike, start_ps: int, end_ps: int
) -> float:
    """Mean over [start, end] of a step function that is `value[i]` from `time_ps[i]` on.

    It is zero before the first time, like an empty queue. At equal times the last value counts.
    Times must not decrease. Unit: that of `value`. Raises `ValueError` for an empty span.
    """
    if end_ps <= start_ps:
        raise ValueError(f"mean from {start_ps} to {end_ps} ps: expected a span of time")
    times = np.asarray(time_ps, dtype=np.int64)
    values = np.asarray(value, dtype=np.float64)
    edges = np.clip(np.append(times, end_ps), start_ps, end_ps)
    return float(np.sum(values * np.diff(edges)) / (end_ps - start_ps))


def queue_delay_by_round(run: Run) -> pl.DataFrame:
    """Mean queueing delay at the bottleneck in each round trip of each flow.

    Columns: `flow`, `round` (from 0 as the sender counts them), `start_ps`, `end_ps`, `packets`,
    `delay_ms` (null where no packet left the bottleneck). A round spans from its first row in
    `flows` to the next round's first row, the last one to the flow's last row, and includes every
    packet of any flow with the start of its transmission in the round. So it is the delay that the
    queue imposed during that round trip (Jasem et al. 2010, Figs 7-10 (a)).
    """
    dequeued = (
        bottleneck_ledger(run)
        .filter(pl.col("event") == "dequeue")
        .select("time_ps", "sojourn_ps")
        .collect()
    )
    times = dequeued["time_ps"].to_numpy()
    total_ps = np.append(0, np.cumsum(dequeued["sojourn_ps"].to_numpy().astype(np.int64)))
    frames = []
    rows_of_all = run.table("flows").select("flow", "time_ps", "round").collect()
    for flow, rows in by_flow(rows_of_all):
        rounds = rows.group_by("round", maintain_order=True).agg(pl.col("time_ps").first())
        starts = rounds["time_ps"].to_numpy()
        ends = np.append(starts[1:], int(rows["time_ps"][-1]) + 1)
        first, last = np.searchsorted(times, starts), np.searchsorted(times, ends)
        packets = last - first
        delay_ps = (total_ps[last] - total_ps[first]) / np.maximum(packets, 1)
        frames.append(
            pl.DataFrame(
                {
                    "flow": np.full(len(starts), flow, dtype=np.int64),
                    "round": rounds["round"],
                    "start_ps": starts,
                    "end_ps": ends,
                    "packets": packets,
                    "delay_ms": pl.Series(delay_ps / PS_PER_MS).set(pl.Series(packets == 0), None),
                }
            )
        )
    return pl.concat(frames) if frames else pl.DataFrame(schema=_ROUND_COLUMNS)


def mean_delay_by_round(run: Run) -> pl.DataFrame:
    """`queue_delay_by_round` averaged over the flows that have the round: `round`, `delay_ms`."""
    return (
        queue_delay_by_round(run)
        .drop_nulls("delay_ms")
        .group_by("round")
        .agg(pl.col("delay_ms").mean())
        .sort("round")
    )
