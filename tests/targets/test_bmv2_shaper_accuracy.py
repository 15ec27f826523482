"""The accuracy of bmv2's rate by its reports, on numbers worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from narrows.testbed.targets.bmv2 import shaper_accuracy
from narrows.testbed.targets.bmv2.clock import Clock, Reading
from narrows.testbed.targets.bmv2.control import Shaped
from tests.targets.test_ledger_from_reports import left

SHAPED = Shaped(2, 8_000_000, 8_000_000, 1000, {"packets": 9}, 9)
"""1,000 packets of 1,000 bytes a second: an interval of 1 ms."""
MS = 10**6


def test_a_late_thread_is_late_and_its_rate_is_kept() -> None:
    """The third of a busy queue leaves 0.9 ms late, 0.1 ms before the fourth."""
    accuracy = shaper_accuracy.shaper_accuracy(
        left((0, 0), (0, MS), (0, 2 * MS + 900_000), (0, 3 * MS), (9 * MS, 9 * MS)), SHAPED
    )
    assert accuracy.late_us.tolist() == [0, 0, 900, 0, 0]
    assert accuracy.bunched == 0.25
    assert len(accuracy.rates) == 0


def test_the_rate_of_a_busy_second() -> None:
    """Of a queue that is full all the time packets leave every 1.01 ms: 1 / 1.01 of the rate."""
    went = (np.arange(3000) * 1_010_000).tolist()
    accuracy = shaper_accuracy.shaper_accuracy(left(*((0, at) for at in went)), SHAPED)
    assert accuracy.rates.tolist() == pytest.approx([1 / 1.01] * 3, rel=1e-3)
    # The ideal instants go on at the rate, so the last is 2,999 times 10 us late.
    assert accuracy.late_us[-1] == pytest.approx(29_990)


def test_two_readings_of_a_clock() -> None:
    clock = Clock(Reading(5 * 10**9, 1_000_000, 40_000), Reading(15 * 10**9, 1_020_000, 60_000))
    assert clock.error_us == 60.0
    assert clock.drift_ppm == pytest.approx(2.0)
    assert clock.offset_ns(10**6) == 10_000
