"""The recording of ns-3 is complete, and rows without much to compute hold their bounds."""

from __future__ import annotations

import statistics

import pytest

from tests.validation.cases import ROOT
from tests.validation.disciplines import against_ns3
from tests.validation.disciplines.against_ns3 import CASES, Bounds, Run


def test_the_recording_has_every_run_of_every_row() -> None:
    recorded = against_ns3.recording()
    assert (recorded["ns-3"], recorded["seconds"]) == ("3.37", against_ns3.SECONDS)
    assert list(recorded["runs"]) == list(CASES)
    for row in CASES:
        runs = against_ns3.theirs(row)
        assert len(runs) == against_ns3.RUNS
        assert {len(run.goodputs_mbps) for run in runs} == {against_ns3.FLOWS}


def test_the_document_has_every_row() -> None:
    text = (ROOT / "docs/reports/validation.md").read_text(encoding="utf-8")
    assert [row for row in CASES if f"| `{row}` |" not in text] == []


@pytest.mark.parametrize("row", ["pie", "fq-codel"])
def test_a_discipline_does_to_flows_what_ns3s_does(row: str) -> None:
    """Two of the rows; `make validate` has all."""
    cells = {column.title: column.cell(row) for column in against_ns3.columns()}
    assert [title for title, cell in cells.items() if cell and not cell.ok] == []
    assert cells["marks"] is None


def test_a_rules_bounds_are_the_baselines_and_its_own() -> None:
    assert against_ns3.bound("pie", "drops") == against_ns3.BASELINE.drops
    assert against_ns3.bound("codel, ECN", "marks") == pytest.approx(0.05 + 0.06)
    assert against_ns3.bound("fq-codel, unequal", "delay_ms") == pytest.approx(0.03 + 0.015)


def run_of(delay_ms: float, drops: int = 100) -> Run:
    return Run([1.0, 3.0], delay_ms, drops, 0, 0)


def test_means_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(against_ns3, "ours", lambda row: [run_of(10.19), run_of(10.39)])
    monkeypatch.setattr(against_ns3, "theirs", lambda row: [run_of(9.9, 94), run_of(10.1, 94)])
    delay = against_ns3.compare("delay_ms", 2)("pie")
    assert delay is not None and delay.ok
    assert delay.text == "10.29 ± 0.14 / 10.00 ± 0.14 (+2.9 %)"
    drops = against_ns3.compare("drops", 0)("pie")
    assert drops is not None and not drops.ok, "6.4 % is beyond 5 %"
    assert against_ns3.compare("marks", 0, 50)("pie") is None
    assert against_ns3.show("jain", 3)("pie").text == "(0.800 / 0.800)"


def test_bounds_of_marks_are_those_of_drops() -> None:
    assert Bounds(delay_ms=0.1, goodput_mbps=0.1, drops=0.2).marks == 0.2


def test_flows_of_a_run_open_at_different_times() -> None:
    starts = [start for n in range(against_ns3.RUNS) for start in against_ns3.starts_s(n)]
    assert all(0 <= start < 1 for start in starts)
    assert statistics.stdev(starts) > 0.25
    for number in range(against_ns3.RUNS):
        assert len(set(against_ns3.starts_s(number))) == against_ns3.FLOWS
