"""A row per run and queue of a bottleneck with several queues, for the report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from narrows.analysis.load import Run
from narrows.schema.summary import OneQueueSummary

Cell = str | float | None


def rows(runs: Sequence[Run]) -> list[list[Cell]]:
    """Each queue's run and number, packets stored, throughput in Mb/s, mean and most packets, mean,
    95th percentile and most of the delay in ms, packets dropped and marked, and why. Empty without
    a port of several queues.
    """
    return [
        _row(run, queue)
        for run in runs
        for queue in cast("list[OneQueueSummary]", run.summary["bottleneck"].get("queues") or [])
    ]


def _row(run: Run, queue: OneQueueSummary) -> list[Cell]:
    drops, marks = queue["drops"], queue["marks"]
    delay = queue["queue_delay_ms"]
    reasons = [f"{name} dropped {count}" for name, count in drops.items()]
    reasons += [f"{name} marked {count}" for name, count in marks.items()]
    throughput_bps = queue["dequeued_bytes"] * 8 / float(run.summary["duration_s"])
    return [
        run.name,
        queue["queue"],
        queue["enqueued"],
        throughput_bps / 1e6,
        queue["queue_packets_mean"],
        queue["queue_packets_max"],
        *(None if delay is None else delay[key] for key in ("mean", "p95", "max")),
        sum(drops.values()),
        sum(marks.values()),
        ", ".join(reasons),
    ]
