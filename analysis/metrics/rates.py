"""Rates over time from the tables: goodput and throughput in bins, progress, rise time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from narrows.analysis.load import Run
from narrows.analysis.metrics.base import Floats, Ints, by_flow
from narrows.analysis.metrics.ledger import ledger_parts, table_parts
from narrows.schema.units import PS_PER_S, parse_duration, parse_rate


def nice_bin_ps(duration_ps: int, bins: int = 150) -> int:
    """A bin of 1, 2 or 5 times a power of ten (ps), so that `duration_ps` has about `bins`.

    It is at least 100 ms: over less than a few round trips, bursts hide the rate.
    """
    wanted = max(duration_ps / bins, 0.1 * PS_PER_S)
    power: int = 10 ** math.floor(math.log10(wanted) + 1e-9)
    return next(step * power for step in (1, 2, 5, 10) if step * power >= wanted * (1 - 1e-9))


def bin_edges_ps(duration_ps: int, bin_ps: int) -> Ints:
    """Edges of the whole bins in [0, `duration_ps`]; an incomplete last bin is omitted. Raises
    `ValueError` for a bin that is not above zero.
    """
    if bin_ps <= 0:
        raise ValueError(f"bin of {bin_ps} ps: expected more than 0")
    return np.arange(0, duration_ps // bin_ps + 1, dtype=np.int64) * bin_ps


def goodput_bps(run: Run, bin_ps: int) -> pl.DataFrame:
    """Goodput of each flow in each bin: `flow`, `time_ps` (the bin's middle), `bps`.

    Counts bytes acknowledged in sequence, so no byte counts twice (RFC 5166), and for datagrams
    those that arrived. There is one row per flow and bin, also without progress.
    """
    edges = bin_edges_ps(run.duration_ps, bin_ps)
    by_edge = dict[int, Ints]()
    for part in progress_parts(run):
        for flow, rows in by_flow(part):
            total = by_edge.setdefault(flow, np.zeros(len(edges), dtype=np.int64))
            at = np.searchsorted(rows["time_ps"].to_numpy(), edges, side="right") - 1
            # What later parts know of later edges takes the place of this.
            first = int(np.searchsorted(at, 0))
            total[first:] = rows["acked_bytes"].to_numpy()[at[first:]]
    frames = [
        _rate_rows(flow, edges, np.diff(total), bin_ps) for flow, total in sorted(by_edge.items())
    ]
    return pl.concat(frames) if frames else _rate_rows(0, edges[:0], edges[:0], bin_ps)


def progress(run: Run) -> pl.DataFrame:
    """Cumulative progress of each flow:

    `flow`, `time_ps`, `acked_bytes`. It counts the bytes known to the sender, at each of its rows.
    A sender of datagrams without feedback has the bytes that arrived, at each arrival.
    """
    return pl.concat(progress_parts(run))


def progress_parts(run: Run) -> Iterator[pl.DataFrame]:
    """`progress` in parts. The parts of a flow are in the order of time."""
    untold = {int(flow["id"]) for flow in run.flows if "datagrams" in flow}
    for part in table_parts(run, "flows", "flow", "time_ps", "acked_bytes"):
        untold -= set(part["flow"].unique())
        yield part
    if untold and run.has("messages"):
        read = run.table("messages").filter(pl.col("flow").is_in(untold))
        so_far = pl.col("length_bytes").cum_sum().over("flow").alias("acked_bytes")
        rows = read.select("flow", pl.col("read_ps").alias("time_ps"), so_far)
        yield rows.cast(part.schema).collect()


def throughput_bps(run: Run, bin_ps: int) -> pl.DataFrame:
    """Rate that the bottleneck sent in each bin: `flow` 0, `time_ps` (the bin's middle), `bps`.

    All bytes that count against its rate, headers and retransmissions included (RFC 5166). A
    packet's bytes are spread over its transmission, so no bin exceeds the link's rate.
    """
    return throughputs_bps(run, bin_ps)[0]


def flow_throughput_bps(run: Run, bin_ps: int) -> pl.DataFrame:
    """Rate that the bottleneck sent for each flow in each bin:

    `flow`, `time_ps`, `bps`. Their sum is `throughput_bps`. There is a row per bin and flow that
    has sent a packet; flow 0 has the packets without a flow.
    """
    return throughputs_bps(run, bin_ps)[1]


def throughputs_bps(run: Run, bin_ps: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """`throughput_bps` and `flow_throughput_bps`, which read the ledger once."""
    edges = bin_edges_ps(run.duration_ps, bin_ps)
    of_all, of_flow = Sent(edges), dict[int, Sent]()
    for sent in _transmissions(run):
        counted = sent.with_columns(edge=pl.Series(_first_edges(edges, sent)))
        by_edge = counted.group_by("flow", "edge").agg(pl.col("length_bytes").cast(pl.Int64).sum())
        for flow, edge, size_bytes in by_edge.iter_rows():
            of_all.whole[edge] += size_bytes
            of_flow.setdefault(flow, Sent(edges)).whole[edge] += size_bytes
        for flow, edge, size_bytes in _under_way(edges, sent):
            of_all.parts[edge] = of_flow[flow].parts[edge] = size_bytes
    each = [_rate_rows(flow, edges, of_flow[flow].by_bin(), bin_ps) for flow in sorted(of_flow)]
    return (
        _rate_rows(0, edges, of_all.by_bin(), bin_ps),
        pl.concat(each) if each else _rate_rows(0, edges[:0], edges[:0], bin_ps),
    )


class Sent:
    """Bytes that had left by edges in time."""

    def __init__(self, edges: Ints) -> None:
        self.whole = np.zeros(len(edges) + 1)
        """Of packets whose transmission has ended by this edge, but not by the one before."""
        self.parts = np.zeros(len(edges))
        """Of the packet in transmission."""

    def by_bin(self) -> Floats:
        """Bytes between each two edges."""
        return np.diff(np.cumsum(self.whole[:-1]) + self.parts)


def link_rates_bps(run: Run) -> list[tuple[float, float]]:
    """The bottleneck's rate over the run by the scenario: start times in s, and rates in bit/s.

    Empty if the port has no limit, or follows a trace: the run directory has no trace's rates.
    """
    links = run.scenario.get("link") or []
    own: dict[str, Any] = next((link for link in links if link.get("bottleneck")), {})
    bottleneck = run.scenario.get("bottleneck", {})
    if own.get("trace") or bottleneck.get("trace"):
        return []
    first = own.get("rate") or bottleneck.get("rate")
    rates = [(0.0, float(parse_rate(first)))] if first else []
    for event in run.scenario.get("event") or []:
        change = event.get("set", {}).get("bottleneck") or {}
        if change.get("rate"):
            at_s = parse_duration(event["at"]) / PS_PER_S
            rates.append((at_s, float(parse_rate(change["rate"]))))
    known = run.summary["bottleneck"]["rate_bps"]
    if not rates and known:
        rates = [(0.0, float(known))]
    return sorted(rates)


def _transmissions(run: Run) -> Iterator[pl.DataFrame]:
    """Each packet that left the bottleneck, in parts: `flow`, `time_ps`, `end_ps`, `length_bytes`.

    The ledger has the start of a transmission. It ends at the next one's start or earlier. The
    latest end follows from the packet's length and the link's lowest rate. Where no rate is known,
    a packet counts in whole at its start. A packet that the discipline, as CoDel does, or the P4
    program's egress drops after it left the queue is not transmitted.
    """
    slowest_bps = min((rate for _, rate in link_rates_bps(run)), default=math.inf)
    last: list[pl.DataFrame] = []
    for part in ledger_parts(run, "event", "packet", "flow", "length_bytes"):
        sent = pl.concat([*last, _sent(part)])
        last = [sent[-1:]]
        if len(sent) > 1:
            yield _with_ends(sent[:-1], sent["time_ps"][1:].to_numpy(), slowest_bps)
    for sent in last:
        if len(sent):
            yield _with_ends(sent, np.array([np.iinfo(np.int64).max]), slowest_bps)


def _sent(part: pl.DataFrame) -> pl.DataFrame:
    """The dequeued packets of a part that were not dropped at that instant."""
    left, drops = (part.filter(pl.col("event") == event) for event in ("dequeue", "drop"))
    # Most packets that are dropped never left the queue, and a join takes longer than this.
    if left["packet"].is_in(drops["packet"].implode()).any():
        left = left.join(drops, on=["packet", "time_ps"], how="anti", maintain_order="left")
    return left.select("flow", "time_ps", "length_bytes")


def _with_ends(sent: pl.DataFrame, following: Ints, slowest_bps: float) -> pl.DataFrame:
    longest = sent["length_bytes"].to_numpy() * (8 * PS_PER_S / slowest_bps)
    start = sent["time_ps"].to_numpy()
    end = np.minimum(following, start + np.ceil(longest).astype(np.int64))
    return sent.with_columns(end_ps=pl.Series(np.maximum(end, start + 1)))


def _first_edges(edges: Ints, sent: pl.DataFrame) -> Ints:
    """The first edge by which each transmission has ended; the number of edges if none."""
    ended = np.searchsorted(sent["end_ps"].to_numpy(), edges, side="right")
    return np.repeat(np.arange(len(edges) + 1), np.diff(ended, prepend=0, append=len(sent)))


def _under_way(edges: Ints, sent: pl.DataFrame) -> Iterator[tuple[int, int, float]]:
    """The flow, the edge and the bytes sent by then of each transmission that an edge divides."""
    start, end = sent["time_ps"].to_numpy(), sent["end_ps"].to_numpy()
    for edge in range(*np.searchsorted(edges, [start[0], end[-1]])):
        at = int(np.searchsorted(start, edges[edge], side="right")) - 1
        if at >= 0 and edges[edge] < end[at]:
            share = (edges[edge] - start[at]) / (end[at] - start[at])
            flow, _, length_bytes, _ = sent.row(at)
            yield flow, edge, length_bytes * float(share)


def _rate_rows(flow: int, edges: Ints, byte_counts: Ints | Floats, bin_ps: int) -> pl.DataFrame:
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
    """First time at which a rate reaches `part` of its target; None if it never does."""
    reached = np.flatnonzero(np.asarray(bps, dtype=np.float64) >= part * target_bps)
    return float(time_s[int(reached[0])]) if reached.size else None
