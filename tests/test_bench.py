"""The benchmark's regression check."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bench import run


def results(calibration: float, **rates: float) -> dict[str, Any]:
    runs = {name: {"packets_per_s": rate} for name, rate in rates.items()}
    return {"sections": {"runs": {"calibration_steps_per_s": calibration, "found": runs}}}


def test_a_slower_machine_is_no_regression() -> None:
    assert run.slower(results(100.0, a=1000.0), results(20.0, a=200.0)) == []


@pytest.mark.parametrize(("rate", "lines"), [(700.0, 0), (600.0, 1)])
def test_a_rate_that_falls_by_a_third_is_one(rate: float, lines: int) -> None:
    found = run.slower(results(100.0, a=1000.0, b=5.0), results(100.0, a=rate, b=5.0))
    assert len(found) == lines
    assert all(line.startswith("runs: a: 0.60") for line in found)


def test_the_committed_results_can_be_compared_with() -> None:
    committed = json.loads(run.RESULTS.read_text())
    assert len(run.rates(committed)) > 15
    assert run.slower(committed, committed) == []
