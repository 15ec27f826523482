"""Rates over time from the tables: goodput and throughput in bins, progress, rise time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from narrows.analysis.load import Run
from narrows.analysis.metrics.base import Floats, Ints, by_flow
from narrows.analysis.metrics.queue import bottleneck_ledger
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
    frames = []
    for flow, rows in by_flow(progress(run)):
        at = np.searchsorted(rows["time_ps"].to_numpy(), edges, side="right") - 1
        total = np.where(at < 0, 0, rows["acked_bytes"].to_numpy()[np.maximum(at, 0)])
        frames.append(_rate_rows(flow, edges, np.diff(total), bin_ps))
    return pl.concat(frames) if frames else _rate_rows(0, edges[:0], edges[:0], bin_ps)


def progress(run: Run) -> pl.DataFrame:
    """Cumulative progress of each flow:

    `flow`, `time_ps`, `acked_bytes`. It counts the bytes known to the sender, at each of its rows.
    A sender of datagrams without feedback has the bytes that arrived, at each arrival.
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
    """Rate that the bottleneck sent in each bin: `flow` 0, `time_ps` (the bin's middle), `bps`.

    All bytes that count against its rate, headers and retransmissions included (RFC 5166). A
    packet's bytes are spread over its transmission, so no bin exceeds the link's rate.
    """
    edges, sent = bin_edges_ps(run.duration_ps, bin_ps), _transmissions(run)
    return _rate_rows(0, edges, np.diff(_sent_by(edges, sent)), bin_ps)


def flow_throughput_bps(run: Run, bin_ps: int) -> pl.DataFrame:
    """Rate that the bottleneck sent for each flow in each bin:

    `flow`, `time_ps`, `bps`. Their sum is `throughput_bps`. There is a row per bin and flow that
    has sent a packet; flow 0 has the packets without a flow.
    """
    edges = bin_edges_ps(run.duration_ps, bin_ps)
    frames = [
        _rate_rows(flow, edges, np.diff(_sent_by(edges, own)), bin_ps)
        for flow, own in by_flow(_transmissions(run))
    ]
    return pl.concat(frames) if frames else _rate_rows(0, edges[:0], edges[:0], bin_ps)


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


def _transmissions(run: Run) -> pl.DataFrame:
    """Each packet that left the bottleneck: `flow`, `time_ps`, `end_ps`, `length_bytes`.

    The ledger has the start of a transmission. It ends at the next one's start or earlier. The
    latest end follows from the packet's length and the link's lowest rate. Where no rate is known,
    a packet counts in whole at its start. A packet that the discipline, as CoDel does, or the P4
    program's egress drops after it left the queue is not transmitted.
    """
    ledger, event = bottleneck_ledger(run), pl.col("event")
    drops = ledger.filter(event == "drop")
    sent = (
        ledger.filter(event == "dequeue")
        .join(drops, on=["packet", "time_ps"], how="anti")
        .sort("time_ps", maintain_order=True)
        .select("flow", "time_ps", "length_bytes")
        .collect()
    )
    slowest_bps = min((rate for _, rate in link_rates_bps(run)), default=math.inf)
    start = sent["time_ps"].to_numpy().astype(np.int64)
    longest = sent["length_bytes"].to_numpy() * (8 * PS_PER_S / slowest_bps)
    following = np.append(start[1:], np.iinfo(np.int64).max)
    end = np.minimum(following, start + np.ceil(longest).astype(np.int64))
    return sent.with_columns(end_ps=pl.Series(end))


def _sent_by(edges: Ints, sent: pl.DataFrame) -> Floats:
    """Bytes of these transmissions that had left at each edge."""
    start, end = sent["time_ps"].to_numpy(), sent["end_ps"].to_numpy()
    lengths = sent["length_bytes"].to_numpy().astype(np.float64)
    before = np.append(0.0, np.cumsum(lengths))
    if not len(start):
        return np.zeros(len(edges))
    last = np.searchsorted(start, edges, side="right") - 1
    at = np.maximum(last, 0)
    part = (edges - start[at]) / np.maximum(end[at] - start[at], 1)
    return np.where(last < 0, 0.0, before[at] + lengths[at] * np.clip(part, 0.0, 1.0))


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
