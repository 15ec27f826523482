"""From reports to the ledger of a queue, on numbers worked out by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from testbed.bmv2 import ledger
from testbed.bmv2.clock import Clock, Reading
from testbed.bmv2.control import Shaped

SHAPED = Shaped(2, 8_000_000, 8_000_000, 1000, {"packets": 9}, 9)
"""1,000 packets of 1,000 bytes a second: an interval of 1 ms."""
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
    """They come at 0 and leave at 0, 1 and 2 ms; then one comes as another leaves."""
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


def test_figures_are_littles() -> None:
    """Waits of 0, 1, 2 and 1 ms within 10 ms: 0.4 packets; 4 of 10 packets were let through."""
    packets = left((0, 0), (0, MS), (0, 2 * MS), (2 * MS, 3 * MS))
    found = ledger.figures(packets, "frame", 1, 10**10, 80_000)
    assert found["queue_packets_mean"] == pytest.approx(0.4)
    assert found["queue_bytes_mean"] == pytest.approx(400)
    assert found["utilization"] == pytest.approx(0.4)
    delays = found["queue_delay_ms"]
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


def test_a_late_thread_is_late_and_its_rate_is_kept() -> None:
    """The third of a busy queue leaves 0.9 ms late, 0.1 ms before the fourth."""
    kept = ledger.kept(
        left((0, 0), (0, MS), (0, 2 * MS + 900_000), (0, 3 * MS), (9 * MS, 9 * MS)), SHAPED
    )
    assert kept.late_us.tolist() == [0, 0, 900, 0, 0]
    assert kept.bunched == 0.25
    assert len(kept.rates) == 0


def test_the_rate_of_a_busy_second() -> None:
    """Of a queue that is full all the time packets leave every 1.01 ms: 1 / 1.01 of the rate."""
    went = (np.arange(3000) * 1_010_000).tolist()
    kept = ledger.kept(left(*((0, at) for at in went)), SHAPED)
    assert kept.rates.tolist() == pytest.approx([1 / 1.01] * 3, rel=1e-3)
    # The ideal instants go on at the rate, so the last is 2,999 times 10 us late.
    assert kept.late_us[-1] == pytest.approx(29_990)


def test_two_readings_of_a_clock() -> None:
    clock = Clock(Reading(5 * 10**9, 1_000_000, 40_000), Reading(15 * 10**9, 1_020_000, 60_000))
    assert clock.error_us == 60.0
    assert clock.drift_ppm == pytest.approx(2.0)
    assert clock.offset_ns(10**6) == 10_000
