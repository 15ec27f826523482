"""Converts a Tofino's reports to the run's clock and to packets, and computes the bottleneck's
figures.

The switch has its own 48-bit clock in nanoseconds, and depths in cells of its buffer. The offset of
the two clocks is taken as the minimum of a report's arrival time minus its egress stamp. So the
switch's times are late by the delay of the fastest report (transmission, cable, loop) and by the
drift of the clocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import polars as pl

from narrows.controller.events import Done
from narrows.schema.units import PS_PER_S
from narrows.testbed.tables import write_table
from narrows.testbed.targets import ledger_from_reports as ledger
from narrows.testbed.targets.switch_plan import SwitchPlan

if TYPE_CHECKING:
    from narrows.schema.plan import Plan
    from narrows.schema.run import JsonObject, TargetSummary
    from narrows.schema.summary import Summary

STAMP_SPAN_NS = 1 << 48


def on_run_clock(packets: pl.DataFrame, lag_ns: int, cells_per_packet: int) -> pl.DataFrame:
    """Reports in order of arrival, with times since the start of the run, and depths in full
    packets.
    """
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
    """The hosts' summary with the bottleneck's figures, from `packets.parquet` and the controller's
    readings (`switch`). Converts that table to the run's clock, and writes the queue's ledger if
    the plan requests it.
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
        write_table(packets, path)
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
            drops={"queue-full": full},
        ),
        "switch": switch,
    }
    return cast("TargetSummary", whole)
