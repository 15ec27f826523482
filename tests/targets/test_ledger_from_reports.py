"""A queue's ledger and figures from a switch's reports, on numbers worked out by hand."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from narrows.controller.events import Done
from narrows.schema.units import PS_PER_MS
from narrows.testbed.targets import ledger_from_reports as ledger
from narrows.testbed.targets.tofino import reports

MS = 10**6


def left(*packets: tuple[int, int]) -> pl.DataFrame:
    """Packets of 1,000 bytes by the ns at which they came and went."""
    return pl.DataFrame(
        {
            "enqueue_ns": [came for came, _ in packets],
            "egress_ns": [went for _, went in packets],
            "queue_delay_ns": [went - came for came, went in packets],
            "frame_length_bytes": 1000,
            "depth_packets": 0,
            "enqueue_depth_packets": 0,
            "flow": 1,
            "queue": 0,
        }
    )


def test_a_ledger_of_three_packets_at_once() -> None:
    """Packets arrive at 0 and leave at 0, 1 and 2 ms; then one arrives as another leaves."""
    rows = ledger.queue_rows(left((0, 0), (0, MS), (0, 2 * MS), (2 * MS, 3 * MS)), "s1", 2, "frame")
    assert rows.schema == pl.Schema(ledger.QUEUE)
    assert rows.select("time_ps", "event", "packet", "depth_packets").rows() == [
        (0, "enqueue", 0, 1),
        (0, "enqueue", 1, 2),
        (0, "enqueue", 2, 3),
        (0, "dequeue", 0, 2),
        (10**9, "dequeue", 1, 1),
        (2 * 10**9, "enqueue", 3, 2),
        (2 * 10**9, "dequeue", 2, 1),
        (3 * 10**9, "dequeue", 3, 0),
    ]
    assert rows["depth_bytes"].to_list() == [1000, 2000, 3000, 2000, 1000, 2000, 1000, 0]
    assert rows["sojourn_ps"].sum() == 4 * 10**9


def test_the_ledgers_queue_0_is_the_one_served_first() -> None:
    """The program's highest priority is served first (p4/metadata.p4)."""
    packets = pl.DataFrame({"queue": [0, 1, 2, 0]})
    assert ledger.in_order_of_service(packets, 3)["queue"].to_list() == [2, 1, 0, 2]
    assert ledger.in_order_of_service(packets, 1)["queue"].to_list() == [0, 1, 2, 0]


def test_figures_are_littles() -> None:
    """Waits of 0, 1, 2 and 1 ms within 10 ms: 0.4 packets; 4 of 10 packets were let through."""
    packets = left((0, 0), (0, MS), (0, 2 * MS), (2 * MS, 3 * MS))
    found = ledger.figures(packets, "frame", 1, 10**10, 80_000)
    assert found["queue_packets_mean"] == pytest.approx(0.4)
    assert found["queue_bytes_mean"] == pytest.approx(400)
    assert found["utilization"] == pytest.approx(0.4)
    delays = found["queue_delay_ms"]
    assert delays is not None
    assert (delays["min"], delays["p50"], delays["mean"], delays["max"]) == (0.0, 1.0, 1.0, 2.0)
    # One in three was reported.
    assert ledger.figures(packets, "frame", 3, 10**10, 80_000)["queue_packets_mean"] == 1.2


def test_what_counts_against_a_rate() -> None:
    frames = pl.DataFrame({"frame_length_bytes": [54, 1514]})
    by = {
        name: frames.select(ledger.length(name)).to_series().to_list()
        for name in ("ip", "frame", "wire")
    }
    # IEEE 802.3: 64 bytes at least with the check sequence, 8 before and 12 behind.
    assert by == {"ip": [40, 1500], "frame": [54, 1514], "wire": [84, 1538]}


def test_what_changing_rates_let_through() -> None:
    """8 Mb/s for 3 ms, then 2 Mb/s for 7 ms: 24,000 and 14,000 bits."""
    changes: list[Any] = [
        {"at_ps": 2, "port": 2, "rate_bps": 2_000_000},
        {"at_ps": 3, "port": 2, "queue": {"packets": 7}},
        {"at_ps": 4, "port": 1, "rate_bps": 5},
        {"at_ps": 9, "port": 2, "rate_bps": 1},
    ]
    done = [
        Done(2, 3 * PS_PER_MS, 2_000_000),
        Done(3, 4 * PS_PER_MS, {"packets": 7}),
        Done(4, 5 * PS_PER_MS, 5),
    ]
    rates = ledger.rates(8_000_000, 2, changes, done)
    assert rates == [(0, 8_000_000), (3 * PS_PER_MS, 2_000_000)]
    assert ledger.capacity_bits(rates, 10 * PS_PER_MS) == pytest.approx(38_000)


def test_a_tofinos_stamps_wrap_and_its_depths_are_cells() -> None:
    """Two packets 5 us apart, its 48 bits wrapping between; 20 cells hold a full packet."""
    wrap = 1 << 48
    came = pl.DataFrame(
        {
            "ingress_ns": [wrap - 3000, 1000],
            "egress_ns": [wrap - 2000, 3000],
            "depth_packets": [0, 41],
            "enqueue_depth_packets": [20, 60],
        }
    )
    # The first came 700 ns after its stamp, at 900 ns of the run.
    found = reports.on_run_clock(came, 900 - (wrap - 2000), 20)
    assert found["egress_ns"].to_list() == [900, 5900]
    assert found["ingress_ns"].to_list() == [-100, 3900]
    assert found["depth_packets"].to_list() == [0, 3]
    assert found["enqueue_depth_packets"].to_list() == [1, 3]
    assert reports.on_run_clock(came.clear(), 0, 20).is_empty()
