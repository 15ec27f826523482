"""The bottleneck's queue by its ledger: depth, delay and loss."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from narrows.analysis.load import Run
from narrows.analysis.metrics.base import Floats, Ints
from narrows.analysis.metrics.ledger import Arrivals, flow_parts, ledger_parts, ledger_rows
from narrows.schema.units import PS_PER_MS

Each = Callable[[Ints, Floats], None]

_DEPTH_COLUMNS: Final = {"time_ps": pl.Int64, "packets": pl.Int64, "bytes": pl.Int64}
_ROUND_COLUMNS: Final = {
    "flow": pl.Int64,
    "round": pl.Int64,
    "start_ps": pl.Int64,
    "end_ps": pl.Int64,
    "packets": pl.Int64,
    "delay_ms": pl.Float64,
}


def depth(run: Run, queue: int | None = None) -> pl.DataFrame:
    """Depth of the bottleneck after each of its events: `time_ps`, `packets`, `bytes`.

    All queues of the port together, or the one with this number. The packet in transmission has
    left its queue.
    """
    parts = list(depth_parts(run, queue))
    return pl.concat(parts) if parts else pl.DataFrame(schema=_DEPTH_COLUMNS)


def depth_parts(run: Run, queue: int | None = None) -> Iterator[pl.DataFrame]:
    """`depth` in parts, in the order of time."""
    packets, size_bytes = 0, 0
    columns = ["event", "length_bytes"] if queue is None else ["event", "length_bytes", "queue"]
    for part in ledger_parts(run, *columns):
        counted = part["event"] != "mark"
        if queue is not None:
            counted &= part["queue"] == queue
        steps = part if counted.all() else part.filter(counted)
        if not len(steps):
            continue
        came, left = ((steps["event"] == event).cast(pl.Int8) for event in ("enqueue", "dequeue"))
        sign = (came - left).cast(pl.Int64)
        found = pl.DataFrame(
            {
                "time_ps": steps["time_ps"],
                "packets": sign.cum_sum() + packets,
                "bytes": (sign * steps["length_bytes"]).cum_sum() + size_bytes,
            }
        )
        _, packets, size_bytes = found.row(-1)
        yield found


def queue_delays_ms(
    run: Run, flows: Collection[int] | None = None, each: Each | None = None
) -> Floats:
    """Queueing delay of every packet that left the bottleneck, in order of departure, in ms.

    It ends at the start of transmission, so it excludes the packet's own transmission time. With
    `flows`, of their packets only. `each` gets the times in ps and the delays of each part of the
    run. A new array.
    """
    columns, wanted = ["event", "sojourn_ps"], pl.col("event") == "dequeue"
    if flows is not None:
        columns.append("flow")
        wanted &= pl.col("flow").is_in(flows)
    # The system gives memory where it is written, so not for other events.
    delays_ms = np.empty(ledger_rows(run))
    count = 0
    for part in ledger_parts(run, *columns):
        left = part.filter(wanted)
        found = left["sojourn_ps"].to_numpy() / PS_PER_MS
        delays_ms[count : count + len(found)] = found
        count += len(found)
        if each is not None:
            each(left["time_ps"].to_numpy(), found)
    return delays_ms[:count]


def loss_ratio(run: Run) -> float:
    """Packets dropped at the bottleneck over packets that arrived there (RFC 5166)."""
    dropped, arrived, arrivals = 0, 0, Arrivals()
    for part in ledger_parts(run, "event", "packet"):
        dropped += int((part["event"] == "drop").sum())
        arrived += int(arrivals.among(part).sum())
    return dropped / arrived if arrived else 0.0


def time_weighted_mean(
    time_ps: npt.ArrayLike, value: npt.ArrayLike, start_ps: int, end_ps: int
) -> float:
    """Mean over [start, end] of a step function that is `value[i]` from `time_ps[i]` on.

    It is zero before the first time, like an empty queue. At equal times the last value counts.
    Times must not decrease. Unit: that of `value`. Raises `ValueError` for an empty span.
    """
    mean = MeanOverTime(start_ps, end_ps)
    mean.add(time_ps, value)
    return mean.value()


class MeanOverTime:
    """`time_weighted_mean` of a step function that comes in parts, in the order of time."""

    def __init__(self, start_ps: int, end_ps: int) -> None:
        if end_ps <= start_ps:
            raise ValueError(f"mean from {start_ps} to {end_ps} ps: expected a span of time")
        self.start_ps, self.end_ps = start_ps, end_ps
        self.areas = list[float]()
        self.last_ps, self.last = start_ps, 0.0

    def add(self, time_ps: npt.ArrayLike, value: npt.ArrayLike) -> None:
        """Adds a part."""
        times = np.clip(np.asarray(time_ps, dtype=np.int64), self.start_ps, self.end_ps)
        values = np.asarray(value, dtype=np.float64)
        if not times.size:
            return
        self.areas.append(self.last * float(times[0] - self.last_ps))
        self.areas.append(float(np.sum(values[:-1] * np.diff(times))))
        self.last_ps, self.last = int(times[-1]), float(values[-1])

    def value(self) -> float:
        """The mean up to the end of the span."""
        rest = self.last * float(self.end_ps - self.last_ps)
        return math.fsum([*self.areas, rest]) / (self.end_ps - self.start_ps)


def queue_delay_by_round(run: Run) -> pl.DataFrame:
    """Mean queueing delay at the bottleneck in each round trip of each flow.

    Columns: `flow`, `round` (from 0 as the sender counts them), `start_ps`, `end_ps`, `packets`,
    `delay_ms` (null where no packet left the bottleneck). A round spans from its first row in
    `flows` to the next round's first row, the last one to the flow's last row, and includes every
    packet of any flow with the start of its transmission in the round. So it is the delay that the
    queue imposed during that round trip (Jasem et al. 2010, Figs 7-10 (a)).
    """
    rounds = _rounds(run)
    edges = np.unique(np.concatenate([np.empty(0, np.int64), *(of.edges_ps for of in rounds)]))
    packets_by, delay_by_ps = _departed_by(run, edges)
    frames = []
    for of in rounds:
        at = np.searchsorted(edges, of.edges_ps)
        packets, delay_ps = np.diff(packets_by[at]), np.diff(delay_by_ps[at])
        delay_ms = pl.Series(delay_ps / np.maximum(packets, 1) / PS_PER_MS)
        frames.append(
            pl.DataFrame(
                {
                    "flow": np.full(len(packets), of.flow, dtype=np.int64),
                    "round": of.numbers,
                    "start_ps": of.edges_ps[:-1],
                    "end_ps": of.edges_ps[1:],
                    "packets": packets,
                    "delay_ms": delay_ms.set(pl.Series(packets == 0), None),
                }
            )
        )
    return pl.concat(frames) if frames else pl.DataFrame(schema=_ROUND_COLUMNS)


@dataclass(frozen=True)
class _Rounds:
    """The round trips of a flow."""

    flow: int
    numbers: pl.Series
    edges_ps: Ints
    """The start of each, and the end of the last."""


def _rounds(run: Run) -> list[_Rounds]:
    """Those of each flow in `flows`, in the order of the flows' ids."""
    starts, last_ps = dict[int, list[pl.DataFrame]](), dict[int, int]()
    for flow, rows in flow_parts(run, "time_ps", "round"):
        starts.setdefault(flow, []).append(_first_rows(rows))
        last_ps[flow] = int(rows["time_ps"][-1])
    found = {flow: _first_rows(pl.concat(parts)) for flow, parts in sorted(starts.items())}
    return [
        _Rounds(flow, rows["round"], np.append(rows["time_ps"].to_numpy(), last_ps[flow] + 1))
        for flow, rows in found.items()
    ]


def _first_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """The first time of each round, in the order of the rows: `round`, `time_ps`."""
    return rows.group_by("round", maintain_order=True).agg(pl.col("time_ps").first())


def _departed_by(run: Run, edges_ps: Ints) -> tuple[Ints, Ints]:
    """Packets that left the bottleneck's queue before each of these times, which increase, and the
    sum of their delays in ps.
    """
    packets = np.zeros(len(edges_ps), dtype=np.int64)
    delay_ps = np.zeros(len(edges_ps), dtype=np.int64)
    for part in ledger_parts(run, "event", "sojourn_ps"):
        left = part.filter(pl.col("event") == "dequeue")
        times = left["time_ps"].to_numpy()
        total_ps = np.append(0, np.cumsum(left["sojourn_ps"].to_numpy().astype(np.int64)))
        first = int(np.searchsorted(edges_ps, part["time_ps"][0], side="right"))
        before = np.searchsorted(times, edges_ps[first:])
        packets[first:] += before
        delay_ps[first:] += total_ps[before]
    return packets, delay_ps


def mean_delay_by_round(run: Run) -> pl.DataFrame:
    """`queue_delay_by_round` averaged over the flows that have the round: `round`, `delay_ms`."""
    return (
        queue_delay_by_round(run)
        .drop_nulls("delay_ms")
        .group_by("round", maintain_order=True)
        .agg(pl.col("delay_ms").mean())
        .sort("round")
    )
