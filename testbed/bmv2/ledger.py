"""From the reports of a run to its queue's ledger and figures, and to how well bmv2 kept its rate.

A report says when a packet entered and left its queue, in whole microseconds. What was dropped at
the queue is in no report: it is counted, and has no row and no instant.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from testbed.bmv2.clock import US_NS, Clock, quantiles
from testbed.bmv2.control import Shaped

Json = dict[str, Any]
Floats = np.ndarray[tuple[int], np.dtype[np.float64]]

PS_PER_NS = 1000
WINDOW_NS = 10**9
"""How long a queue must be busy without a break for its rate to be measured."""
QUEUE: dict[str, type[pl.DataType]] = {
    "time_ps": pl.Int64, "switch": pl.String, "port": pl.Int32, "queue": pl.Int32,
    "event": pl.String, "reason": pl.String, "packet": pl.Int64, "flow": pl.Int32,
    "length_bytes": pl.Int32, "depth_packets": pl.Int32, "depth_bytes": pl.Int64,
    "sojourn_ps": pl.Int64,
}  # fmt: skip
"""The columns of `queue.parquet`, as the engine writes them."""


def to_run_time(out: Path, clock: Clock, begin_ns: int) -> pl.DataFrame:
    """Puts the stamps of `packets.parquet` on the run's clock, in nanoseconds as on every target;
    returns the table.
    """
    path = out / "packets.parquet"
    stamps = [
        pl.col(name) * US_NS + clock.offset_ns(begin_ns) for name in ("ingress_ns", "egress_ns")
    ]
    spans = [pl.col(name) * US_NS for name in ("queue_delay_ns", "hop_latency_ns")]
    packets = pl.read_parquet(path).with_columns(*stamps, *spans)
    packets.write_parquet(path)
    return packets


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
    # Within a microsecond packets come before they leave.
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


def figures(left: pl.DataFrame, counts: str, every: int, end_ps: int, capacity_bits: float) -> Json:
    """The bottleneck's figures in the summary, but for its name, its rate and its counts.

    Means over time are Little's: what the packets waited together, over the time; with one packet
    in `every` reported so much more of them. The greatest depth is of those reported.
    """
    end_ns = max(end_ps, 1) / PS_PER_NS
    waited = left["queue_delay_ns"].to_numpy().astype(float)
    sizes = left.select(length(counts)).to_series().to_numpy().astype(float)
    found = quantiles(waited / 1e6)
    delays = None
    if found:
        p95 = float(np.percentile(waited, 95, method="inverted_cdf")) / 1e6
        delays = {**found, "min": float(waited.min()) / 1e6, "p95": p95}
    depth = pl.max_horizontal("depth_packets", pl.col("enqueue_depth_packets") + 1).max()
    return {
        "utilization": 8 * every * float(sizes.sum()) / capacity_bits,
        "queue_packets_mean": every * waited.sum() / end_ns,
        "queue_packets_max": left.select(depth).item() or 0,
        "queue_bytes_mean": every * float(waited @ sizes) / end_ns,
        "queue_bytes_max": None,
        "queue_delay_ms": delays,
    }


@dataclass(frozen=True)
class Kept:
    """How well a queue kept its rate in packets per second, by every packet's stamps."""

    late_us: Floats
    """How late each left, after the instant that bmv2's rule gives it: when it came, and not before
    one interval after the instant of the one before."""
    rates: Floats
    """Over each second in which it was never idle: packets per second, as a share of the rate."""
    bunched: float
    """The share of packets that left within half an interval after the one before."""

    def as_json(self) -> Json:
        """As the instrument has it."""
        windows = len(self.rates)
        errors = self.rates - 1
        worst = float(errors[np.argmax(np.abs(errors))]) if windows else 0.0
        rate = (
            {"windows": windows, "mean": float(errors.mean()), "worst": worst} if windows else None
        )
        return {
            "departure_error_us": quantiles(self.late_us),
            "rate_error": rate,
            "bunched": self.bunched,
        }


def kept(left: pl.DataFrame, shaped: Shaped) -> Kept:
    """Compares a port's departures, all of them, with the rate that it was given."""
    interval_ns = 1e9 / shaped.packets_per_s
    came, went = (left[name].to_numpy().astype(float) for name in ("enqueue_ns", "egress_ns"))
    # The ideal instant, max(came, the one before + interval), as a running maximum.
    steps = interval_ns * np.arange(len(left))
    spell = np.maximum.accumulate(came - steps)
    ideal = spell + steps
    begins = np.flatnonzero(spell == came - steps)
    rates = []
    for first, after in zip(begins, [*begins[1:], len(left)], strict=True):
        # A busy spell: each ideal instant one interval after the one before.
        busy = went[first:after]
        edges = np.searchsorted(busy, np.arange(busy[0], busy[-1], WINDOW_NS))
        for begin, end in pairwise(edges):
            took_ns = busy[end] - busy[begin]
            rates.append((end - begin) * interval_ns / took_ns)
    gaps = np.diff(went)
    return Kept(
        late_us=(went - ideal) / 1000,
        rates=np.array(rates),
        bunched=float(np.mean(gaps < interval_ns / 2)) if len(gaps) else 0.0,
    )
