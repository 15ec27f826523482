"""The search of `narrows calibrate`, on machines whose limits are known."""

from __future__ import annotations

from pathlib import Path

import pytest

from narrows.testbed.tools import calibrate
from narrows.testbed.tools.calibrate import Tried, patiently, search
from tests.support.real_time import needs_dpdk
from tests.support.world import narrows


@pytest.mark.parametrize("limit_bps", [6_000_000, 5_000_000, 987_654_321])
def test_the_search_ends_within_a_fifth_of_the_limit(limit_bps: int) -> None:
    """Two halvings of a doubling, in logarithms: the fourth root of 2."""
    asked = []

    def attempt(rate_bps: int) -> Tried:
        asked.append(rate_bps)
        return Tried(rate_bps, "late" if rate_bps > limit_bps else "", 0.0)

    good, bad = search(attempt)
    assert good is not None
    assert bad is not None
    assert good.rate_bps <= limit_bps < bad.rate_bps
    assert bad.rate_bps / good.rate_bps == pytest.approx(2**0.25, rel=1e-6)
    assert len(asked) == len(set(asked))


def test_the_search_ends_for_a_machine_at_either_extreme() -> None:
    good, bad = search(lambda rate_bps: Tried(rate_bps, "late", 0.0))
    assert good is None
    assert bad is not None
    assert bad.rate_bps == calibrate.FIRST_BPS
    good, bad = search(lambda rate_bps: Tried(rate_bps, "", 0.0))
    assert bad is None
    assert good is not None
    assert good.rate_bps > calibrate.MOST_BPS / 2


@pytest.mark.parametrize(
    ("verdicts", "runs", "why_not"),
    [(["", "late"], 1, ""), (["late", "", "late"], 2, ""), (["late", "late", "slow"], 3, "slow")],
)
def test_a_rate_is_given_up_after_three_bad_runs(
    verdicts: list[str], runs: int, why_not: str
) -> None:
    left = [Tried(5_000_000, verdict, 0.0) for verdict in verdicts]
    tried = patiently(lambda: left.pop(0))
    assert (len(verdicts) - len(left), tried.why_not) == (runs, why_not)


@needs_dpdk
def test_a_rate_that_no_loop_can_fill_is_not_good_and_says_why() -> None:
    tried = calibrate.measure(50_000_000_000, 1448, 2)
    assert tried.why_not.startswith(("invalid: ", "the hosts loaded it to only"))
    assert 0 < tried.packets_per_second < 50e9 / (8 * 1500)


def test_too_short_a_run_is_refused(tmp_path: Path) -> None:
    ran = narrows("calibrate", "--seconds", "1", "--out", tmp_path / "out.json")
    assert ran.returncode == 2
    assert "expected at least 2" in ran.stderr
    assert not (tmp_path / "out.json").exists()
