"""The queue ledger of a run is complete, exact, and equal to the P4 program's reports.

Departures are computed here from arrivals and sizes alone (Lindley's recursion, in exact fractions
of a picosecond); everything else is counted from the rows.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.support.world import TWO_FLOWS, RunDirectory, run

PS = 10**12

RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "two flows": (TWO_FLOWS, {}),
    "an awkward rate": (TWO_FLOWS, {"bottleneck__rate": "7.654321Mbps"}),
    "bytes": (TWO_FLOWS, {"bottleneck__queue": "30KB"}),
    "IP lengths and random loss": (
        TWO_FLOWS,
        {"bottleneck__counts": "ip", "bottleneck__loss": 0.02},
    ),
    "the wire": (TWO_FLOWS, {"bottleneck__counts": "wire", "bottleneck__queue": "1bdp"}),
    "both directions": (TWO_FLOWS, {"record__queue": "both"}),
}


@pytest.fixture(scope="module", params=list(RUNS))
def finished(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> RunDirectory:
    text, settings = RUNS[request.param]
    return run(tmp_path_factory.mktemp("run"), text, **settings)


def bottleneck(finished: RunDirectory, key: str = "bottleneck") -> pl.DataFrame:
    """The ledger's rows of the port in the summary."""
    summary = finished.summary[key]
    return finished.table("queue").filter(
        (pl.col("switch") == summary["switch"]) & (pl.col("port") == summary["port"])
    )


def test_every_packet_is_accounted_for(finished: RunDirectory) -> None:
    for (_, _), rows in finished.table("queue").group_by("switch", "port"):
        stored = rows.filter(pl.col("event") == "enqueue")["packet"].to_list()
        left = rows.filter(pl.col("event") == "dequeue")["packet"].to_list()
        dropped = rows.filter(pl.col("event") == "drop")["packet"].to_list()
        assert len(set(stored)) == len(stored)
        assert not set(stored) & set(dropped)
        assert stored[: len(left)] == left  # first come, first served
        still_queued = len(stored) - len(left)
        assert still_queued == rows["depth_packets"][-1]
        assert len(left) > 500
    for key in {"bottleneck", "reverse"} & set(finished.summary):
        rows = bottleneck(finished, key)
        counts = {event[0]: len(part) for event, part in rows.group_by("event")}
        summary = finished.summary[key]
        assert summary["enqueued"] == counts["enqueue"]
        assert summary["dequeued"] == counts["dequeue"]
        assert summary["dropped"] == counts.get("drop", 0)
        assert summary["arrived"] == summary["enqueued"] + summary["dropped"]


def test_both_directions_have_their_figures(tmp_path: Path) -> None:
    both = run(tmp_path / "both", TWO_FLOWS, record__queue="both")
    data, acks = both.summary["bottleneck"], both.summary["reverse"]
    assert data["switch"] == acks["switch"] and data["port"] != acks["port"]
    left = bottleneck(both, "reverse").filter(pl.col("event") == "dequeue")
    sent_bits = 8 * left["length_bytes"].sum()
    capacity_bits = acks["rate_bps"] * both.summary["duration_s"]
    assert acks["utilization"] == pytest.approx(sent_bits / capacity_bits)
    mean_ps = left["sojourn_ps"].mean()  # the summary's is in whole picoseconds
    assert 1e9 * acks["queue_delay_ms"]["mean"] == pytest.approx(mean_ps, abs=1)
    # The figures without the tables are the same, and without "both" there is one direction.
    figures = run(tmp_path / "figures", TWO_FLOWS, record__queue="both-summary")
    assert figures.summary == both.summary
    assert not (figures.path / "queue.parquet").is_file()
    one = run(tmp_path / "one", TWO_FLOWS)
    assert one.summary["bottleneck"] == data and "reverse" not in one.summary


def test_the_depth_is_what_came_and_has_not_left(finished: RunDirectory) -> None:
    packets = length_bytes = 0
    for event, length, depth_packets, depth_bytes in (
        bottleneck(finished)
        .select("event", "length_bytes", "depth_packets", "depth_bytes")
        .iter_rows()
    ):
        sign = {"enqueue": 1, "dequeue": -1, "drop": 0}[event]
        packets += sign
        length_bytes += sign * length
        assert (depth_packets, depth_bytes) == (packets, length_bytes)


def test_a_packet_is_dropped_only_when_it_does_not_fit(
    tmp_path: Path,
) -> None:
    packets = run(tmp_path / "packets", TWO_FLOWS).table("queue")
    drops = packets.filter(pl.col("event") == "drop")
    assert len(drops) > 10
    assert set(drops["reason"]) == {"queue-full"}
    assert set(drops["depth_packets"]) == {20}
    assert packets["depth_packets"].max() == 20
    size = run(tmp_path / "bytes", TWO_FLOWS, bottleneck__queue="30KB").table("queue")
    drops = size.filter(pl.col("event") == "drop")
    assert len(drops) > 10
    assert (drops["depth_bytes"] + drops["length_bytes"] > 30_000).all()
    stored = size.filter(pl.col("event") == "enqueue")
    assert (stored["depth_bytes"] <= 30_000).all()


def test_departures_follow_lindleys_recursion_to_the_picosecond(finished: RunDirectory) -> None:
    rows = bottleneck(finished)
    arrivals = rows.filter(pl.col("event") == "enqueue").select("time_ps", "length_bytes")
    departures = rows.filter(pl.col("event") == "dequeue").select("time_ps", "sojourn_ps")
    rate_bps = finished.summary["bottleneck"]["rate_bps"]
    end = Fraction(-1)
    for (arrival, length), (departure, sojourn) in zip(
        arrivals.iter_rows(), departures.iter_rows(), strict=False
    ):
        # It leaves at once on an idle line, or else when the last packet ahead of it ends; an end
        # between two picoseconds counts as the earlier one.
        if arrival > end // 1:
            start, end = arrival, Fraction(arrival)
        else:
            start = end // 1
        end += Fraction(length * 8 * PS, rate_bps)
        assert (departure, sojourn) == (start, start - arrival)


def test_the_programs_reports_equal_the_ledger_row_by_row(finished: RunDirectory) -> None:
    rows = bottleneck(finished)
    left = rows.filter(pl.col("event") == "dequeue")
    arrived = rows.filter(pl.col("event") == "enqueue")
    depth_with_it = dict(arrived.select("packet", "depth_packets").iter_rows())
    reports = finished.table("packets").filter(
        pl.col("egress_port") == finished.summary["bottleneck"]["port"]
    )
    assert len(reports) == len(left)
    assert reports["report"].to_list() == list(
        range(reports["report"][0], len(left) + reports["report"][0])
    )
    reported = reports.select(
        "flow", "depth_packets", "enqueue_depth_packets", "egress_ns", "queue_delay_ns"
    )
    for row, report in zip(left.iter_rows(named=True), reported.iter_rows(named=True), strict=True):
        assert report["flow"] == row["flow"]
        assert report["depth_packets"] == row["depth_packets"]
        assert report["enqueue_depth_packets"] == depth_with_it[row["packet"]] - 1
        # The program's clock has whole nanoseconds, rounded down.
        assert report["egress_ns"] == row["time_ps"] // 1000
        assert report["queue_delay_ns"] == row["sojourn_ps"] // 1000


def test_the_summary_is_what_the_rows_add_up_to(finished: RunDirectory) -> None:
    rows = bottleneck(finished)
    summary = finished.summary["bottleneck"]
    duration_ps = round(finished.summary["duration_s"] * PS)
    held = rows.select(
        "depth_packets",
        "depth_bytes",
        held=pl.col("time_ps").shift(-1, fill_value=duration_ps) - pl.col("time_ps"),
    )
    for unit in ("packets", "bytes"):
        area = sum(depth * ps for depth, ps in held.select(f"depth_{unit}", "held").iter_rows())
        assert summary[f"queue_{unit}_mean"] == pytest.approx(area / duration_ps, rel=1e-9)
        assert summary[f"queue_{unit}_max"] == rows[f"depth_{unit}"].max()
    delays_ms = rows.filter(pl.col("event") == "dequeue")["sojourn_ps"] / 1e9
    queue_delay = summary["queue_delay_ms"]
    assert queue_delay["mean"] == pytest.approx(delays_ms.mean(), rel=1e-9)
    assert queue_delay["max"] == pytest.approx(delays_ms.max(), rel=1e-9)
    for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
        # A rank may be rounded either way, and a histogram keeps three digits.
        ranked = sorted(delays_ms)
        low, high = (ranked[int((share + d) * len(ranked))] for d in (-0.002, 0.002))
        assert low * 0.998 <= queue_delay[name] <= high * 1.002
    sent = rows.filter(pl.col("event") == "dequeue")["length_bytes"].sum()
    assert summary["utilization"] == pytest.approx(
        sent * 8 / (summary["rate_bps"] * finished.summary["duration_s"]), abs=2e-3
    )


def test_lost_packets_are_counted_by_reason(tmp_path: Path) -> None:
    finished = run(tmp_path, TWO_FLOWS, bottleneck__loss=0.05, bottleneck__queue="1000packets")
    left = finished.summary["bottleneck"]["dequeued"]
    lost = finished.summary["switches"]["s1"]["dropped_ingress"]
    # Binomial with p = 0.05: 4 standard deviations.
    offered = left + lost
    assert abs(lost - 0.05 * offered) < 4 * (offered * 0.05 * 0.95) ** 0.5
    assert lost > 20
