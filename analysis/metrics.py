"""Metrics of a run: rates, fairness, queue, delay, convergence.

Definitions follow RFC 5166 (metrics for the evaluation of congestion control) where it has
one; each function names its source. Time comes in picoseconds as recorded; results carry
their unit last in their name. The tables are described in `load.COLUMNS`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from narrows.analysis.load import Run

PS_PER_S: Final = 1_000_000_000_000
"""Picoseconds in a second."""
PS_PER_MS: Final = 1_000_000_000
"""Picoseconds in a millisecond."""

Floats = npt.NDArray[np.float64]
"""A one-dimensional array of numbers."""
Ints = npt.NDArray[np.int64]
"""A one-dimensional array of whole numbers."""


# The bottleneck's ledger


def bottleneck_ledger(run: Run) -> pl.LazyFrame:
    """The rows of `queue` at the port that the summary calls the bottleneck."""
    bottleneck = run.summary["bottleneck"]
    return run.table("queue").filter(
        (pl.col("switch") == bottleneck["switch"]) & (pl.col("port") == bottleneck["port"])
    )


def depth(run: Run) -> pl.DataFrame:
    """Depth of the bottleneck after each of its events: `time_ps`, `packets`, `bytes`.

    All queues of the port together. The packet in transmission has left its queue.
    """
    ledger = bottleneck_ledger(run)
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
    """Queueing delay of every packet that left the bottleneck, in its order, in ms.

    From enqueue to the start of transmission, so without the packet's own transmission time.
    """
    sojourns = (
        bottleneck_ledger(run).filter(pl.col("event") == "dequeue").select("sojourn_ps").collect()
    )
    return sojourns["sojourn_ps"].to_numpy() / PS_PER_MS


def message_latencies_ms(run: Run) -> Floats:
    """From writing to reading, in ms, of every message read in the run; empty without messages."""
    latency = (pl.col("read_ps") - pl.col("written_ps")) / 1e9
    return run.table("messages").select(latency.alias("ms")).collect()["ms"].to_numpy()


def loss_ratio(run: Run) -> float:
    """Packets dropped at the bottleneck over packets that arrived there (RFC 5166)."""
    counts = (
        bottleneck_ledger(run)
        .select(
            dropped=(pl.col("event") == "drop").sum(),
            arrived=(pl.col("event") != "dequeue").sum(),
        )
        .collect()
    )
    dropped, arrived = counts.row(0)
    return float(dropped / arrived) if arrived else 0.0


def time_weighted_mean(
    time_ps: npt.ArrayLike, value: npt.ArrayLike, start_ps: int, end_ps: int
) -> float:
    """Mean over [start, end] of a step function that is `value[i]` from `time_ps[i]` on.

    Zero before the first time, as a queue is. Of equal times the last value holds.
    Times must not decrease. Unit: that of `value`.
    """
    if end_ps <= start_ps:
        raise ValueError(f"mean from {start_ps} to {end_ps} ps: expected a span of time")
    times = np.asarray(time_ps, dtype=np.int64)
    values = np.asarray(value, dtype=np.float64)
    edges = np.clip(np.append(times, end_ps), start_ps, end_ps)
    return float(np.sum(values * np.diff(edges)) / (end_ps - start_ps))


# Rates over time


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


def variation(values: npt.ArrayLike) -> float:
    """Coefficient of variation: standard deviation over mean, 0 where the mean is 0.

    Of a flow's goodput in 1-s bins it is the smoothness of RFC 5166.
    """
    numbers = np.asarray(values, dtype=np.float64)
    mean = float(np.mean(numbers)) if numbers.size else 0.0
    return float(np.std(numbers) / mean) if mean else 0.0


def rise_time_s(
    time_s: Sequence[float] | Floats,
    bps: Sequence[float] | Floats,
    target_bps: float,
    part: float = 0.9,
) -> float | None:
    """First time at which a rate is at least `part` of its target; None when it never is."""
    reached = np.flatnonzero(np.asarray(bps, dtype=np.float64) >= part * target_bps)
    return float(time_s[int(reached[0])]) if reached.size else None


def alive(run: Run, rates: pl.DataFrame, *, together: bool = False) -> pl.DataFrame:
    """The rows of `goodput_bps` whose bin's middle lies in the flow's life.

    From its start to its last byte's acknowledgement; `together`: in the life of every flow.
    """
    lives = {
        int(flow["id"]): (
            float(flow["start_s"]) * PS_PER_S,
            (end_s(flow) or float(run.summary["duration_s"])) * PS_PER_S,
        )
        for flow in run.flows
    }
    if together and lives:
        starts, ends = zip(*lives.values(), strict=True)
        lives = dict.fromkeys(lives, (max(starts), min(ends)))
    frame = pl.DataFrame(
        {
            "flow": list(lives),
            "from_ps": [start for start, _ in lives.values()],
            "to_ps": [end for _, end in lives.values()],
        },
        schema={"flow": pl.Int64, "from_ps": pl.Float64, "to_ps": pl.Float64},
    )
    return (
        rates.join(frame, on="flow", how="inner", maintain_order="left")
        .filter(pl.col("time_ps").is_between(pl.col("from_ps"), pl.col("to_ps")))
        .select(rates.columns)
    )


# Fairness and convergence


def jain(rates: Iterable[float]) -> float:
    """Jain's fairness index, (sum x)^2 / (n sum x^2): 1/n to 1; 1 where all rates are 0.

    Jain, Chiu, Hawe, "A quantitative measure of fairness", DEC-TR-301, 1984.
    """
    numbers = np.asarray(list(rates), dtype=np.float64)
    if not numbers.size:
        raise ValueError("Jain's index of no rates: expected at least one")
    squares = float(np.sum(numbers**2))
    return float(np.sum(numbers)) ** 2 / (numbers.size * squares) if squares else 1.0


def jain_over_time(goodput: pl.DataFrame) -> pl.DataFrame:
    """Jain's index in each bin of `goodput_bps`: `time_ps`, `flows` (how many), `jain`."""
    return (
        goodput.group_by("time_ps", maintain_order=True)
        .agg(total=pl.col("bps").sum(), squares=(pl.col("bps") ** 2).sum(), flows=pl.len())
        .sort("time_ps")
        .select(
            "time_ps",
            pl.col("flows").cast(pl.Int64),
            jain=pl.when(pl.col("squares") > 0)
            .then(pl.col("total") ** 2 / (pl.col("flows") * pl.col("squares")))
            .otherwise(1.0),
        )
    )


def convergence_time_s(goodput: pl.DataFrame, delta: float = 0.7) -> float | None:
    """When shares first become, and from there remain, delta-fair; None when they do not.

    Two flows are delta-fair when their shares lie between (1 - delta)/2 and (1 + delta)/2
    (Bansal et al. 2001, RFC 5166); for n flows we take (1 -+ delta)/n. In s, the
    middle of the first such bin of `goodput_bps`.
    """
    shares = goodput.pivot(on="flow", index="time_ps", values="bps").sort("time_ps").fill_null(0.0)
    rates = shares.drop("time_ps").to_numpy()
    totals = rates.sum(axis=1, keepdims=True)
    relative = np.divide(rates, totals, out=np.zeros_like(rates), where=totals > 0)
    flows = rates.shape[1]
    fair = np.all(np.abs(relative - 1 / flows) <= delta / flows + 1e-12, axis=1)
    unfair = np.flatnonzero(~fair)
    first = int(unfair[-1]) + 1 if unfair.size else 0
    return float(shares["time_ps"][first] / PS_PER_S) if first < len(fair) else None


# Delay


def percentile(values: npt.ArrayLike, percent: float) -> float:
    """The smallest value that at least `percent` % of all values do not exceed.

    The nearest-rank percentile: always a value that occurred, never one between two.
    """
    numbers = np.asarray(values, dtype=np.float64)
    if not numbers.size:
        raise ValueError(f"percentile {percent} of no values: expected at least one")
    return float(np.percentile(numbers, percent, method="inverted_cdf"))


def queue_delay_by_round(run: Run) -> pl.DataFrame:
    """Mean queueing delay at the bottleneck in each round trip of each flow.

    Columns: `flow`, `round` (from 0 as the sender counts them), `start_ps`, `end_ps`, `packets`,
    `delay_ms` (null where no packet left the bottleneck). A round spans from its first row in
    `flows` to the next round's first row, the last one to the flow's last row, and holds every
    packet, of whichever flow, whose transmission began within it: it is the delay that the
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


_ROUND_COLUMNS: Final = {
    "flow": pl.Int64,
    "round": pl.Int64,
    "start_ps": pl.Int64,
    "end_ps": pl.Int64,
    "packets": pl.Int64,
    "delay_ms": pl.Float64,
}


def mean_delay_by_round(run: Run) -> pl.DataFrame:
    """`queue_delay_by_round` averaged over the flows that have the round: `round`, `delay_ms`."""
    return (
        queue_delay_by_round(run)
        .drop_nulls("delay_ms")
        .group_by("round")
        .agg(pl.col("delay_ms").mean())
        .sort("round")
    )


# Completion


def end_s(flow: dict[str, Any]) -> float | None:
    """When the last byte of a summary's flow was acknowledged, in s of the run; None when never."""
    taken = flow["completion_s"]
    return None if taken is None else float(flow["start_s"]) + float(taken)


def completion_s(run: Run) -> float | None:
    """From the first flow's start to the acknowledgement of the last flow's last byte, in s.

    None when a flow did not finish, or there is none.
    """
    ends = [end for flow in run.flows if (end := end_s(flow)) is not None]
    if not ends or len(ends) < len(run.flows):
        return None
    return max(ends) - min(float(flow["start_s"]) for flow in run.flows)


def completion_bound_s(run: Run) -> float | None:
    """Time the bottleneck takes for the bytes delivered, were it to send nothing else, in s.

    Payload only: headers, acknowledgements and the round trip make every real run longer. At the
    rate that the port has at the end of the run; None where it is not limited.
    """
    rate_bps = run.summary["bottleneck"]["rate_bps"]
    delivered = sum(int(flow["delivered_bytes"]) for flow in run.flows)
    return delivered * 8 / float(rate_bps) if rate_bps else None


def mean_goodput_bps(run: Run) -> float:
    """Bytes that all flows delivered over the length of the run, in bit/s; 0 for an empty run."""
    delivered = sum(int(flow["delivered_bytes"]) for flow in run.flows)
    return delivered * 8 * PS_PER_S / run.duration_ps if run.duration_ps else 0.0


BOTTLENECK: Final = "bottleneck"
"""The bottleneck's port in the direction of the data, in a run's summary."""
REVERSE: Final = "reverse"
"""The port of the other direction, in the summary of a run that recorded it."""


def link_use_percent(run: Run, port: str = BOTTLENECK) -> float | None:
    """How much of its rate a port used over the run, in %; None where it has no limit."""
    used = run.summary.get(port, {}).get("utilization")
    return None if used is None else 100 * float(used)


def mean_queue_delay_ms(run: Run, port: str = BOTTLENECK) -> float | None:
    """Mean queueing delay at a port by the run's summary; None where nothing left it."""
    return _follow(run.summary.get(port, {}), ("queue_delay_ms", "mean"))


def loss_percent(run: Run, port: str = BOTTLENECK) -> float | None:
    """Packets dropped at a port's queue over those that came there, in %, by the summary.

    None where none came.
    """
    found = run.summary.get(port, {})
    enqueued, dropped = found.get("enqueued"), found.get("dropped")
    if enqueued is None or dropped is None or not enqueued + dropped:
        return None
    return float(100 * dropped / (enqueued + dropped))


def mean_of_flows(run: Run, *keys: str) -> float | None:
    """Mean over the flows of a number in their summary; None where a flow has none.

    `keys` lead to it: `mean_of_flows(run, "rtt_ms", "p95")`.
    """
    numbers = [_follow(flow, keys) for flow in run.flows]
    known = [number for number in numbers if number is not None]
    return float(np.mean(known)) if known and len(known) == len(numbers) else None


def _follow(value: Any, keys: tuple[str, ...]) -> float | None:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return None if value is None else float(value)


def by_flow(rows: pl.DataFrame) -> list[tuple[int, pl.DataFrame]]:
    """The rows of a table of each flow that has some, in the order of the flows' ids."""
    flows = rows.partition_by("flow", maintain_order=True, as_dict=True)
    return sorted(
        ((int(str(key[0])), part) for key, part in flows.items()), key=lambda item: item[0]
    )
