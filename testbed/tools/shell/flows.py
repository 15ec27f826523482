"""The connections of a shell as a run's flows: `flows.parquet`, and the summary's flows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from narrows.schema.units import PS_PER_S
from narrows.testbed.tables import write_table
from narrows.testbed.tools.shell.connections import NO_THRESHOLD, Sample, Sender

if TYPE_CHECKING:
    from narrows.schema.summary import FlowSummary, Quantiles, Summary

PS_PER_US: Final = 10**6
SCHEMA: Final = {
    "time_ps": pl.Int64, "flow": pl.Int32, "cwnd_bytes": pl.Int64, "ssthresh_bytes": pl.Int64,
    "in_flight_bytes": pl.Int64, "srtt_ps": pl.Int64, "rtt_ps": pl.Int64, "rto_ps": pl.Int64,
    "acked_bytes": pl.Int64, "retransmits": pl.Int64, "timeouts": pl.Int64,
    "delivery_rate_bps": pl.Int64, "round": pl.Int64, "phase": pl.String,
}  # fmt: skip
"""The columns of the table `flows`. The kernel tells no round trip's number: it is 0."""


def write(senders: Sequence[Sender], out: Path) -> None:
    """Writes `flows.parquet`, a row per sample in the order of time."""
    found = [row(sender, sample) for sender in senders for sample in sender.samples]
    frame = pl.DataFrame(found, SCHEMA, orient="row").sort("time_ps", maintain_order=True)
    write_table(frame, out / "flows.parquet")


def row(sender: Sender, sample: Sample) -> tuple[Any, ...]:
    """A row of the table."""
    segment = sample.segment_bytes
    ssthresh = None if sample.ssthresh >= NO_THRESHOLD else sample.ssthresh * segment
    in_slow_start = ssthresh is None or sample.cwnd < sample.ssthresh
    phase = "slow-start" if in_slow_start else "congestion-avoidance"
    return (
        sample.time_ps, sender.number, sample.cwnd * segment, ssthresh, sample.in_flight * segment,
        sample.srtt_us * PS_PER_US or None, None, sample.rto_us * PS_PER_US, sample.acked_bytes,
        sample.retransmits, sample.timeouts, sample.delivery_bytes_per_s * 8 or None, 0,
        "fast-recovery" if sample.in_recovery else phase,
    )  # fmt: skip


def described(summary: Summary, senders: Sequence[Sender]) -> Summary:
    """The summary with these flows."""
    end_s = summary["duration_s"]
    flows = sorted((flow(sender, end_s) for sender in senders), key=lambda one: one["id"])
    goodputs = [one["goodput_bps"] for one in flows]
    squares = sum(goodput**2 for goodput in goodputs)
    delivered_bytes = sum(one["delivered_bytes"] for one in flows)
    return summary | {
        "flows": flows,
        "jain": sum(goodputs) ** 2 / (squares * len(flows)) if squares else 1.0,
        "aggregate_goodput_bps": delivered_bytes * 8 / end_s if end_s else 0.0,
    }


def flow(sender: Sender, end_s: float) -> FlowSummary:
    """A flow's summary, over the time from its first sample to its end or the run's."""
    first, last = sender.samples[0], sender.samples[-1]
    start_s = first.time_ps / PS_PER_S
    stop_s = end_s if sender.ended_ps is None else sender.ended_ps / PS_PER_S
    lasts_s = max(stop_s - start_s, 1e-6)
    states = [sample.in_recovery for sample in sender.samples]
    return {
        "id": sender.number,
        "variant": sender.variant,
        "recovery": "kernel",
        "profile": "kernel",
        "goodput_bps": last.acked_bytes * 8 / lasts_s,
        "throughput_bps": last.sent_bytes * 8 / lasts_s,
        "delivered_bytes": last.acked_bytes,
        "sent_segments": last.data_segments,
        "retransmits": last.retransmits,
        "timeouts": last.timeouts,
        "fast_recoveries": sum(now and not before for before, now in pairwise([False, *states])),
        "was_reset": False,
        "rtt_ms": quantiles([each.srtt_us / 1e3 for each in sender.samples if each.srtt_us]),
        "one_way_delay_ms": None,
        "start_s": start_s,
        "completion_s": None if sender.ended_ps is None else lasts_s,
    }


def quantiles(samples: Sequence[float]) -> Quantiles | None:
    """Quantiles of samples; None without any."""
    values = pl.Series(samples, dtype=pl.Float64)
    if values.is_empty():
        return None

    def at(share: float) -> float:
        return float(values.quantile(share, "nearest") or 0.0)

    mean = float(sum(samples) / len(samples))
    return {
        "min": at(0), "mean": mean, "p50": at(0.5), "p95": at(0.95), "p99": at(0.99), "max": at(1)
    }  # fmt: skip
