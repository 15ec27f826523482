"""Computes a queue's ledger and figures from the reports of a foreign switch.

A report has the times of a packet's enqueue and dequeue, at the resolution of the switch's clock.
Dropped packets have no report: they are counted, without a row or a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import numpy as np
import polars as pl

from narrows.controller.events import Done
from narrows.schema.tables import TABLES
from narrows.schema.units import PS_PER_NS, PS_PER_S
from narrows.testbed.tables import write_table
from narrows.testbed.targets.switch_plan import SwitchPlan

if TYPE_CHECKING:
    from narrows.schema.plan import EventPlan
    from narrows.schema.summary import BottleneckSummary, LatenessSummary, Quantiles


POLARS: dict[str, type[pl.DataType]] = {
    "int32": pl.Int32, "int64": pl.Int64, "text": pl.String, "bytes": pl.Binary,
}  # fmt: skip
QUEUE = {name: POLARS[column.type] for name, column in TABLES["queue"].columns.items()}
"""The columns of `queue.parquet`, as the engine writes them."""


def rates(
    first_bps: int, port: int, events: Sequence[EventPlan], done: Sequence[Done]
) -> list[tuple[int, int]]:
    """A port's rates in bits per second, each with its start in ps: the initial rate, and the rates
    of completed events (a prefix of `events`).
    """
    rates = [(0, first_bps)]
    for event, one in zip(events, done, strict=False):
        if event.get("port") == port and isinstance(one.in_force, int):
            rates.append((one.done_ps, one.in_force))
    return rates


def capacity_bits(rates: Sequence[tuple[int, int]], end_ps: int) -> float:
    """The capacity of these rates until `end_ps`, in bytes."""
    ends = [since for since, _ in rates[1:]] + [end_ps]
    return sum(
        rate_bps * (end - since) / PS_PER_S
        for (since, rate_bps), end in zip(rates, ends, strict=True)
    )


def bottleneck(
    packets: pl.DataFrame, switch_plan: SwitchPlan, bits: float, end_ps: int, out: Path | None
) -> tuple[QueueFigures, pl.DataFrame]:
    """The bottleneck's figures, and its packets as in `departures`. Writes the ledger to `out`, if
    given and if every packet is reported.
    """
    left = departures(packets, switch_plan.port)
    summary = figures(left, switch_plan.counts, switch_plan.every, end_ps, bits)
    if switch_plan.every == 1:
        served = in_order_of_service(left, switch_plan.queues)
        rows = queue_rows(served, switch_plan.name, switch_plan.port, switch_plan.counts)
        summary["queue_bytes_max"] = rows.select(pl.col("depth_bytes").max()).item() or 0
        if out:
            write_table(rows, out / "queue.parquet")
    return summary, left


def departures(packets: pl.DataFrame, port: int) -> pl.DataFrame:
    """A port's packets in order of `enqueue_ns`."""
    of_port = packets.filter(pl.col("egress_port") == port)
    entered = pl.col("egress_ns") - pl.col("queue_delay_ns")
    return of_port.with_columns(enqueue_ns=entered).sort("egress_ns", maintain_order=True)


def in_order_of_service(left: pl.DataFrame, queues: int) -> pl.DataFrame:
    """Packets with the ledger's numbers of their queues, where 0 is served first. A report has the
    program's priority, of which the highest is served first.
    """
    if queues == 1:
        return left
    return left.with_columns(queue=queues - 1 - pl.col("queue"))


def length(counts: str) -> pl.Expr:
    """The bytes of a packet that count against a rate."""
    frame = pl.col("frame_length_bytes")
    match counts:
        case "ip":
            return frame - 14
        case "wire":
            # Frame check sequence, padding to 64 bytes, preamble and gap (IEEE 802.3).
            return pl.max_horizontal(frame + 4, pl.lit(64)) + 20
    return frame


def queue_rows(left: pl.DataFrame, switch: str, port: int, counts: str) -> pl.DataFrame:
    """`queue.parquet`: an enqueue and a dequeue of each packet, and the resulting depths."""
    packet = pl.int_range(pl.len(), dtype=pl.Int64)
    both = left.select(
        packet=packet, flow="flow", queue="queue", bytes=length(counts).cast(pl.Int64),
        enqueue="enqueue_ns", dequeue="egress_ns",
    )  # fmt: skip
    sides = [
        both.with_columns(event=pl.lit(name), at_ns=pl.col(name), step=pl.lit(step))
        for name, step in (("enqueue", 1), ("dequeue", -1))
    ]
    # At equal times arrivals precede departures.
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
    """A port's queue in the summary, without its name, rate and counters."""

    utilization: float | None
    queue_packets_mean: float | None
    queue_packets_max: int | None
    queue_bytes_mean: float | None
    queue_bytes_max: int | None
    queue_delay_ms: Quantiles | None


def figures(
    left: pl.DataFrame, counts: str, every: int, end_ps: int, capacity_bits: float
) -> QueueFigures:
    """The bottleneck's figures in the summary, without its name, rate and counters.

    Means over time follow Little's law: the total waiting time divided by the duration. They are
    scaled up if only one packet in `every` is reported. The maximum depth is that of reported
    packets.
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
    drops: Mapping[str, int],
    marks: Mapping[str, int] | None = None,
) -> BottleneckSummary:
    """The bottleneck in the summary: its last rate, its figures, and its packets by outcome; drops
    and marks by reason.
    """
    summary: BottleneckSummary = {
        "switch": switch_plan.name,
        "port": switch_plan.port,
        "rate_bps": rate_bps,
        "utilization": figures["utilization"],
        "queue_packets_mean": figures["queue_packets_mean"],
        "queue_packets_max": figures["queue_packets_max"],
        "queue_bytes_mean": figures["queue_bytes_mean"],
        "queue_bytes_max": figures["queue_bytes_max"],
        "queue_delay_ms": figures["queue_delay_ms"],
        "arrived": arrived,
        "enqueued": dequeued + queued,
        "dequeued": dequeued,
        "queued": queued,
        "dropped": sum(drops.values()),
        "drops": {reason: count for reason, count in drops.items() if count},
    }
    if marked := {reason: count for reason, count in (marks or {}).items() if count}:
        summary["marks"] = marked
    return summary


NO_FIGURES: QueueFigures = {
    "utilization": None,
    "queue_packets_mean": None,
    "queue_packets_max": None,
    "queue_bytes_mean": None,
    "queue_bytes_max": None,
    "queue_delay_ms": None,
}
"""The figures of a bottleneck without reports."""


def quantiles(
    values: Sequence[float] | np.ndarray[tuple[int], np.dtype[np.float64]],
) -> LatenessSummary | None:
    """The mean, and the quantiles that judge an instrument; None without values."""
    if not len(values):
        return None
    p50, p99 = np.percentile(values, (50, 99), method="inverted_cdf")
    return {
        "mean": float(np.mean(values)),
        "p50": float(p50),
        "p99": float(p99),
        "max": float(np.max(values)),
    }
