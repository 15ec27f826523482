"""Grades of claims, their tolerances, and what a quick run may judge."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from narrows.analysis import reproduction
from narrows.analysis.estimate import Estimate
from narrows.analysis.load import Run
from narrows.testbed.cli.tables import claims_table
from narrows.testbed.papers import PAPERS
from narrows.testbed.papers.finished_runs import FinishedRuns
from narrows.testbed.papers.grade import (
    POINTS,
    Count,
    Distance,
    Grade,
    Margin,
    lacking,
    lead,
    off_target,
)
from narrows.testbed.papers.judge import judge, numbers_row
from narrows.testbed.papers.paper import Alternative, Assumption, Claim, Experiment, Paper
from narrows.testbed.papers.quantity import Quantity

RATE = Quantity("Rate", "Mb/s", lambda run: cast(Any, run.summary)["rate"])


def run(tcp: str, rate: float, seed: int = 1) -> Run:
    found = SimpleNamespace(
        point={"choice.tcp": tcp}, seed=seed, valid=True, summary={"rate": rate}
    )
    return cast(Run, found)


def runs(**rates: float) -> FinishedRuns:
    return FinishedRuns({"rates": [run(tcp, rate) for tcp, rate in rates.items()]})


CLAIM = Claim(
    "text",
    "Reno has 100 Mb/s.",
    ("rates",),
    lambda found: found.value(RATE, "rates", tcp="reno").mean >= 95,
    lambda found: "seen",
    tolerance="at most 5 % off",
    grade=lambda found: off_target([(found.value(RATE, "rates", tcp="reno").mean, 100)]),
    needs=("length",),
)
PAPER = Paper(
    "small",
    "A small paper",
    "Nobody, 2000",
    (Experiment("rates", "Rates", "x.toml", quick=(("duration", "2s"),)),),
    (),
    (CLAIM,),
    (),
)


@pytest.mark.parametrize(
    ("grade", "answer", "words"),
    [
        (Distance(2.31), "yes", "within 2.4 %"),
        (Distance(12.4), "no", "off by 12 %"),
        (Distance(11.87, POINTS), "no", "off by 12 percentage points"),
        (Distance(0.0), "yes", "within 0.1 %"),
        (Margin(3.96), "yes", "by a margin of 4 %"),
        (Margin(-7.2), "no", "off by 7.2 %"),
        (Margin(1.2), "open", "ahead by 1.2 %"),
        (Margin(0.0), "no", "a tie"),
        (Count(6, 8, "variants"), "no", "for 6 of 8 variants"),
    ],
)
def test_a_grade_says_how_far_it_is(grade: Grade, answer: str, words: str) -> None:
    assert grade.words(answer) == words


def test_a_lead_is_measured_to_the_nearest_other() -> None:
    values = {"a": Estimate(110, 0, 1), "b": Estimate(100, 0, 1), "c": Estimate(50, 0, 1)}
    assert lead(values, {"a"}).amount == pytest.approx(10)
    assert lead(values, {"a", "c"}).amount == pytest.approx(-50)
    assert lead(values, {"c"}, last=True).amount == pytest.approx(50)
    assert lead(values, {"b"}, last=True).amount == pytest.approx(-100)


def test_percentages_differ_by_percentage_points() -> None:
    row = numbers_row("text", "less time", "%", 12.0, Estimate(0.4, 0, 1), 1)
    assert row["difference_percent"] is None
    shown = reproduction.relative(None, row["difference"], row["difference_unit"])
    assert shown == "\N{MINUS SIGN}11.6 percentage points"
    assert reproduction.relative(3.04, 1.0, "s") == "+3.0 %"


def test_a_claim_has_its_verdict_and_grade() -> None:
    near = judge(PAPER, runs(reno=97), {}, quick=False)["claims"][0]
    assert (near["verdict"], near["grade"]) == ("holds", "within 3 %")
    far = judge(PAPER, runs(reno=88), {}, quick=False)["claims"][0]
    assert (far["verdict"], far["grade"]) == ("does not hold", "off by 12 %")


def test_a_quick_run_does_not_judge_by_length() -> None:
    claim = judge(PAPER, runs(reno=88), {}, quick=True)["claims"][0]
    assert claim["verdict"] == "not judged"
    assert claim["reason"] == "needs the full length, these runs have duration = 2s"
    assert (claim["grade"], claim["evidence"]) == ("", "seen")


def test_a_quick_run_judges_what_it_can() -> None:
    paper = replace(PAPER, claims=(replace(CLAIM, needs=("seeds",)),))
    assert judge(paper, runs(reno=97), {}, quick=True)["claims"][0]["verdict"] == "holds"


@pytest.mark.parametrize(("rate", "verdict"), [(97, "holds"), (88, "not judged")])
def test_a_settled_answer_is_judged_all_the_same(rate: float, verdict: str) -> None:
    """A start can only lower the mean rate: what holds in a short run holds in a long one."""
    paper = replace(PAPER, claims=(replace(CLAIM, settled="yes"),))
    claim = judge(paper, runs(reno=rate), {}, quick=True)["claims"][0]
    assert claim["verdict"] == verdict
    assert bool(claim["reason"]) is (verdict == "not judged")


def test_a_shortened_alternative_changes_no_verdict() -> None:
    """An alternative's runs of 1 s cannot decide what needs the full length."""
    experiment = replace(PAPER.experiments[0], sensitivity=(("duration", "1s"),))
    other = Assumption("queue", "1", "", (Alternative("2", {"rates": ()}),))
    paper = replace(PAPER, experiments=(experiment,), assumptions=(other,))
    under = {("queue", "2"): runs(reno=10)}
    claim = judge(paper, runs(reno=97), under, quick=False)["claims"][0]
    assert (claim["verdict"], claim["under"][0]["holds"]) == ("holds", "not judged")


def test_page_and_terminal_show_tolerance_and_grade(tmp_path: Path) -> None:
    content = judge(PAPER, runs(reno=88), {}, quick=False)
    page = reproduction.write(content, {}, tmp_path).read_text()
    assert "at most 5 % off" in page
    assert "does not hold: off by 12 %" in page
    cells = [next(iter(column.cells)) for column in claims_table("x", content["claims"]).columns]
    assert "(at most 5 % off)" in str(cells[0])
    assert "off by 12 %" in str(cells[1])


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_without_any_run_a_report_is_still_made(paper: Paper, tmp_path: Path) -> None:
    none = FinishedRuns({each.name: [] for each in paper.experiments})
    content = judge(paper, none, {}, quick=False)
    assert {claim["verdict"] for claim in content["claims"]} == {"not run"}
    assert reproduction.write(content, {}, tmp_path).is_file()


def test_the_page_says_why_a_claim_is_not_judged(tmp_path: Path) -> None:
    """In a column of its own, since a badge is not broken into lines."""
    content = judge(PAPER, runs(reno=88), {}, quick=True)
    assert reproduction.badge(content["claims"][0]).text == "not judged"
    page = reproduction.write(content, {}, tmp_path).read_text()
    assert "needs the full length, these runs have duration = 2s" in page


def test_seeds_and_points_are_named_as_reasons() -> None:
    shortened: list[tuple[str, Any]] = [("sweep.repeat", 2), ("sweep.choice.tcp", ["a"])]
    assert lacking(("seeds",), shortened) == "needs all seeds, these runs have 2"
    assert lacking(("points",), shortened) == "needs every value of choice.tcp"
    assert lacking(("length",), shortened) == ""


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_every_claim_declares_tolerance_and_grade(paper: Paper) -> None:
    for claim in paper.claims:
        assert claim.tolerance, claim.text
        assert claim.grade is not None, claim.text
        assert "taken as" not in claim.text


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_each_need_is_one_that_quick_shortens(paper: Paper) -> None:
    for claim in paper.claims:
        quick = [pair for name in claim.experiments for pair in paper.experiment(name).quick]
        for need in claim.needs:
            assert lacking((need,), quick), f"{claim.text}: --quick has the full {need}"
