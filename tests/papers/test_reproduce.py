"""Reproductions: verdicts from answers, a small paper from end to end, the papers' declarations."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from narrows.analysis.estimate import Estimate, estimate, greater, without_extremes
from narrows.analysis.load import Run
from narrows.testbed.papers import PAPERS
from narrows.testbed.papers.execute import available, merged, reproduce
from narrows.testbed.papers.finished_runs import NotRunError, Values
from narrows.testbed.papers.judge import numbers_row, verdict
from narrows.testbed.papers.paper import (
    Alternative,
    Assumption,
    Claim,
    Curves,
    Experiment,
    Finding,
    Number,
    Paper,
    Table,
)
from narrows.testbed.papers.quantity import Quantity
from narrows.testbed.scenario import sweep
from tests.support.world import ROOT, narrows


@pytest.mark.parametrize(
    ("answers", "says", "depends"),
    [
        ({"": "yes"}, "holds", []),
        ({"": "no", "a: b": "no"}, "does not hold", []),
        ({"": "yes", "a: b": "yes", "c: d": "not run"}, "holds", []),
        ({"": "yes", "a: b": "no"}, "depends on the assumptions", ["a: b"]),
        ({"": "no", "a: b": "yes", "c: d": "no"}, "depends on the assumptions", ["a: b"]),
        ({"": "open", "a: b": "open"}, "open: within the runs' spread", []),
        ({"": "open", "a: b": "yes"}, "open: within the runs' spread", ["a: b"]),
        ({"": "not run", "a: b": "yes"}, "not run", []),
    ],
)
def test_a_verdict_is_what_all_answers_say(
    answers: dict[str, str], says: str, depends: list[str]
) -> None:
    assert verdict(answers) == (says, depends)


def test_a_value_that_no_run_has_is_not_run() -> None:
    """A failed run leaves a claim open, and the report is still written."""
    values = Values({"a": Estimate(1.0, 0.0, 1)})
    assert values["a"].mean == 1.0
    with pytest.raises(NotRunError, match="no run at b"):
        values["b"]


def test_an_interval_is_students() -> None:
    """Of 1, 2 and 3: mean 2, deviation 1, and 4.303 of the printed table over the root of 3."""
    found = estimate([1.0, 2.0, 3.0])
    assert (found.mean, found.runs) == (2.0, 3)
    assert found.half_width == pytest.approx(4.303 / math.sqrt(3))
    assert estimate([5.0]) == Estimate(5.0, 0.0, 1)
    # The paper's five runs: the smallest and the largest do not count.
    assert without_extremes([100.0, 3.0, 1.0, 2.0, -50.0]) == found
    assert greater(Estimate(5, 1, 3), Estimate(3, 0.5, 3)) is True
    assert greater(Estimate(3, 0.5, 3), Estimate(5, 1, 3)) is False
    assert greater(Estimate(5, 1, 3), Estimate(4, 0.5, 3)) is None


def test_a_difference_is_ours_less_the_papers() -> None:
    row = numbers_row("T1", "x", "kb/s", 200.0, Estimate(150.0, 2.0, 5), 1)
    assert (row["difference"], row["difference_percent"]) == (-50.0, -25.0)
    assert numbers_row("T1", "x", "kb/s", 200.0, None, 1)["ours"] is None


SCENARIO = """
title = "Two variants through 4 Mb/s"
duration = "2s"
[bottleneck]
rate = "4Mbps"
delay = "5ms"
queue = "20packets"
counts = "ip"
[record]
flows = "100ms"
[[flow]]
variant = "reno"
[choice.tcp]
reno = {}
cubic = { "flow.variant" = "cubic" }
none = { "flow.variant" = "not-in-this-build" }
[sweep]
"choice.tcp" = ["reno", "cubic", "none"]
repeat = 2
"""


def goodput_mbps(run: Run) -> float:
    return float(run.summary["aggregate_goodput_bps"]) / 1e6


def cwnd(run: Run) -> tuple[list[float], list[float]]:
    table = run.table("flows").collect()
    return (table["time_ps"] / 1e12).to_list(), table["cwnd_bytes"].to_list()


GOODPUT = Quantity("Goodput", "Mb/s", goodput_mbps, 2)


def small(scenario: Path) -> Paper:
    return Paper(
        name="small",
        title="A small paper",
        reference="Nobody: Nothing, 2000",
        experiments=(
            Experiment(
                "rates", "Goodput", str(scenario), quick=(("sweep.repeat", 1),),
                optional=("choice.tcp",), figures=("cwnd",),
            ),
        ),
        tables=(
            Table(
                "rates", "Goodput", "Table 1", "rates", GOODPUT, "choice.tcp", None,
                {"reno": 4.0, "cubic": 2.0, "none": 1.0}, "bars",
            ),
        ),
        curves=(
            Curves("cwnd", "Window", "Fig. 1", "rates", "choice.tcp", {}, "s", "bytes", cwnd),
        ),
        numbers=(
            Number("text", "Reno", "Mb/s", 5.0, "rates",
                   lambda found: found.value(GOODPUT, "rates", tcp="reno")),
        ),
        claims=(
            Claim(
                "text", "More than 2 Mb/s pass.", ("rates",),
                lambda found: found.value(GOODPUT, "rates", tcp="reno").mean > 2,
                lambda found: str(found.value(GOODPUT, "rates", tcp="reno").mean),
            ),
            Claim(
                "text", "The absent one is best.", ("rates",),
                lambda found: found.value(GOODPUT, "rates", tcp="none").mean > 2,
                lambda found: "",
            ),
        ),
        assumptions=(
            Assumption(
                "the rate", "4 Mb/s", "not stated",
                (Alternative("1 Mb/s", {"rates": (("bottleneck.rate", "1Mbps"),)}),),
            ),
        ),
        findings=(Finding("Why", "Because.", ("rates",), lambda found: "so"),),
    )  # fmt: skip


def test_a_small_paper_from_end_to_end(tmp_path: Path) -> None:
    scenario = tmp_path / "rates.toml"
    scenario.write_text(SCENARIO)
    paper = small(scenario)
    done = reproduce(paper, tmp_path / "out", 2, quick=False)
    assert not done.failed
    content = json.loads((tmp_path / "out/small/reproduce.json").read_text())
    assert content == json.loads(json.dumps(done.content))

    experiment = content["experiments"][0]
    assert (experiment["runs"], experiment["valid"]) == (4, 4)
    assert [gone["value"] for gone in experiment["missing"]] == ["none"]
    assert "is an unknown variant" in experiment["missing"][0]["why"]

    # 4 Mb/s of IP packets of 1,500 B carry at most 1448/1500 of payload; 1 Mb/s a quarter.
    numbers = {row["what"]: row for row in content["numbers"]}
    assert 2.5 < numbers["tcp reno"]["ours"] < 4 * 1448 / 1500
    assert numbers["tcp reno"]["runs"] == 2
    assert numbers["tcp none"]["ours"] is None
    assert numbers["Reno"]["ours"] == numbers["tcp reno"]["ours"]
    effects = {
        each["what"]: each for each in content["assumptions"][0]["alternatives"][0]["effects"]
    }
    assert effects["tcp reno"]["value"] < 1448 / 1500

    first, second = content["claims"]
    assert (first["verdict"], first["depends_on"]) == (
        "depends on the assumptions", ["the rate: 1 Mb/s"],
    )  # fmt: skip
    assert second["verdict"] == "not run"

    page = done.report.read_text()
    for text in (
        "A small paper",
        "depends on the assumptions",
        "More than 2 Mb/s pass.",
        "Because.",
    ):
        assert text in page
    figures = {path.name for path in (tmp_path / "out/small/figures").iterdir()}
    assert figures == {"rates.pdf", "cwnd.pdf", "rates-cwnd.pdf"}
    assert all(path.read_bytes()[:5] == b"%PDF-" for path in
               (tmp_path / "out/small/figures").iterdir())  # fmt: skip

    # It continues where it stopped: existing runs are not repeated.
    stamps = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("run.json")}
    assert len(stamps) == 8
    gone = next(iter(stamps)).parent
    for path in gone.iterdir():
        path.unlink()
    gone.rmdir()
    assert reproduce(paper, tmp_path / "out", 2, quick=False).content == done.content
    again = {path for path, stamp in stamps.items() if path.stat().st_mtime_ns != stamp}
    assert again == {gone / "run.json"}


def test_an_unknown_paper_is_refused() -> None:
    done = narrows("reproduce", "gital-2015")
    assert done.returncode == 2
    assert 'is an unknown paper; did you mean "gital-2014"?' in done.stderr


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_a_papers_declaration_fits_its_scenarios(paper: Paper) -> None:
    """Experiments are readable, also shortened and under every alternative, and each printed number
    belongs to a point of its experiment.
    """
    names = [experiment.name for experiment in paper.experiments]
    assert len(set(names)) == len(names)
    used = {table.experiment for table in paper.tables}
    used |= {name for claim in paper.claims for name in claim.experiments}
    used |= {name for finding in paper.findings for name in finding.experiments}
    used |= {each.experiment for each in paper.curves}
    used |= {number.experiment for number in paper.numbers}
    assert used <= set(names)
    for experiment in paper.experiments:
        for settings in variations(paper, experiment):
            source = ROOT / "scenarios" / experiment.scenario
            for key in experiment.optional:
                present, _ = available(source, key, settings)
                assert present, f"{experiment.name}: this build has no value of {key}"
                settings = merged(settings, ((f"sweep.{key}", present),))
            read = sweep.read(source, merged(settings, (("sweep.repeat", 1),)))
            assert read, experiment.name
    for table in paper.tables:
        experiment = paper.experiment(table.experiment)
        if not experiment.optional:
            check_published(table, experiment)


def variations(paper: Paper, experiment: Experiment) -> list[Any]:
    """An experiment's settings: in full, quick, and under each alternative."""
    found = [experiment.settings, merged(experiment.settings, experiment.quick)]
    for assumption in paper.assumptions:
        for alternative in assumption.alternatives:
            assert set(alternative.settings) <= {each.name for each in paper.experiments}
            if experiment.name in alternative.settings:
                own = alternative.settings[experiment.name]
                found.append(merged(experiment.settings, experiment.sensitivity, own))
    return found


def check_published(table: Table, experiment: Experiment) -> None:
    """Every printed number belongs to a point of the sweep."""
    settings = merged(experiment.settings, (("sweep.repeat", 1),))
    read = sweep.read(ROOT / "scenarios" / experiment.scenario, settings)
    have = [point.values for point in read]
    for row, columns in table.published.items():
        wanted: list[dict[str, Any]] = [{table.rows: row}]
        if table.columns:
            wanted = [{table.rows: row, table.columns: column} for column in columns]
        for point in wanted:
            found = any(point.items() <= values.items() for values in have)
            assert found, f"{table.name}: no run at {point}"


def test_the_declaration_check_can_fail() -> None:
    table = PAPERS[0].tables[0]
    wrong = replace(table, published={"tahoe": {"300": 1.0}})
    with pytest.raises(AssertionError, match="no run at"):
        check_published(wrong, PAPERS[0].experiment(table.experiment))
