"""A Tofino's reports on the run's clock and in packets, and from them the bottleneck's figures.

The switch counts time in nanoseconds of its own, in 48 bits, and depths in cells of its buffer. The
least time from a report's egress stamp to its coming, each by its own clock, is taken for what the
two clocks are apart: so the switch's times are late by what the quickest report took (its
transmission, the cable, the loop), and by how far the clocks drifted apart since.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import polars as pl

from narrows.controller.events import Done
from narrows.testbed.targets import ledger_from_reports as ledger
from narrows.testbed.targets.switch_plan import SwitchPlan

if TYPE_CHECKING:
    from narrows.schema.plan import Plan
    from narrows.schema.run import JsonObject, TargetSummary
    from narrows.schema.summary import Summary

STAMP_SPAN_NS = 1 << 48
PS_PER_S = 10**12


def on_run_clock(packets: pl.DataFrame, lag_ns: int, cells_per_packet: int) -> pl.DataFrame:
    """Reports as they came with times since the run began, and depths in full packets."""
    if packets.is_empty():
        return packets
    first = packets["egress_ns"][0]
    half = STAMP_SPAN_NS // 2
    stamps = [
        (pl.col(name) - first + STAMP_SPAN_NS + half) % STAMP_SPAN_NS - half + first + lag_ns
        for name in ("ingress_ns", "egress_ns")
    ]
    depths = [
        (pl.col(name) + cells_per_packet - 1) // cells_per_packet
        for name in ("depth_packets", "enqueue_depth_packets")
    ]
    return packets.with_columns(*stamps, *depths)


def with_bottleneck(
    summary: Summary,
    plan: Plan,
    switch_plan: SwitchPlan,
    switch: JsonObject,
    cells_per_packet: int,
    out: Path,
) -> TargetSummary:
    """The hosts' summary with the bottleneck's figures, from `packets.parquet` and what the
    controller found (`switch`). Puts that table on the run's clock, and writes the queue's ledger
    where the plan wants it.
    """
    end_ps = round(summary["duration_s"] * PS_PER_S)
    [queue] = [one for one in switch["queues"] if one["port"] == switch_plan.port]
    first_bps = next(
        one["in_force"]
        for one in switch["set"]
        if one["port"] == switch_plan.port and "rate_bps" in one
    )
    done: Sequence[Done] = [Done(**one) for one in switch["events"]]
    events = sorted(plan["events"], key=lambda event: int(event["at_ps"]))
    rates = ledger.rates(first_bps, switch_plan.port, events, done)
    figures = ledger.NO_FIGURES
    left = queue["transmitted"]
    lag_ns = summary.get("report_lag_ns")
    if switch_plan.every and plan["record"]["packets"] and lag_ns is not None:
        path = out / "packets.parquet"
        packets = on_run_clock(pl.read_parquet(path), lag_ns, cells_per_packet)
        packets.write_parquet(path)
        ledger_out = out if plan["record"]["queue"] else None
        bits = ledger.capacity_bits(rates, end_ps)
        figures, departed = ledger.bottleneck(packets, switch_plan, bits, end_ps, ledger_out)
        if switch_plan.every == 1:
            left = len(departed)
    waiting, full = queue["waiting_packets"], queue["dropped"]
    whole = {
        **summary,
        "bottleneck": ledger.bottleneck_summary(
            switch_plan,
            rates[-1][1],
            figures,
            arrived=left + waiting + full,
            dequeued=left,
            queued=waiting,
            dropped=full,
        ),
        "switch": switch,
    }
    return cast("TargetSummary", whole)
