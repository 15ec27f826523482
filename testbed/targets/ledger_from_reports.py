"""From the reports of a switch that is not ours to its queue's ledger and figures.

A report says when a packet entered and left its queue, as fine as the switch's clock is. What was
dropped at the queue is in no report: it is counted, and has no row and no instant.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import numpy as np
import polars as pl

from narrows.controller.events import Done
from narrows.schema.tables import TABLES
from narrows.testbed.targets.switch_plan import SwitchPlan

if TYPE_CHECKING:
    from narrows.schema.plan import EventPlan
    from narrows.schema.summary import BottleneckSummary, LatenessSummary, Quantiles


PS_PER_NS = 1000
PS_PER_S = 10**12
POLARS: dict[str, type[pl.DataType]] = {
    "int32": pl.Int32, "int64": pl.Int64, "text": pl.String, "bytes": pl.Binary,
}  # fmt: skip
QUEUE = {name: POLARS[column.type] for name, column in TABLES["queue"].columns.items()}
"""The columns of `queue.parquet`, as the engine writes them."""


def rates(
    first_bps: int, port: int, events: Sequence[EventPlan], done: Sequence[Done]
) -> list[tuple[int, int]]:
    """A port's rates in bits per second, and since when in ps: the first, and those of the events
    that were carried out, the first of `events`.
    """
    rates = [(0, first_bps)]
    for event, one in zip(events, done, strict=False):
        if event.get("port") == port and isinstance(one.in_force, int):
            rates.append((one.done_ps, one.in_force))
    return rates


def capacity_bits(rates: Sequence[tuple[int, int]], end_ps: int) -> float:
    """What these rates let through until `end_ps`."""
    ends = [since for since, _ in rates[1:]] + [end_ps]
    return sum(
        rate_bps * (end - since) / PS_PER_S
        for (since, rate_bps), end in zip(rates, ends, strict=True)
    )


def bottleneck(
    packets: pl.DataFrame, switch_plan: SwitchPlan, bits: float, end_ps: int, out: Path | None
) -> tuple[QueueFigures, pl.DataFrame]:
    """The bottleneck's figures, and its packets as `departures` has them. Where each packet is
    reported its ledger is written to `out`, if given.
    """
    left = departures(packets, switch_plan.port)
    summary = figures(left, switch_plan.counts, switch_plan.every, end_ps, bits)
    if switch_plan.every == 1:
        rows = queue_rows(left, switch_plan.name, switch_plan.port, switch_plan.counts)
        summary["queue_bytes_max"] = rows.select(pl.col("depth_bytes").max()).item() or 0
        if out:
            rows.write_parquet(out / "queue.parquet")
    return summary, left


def departures(packets: pl.DataFrame, port: int) -> pl.DataFrame:
    """A port's packets in the order in which they entered its queue, `enqueue_ns` with them."""
    of_port = packets.filter(pl.col("egress_port") == port)
    entered = pl.col("egress_ns") - pl.col("queue_delay_ns")
    return of_port.with_columns(enqueue_ns=entered).sort("egress_ns", maintain_order=True)


def length(counts: str) -> pl.Expr:
    """What of a packet counts against a rate, in bytes."""
    frame = pl.col("frame_length_bytes")
    match counts:
        case "ip":
            return frame - 14
        case "wire":
            # The check sequence, padding to 64 bytes, preamble and gap (IEEE 802.3).
            return pl.max_horizontal(frame + 4, pl.lit(64)) + 20
    return frame


def queue_rows(left: pl.DataFrame, switch: str, port: int, counts: str) -> pl.DataFrame:
    """`queue.parquet`: an enqueue and a dequeue for each packet, and the depths they make."""
    packet = pl.int_range(pl.len(), dtype=pl.Int64)
    both = left.select(
        packet=packet, flow="flow", queue="queue", bytes=length(counts).cast(pl.Int64),
        enqueue="enqueue_ns", dequeue="egress_ns",
    )  # fmt: skip
    sides = [
        both.with_columns(event=pl.lit(name), at_ns=pl.col(name), step=pl.lit(step))
        for name, step in (("enqueue", 1), ("dequeue", -1))
    ]
    # At one instant packets come before they leave.
    rows = pl.concat(sides).sort("at_ns", -pl.col("step"), "packet")
    waited = pl.when(pl.col("step") < 0).then(pl.col("dequeue") - pl.col("enqueue")).otherwise(0)
    made = rows.with_columns(
        time_ps=pl.col("at_ns") * PS_PER_NS,
        switch=pl.lit(switch), port=pl.lit(port), reason=pl.lit(""),
        length_bytes="bytes", depth_packets=pl.col("step").cum_sum(),
        depth_bytes=(pl.col("step") * pl.col("bytes")).cum_sum(),
        sojourn_ps=waited * PS_PER_NS,
    )  # fmt: skip
    return made.select(*QUEUE).cast(pl.Schema(QUEUE))


class QueueFigures(TypedDict):
    """A port's queue in the summary, but for its name, its rate and its counts."""

    utilization: float | None
    queue_packets_mean: float | None
    queue_packets_max: int | None
    queue_bytes_mean: float | None
    queue_bytes_max: int | None
    queue_delay_ms: Quantiles | None


def figures(
    left: pl.DataFrame, counts: str, every: int, end_ps: int, capacity_bits: float
) -> QueueFigures:
    """The bottleneck's figures in the summary, but for its name, its rate and its counts.

    Means over time are Little's: what the packets waited together, over the time; with one packet
    in `every` reported so much more of them. The greatest depth is of those reported.
    """
    end_ns = max(end_ps, 1) / PS_PER_NS
    waited = left["queue_delay_ns"].to_numpy().astype(float)
    sizes = left.select(length(counts)).to_series().to_numpy().astype(float)
    delay_ms = quantiles(waited / 1e6)
    delays: Quantiles | None = None
    if delay_ms:
        p95 = float(np.percentile(waited, 95, method="inverted_cdf")) / 1e6
        delays = {**delay_ms, "min": float(waited.min()) / 1e6, "p95": p95}
    depth = pl.max_horizontal("depth_packets", pl.col("enqueue_depth_packets") + 1).max()
    return {
        "utilization": 8 * every * float(sizes.sum()) / capacity_bits,
        "queue_packets_mean": every * waited.sum() / end_ns,
        "queue_packets_max": left.select(depth).item() or 0,
        "queue_bytes_mean": every * float(waited @ sizes) / end_ns,
        "queue_bytes_max": None,
        "queue_delay_ms": delays,
    }


def bottleneck_summary(
    switch_plan: SwitchPlan,
    rate_bps: int,
    figures: QueueFigures,
    *,
    arrived: int,
    dequeued: int,
    queued: int,
    dropped: int,
) -> BottleneckSummary:
    """The bottleneck in the summary: its last rate, its figures, and its packets by their fate."""
    return {
        "switch": switch_plan.name,
        "port": switch_plan.port,
        "rate_bps": rate_bps,
        **figures,
        "arrived": arrived,
        "enqueued": dequeued + queued,
        "dequeued": dequeued,
        "queued": queued,
        "dropped": dropped,
        "drops": {"queue_full": dropped} if dropped else {},
    }


NO_FIGURES: QueueFigures = {
    "utilization": None,
    "queue_packets_mean": None,
    "queue_packets_max": None,
    "queue_bytes_mean": None,
    "queue_bytes_max": None,
    "queue_delay_ms": None,
}
"""Of a bottleneck without reports."""


def quantiles(
    values: Sequence[float] | np.ndarray[tuple[int], np.dtype[np.float64]],
) -> LatenessSummary | None:
    """The mean and what an instrument is judged by; None of nothing."""
    if not len(values):
        return None
    p50, p99 = np.percentile(values, (50, 99), method="inverted_cdf")
    return {
        "mean": float(np.mean(values)),
        "p50": float(p50),
        "p99": float(p99),
        "max": float(np.max(values)),
    }
