"""The parts of a report: its sentences, the table of flows, results side by side, `runs.csv`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from narrows.analysis import compare, flow_rows, queue_rows, report, words
from narrows.analysis.figures.base import Results
from narrows.analysis.load import load
from narrows.analysis.page import Table
from tests.analysis.test_sweep_figures import flow, named, write


def results(directory: Path) -> Results:
    return Results(tuple(load(directory)))


@pytest.fixture
def rates(tmp_path: Path) -> Path:
    """Two rates; flows a and b deliver 3 and 1 Mb/s."""
    for rate in ("1Mbps", "2Mbps"):
        flows = [flow(1, "reno", 3), flow(2, "cubic", 1)]
        write(tmp_path / "x" / rate, {"bottleneck.rate": rate}, flows, flow=named("a", "b"))
    return tmp_path / "x"


def test_rows_have_swept_keys_names_and_numbers(rates: Path) -> None:
    table = flow_rows.frame(load(rates))
    wanted = ["bottleneck.rate", "flow", "name", "variant", "goodput_bps", "loss_percent"]
    assert table.select(wanted).rows() == [
        ("1Mbps", 1, "a", "reno", 3e6, 10.0), ("1Mbps", 2, "b", "cubic", 1e6, 10.0),
        ("2Mbps", 1, "a", "reno", 3e6, 10.0), ("2Mbps", 2, "b", "cubic", 1e6, 10.0),
    ]  # fmt: skip
    described = {*flow_rows.OF_RUN, *dict(flow_rows.OF_FLOW), "bottleneck.rate"}
    assert set(table.columns) == described


def test_a_run_is_told_in_sentences(tmp_path: Path) -> None:
    flows = [flow(1, "reno", 3), flow(2, "cubic", 1)]
    write(tmp_path / "x" / "one", {}, flows, flow=named("a", "b"))
    told = words.sentences(results(tmp_path / "x"))
    assert told == [
        "The link: goodput 4 Mb/s, link use 50 %, mean queueing delay 3 ms, loss 10 %.",
        "a: 1 flow, 75 % of the goodput (fair: 50 %).",
        "b: 1 flow, 25 % of the goodput (fair: 50 %).",
    ]


def test_results_are_compared_by_the_keys_that_differ(rates: Path, tmp_path: Path) -> None:
    """The second results have another buffer, and b delivers 3 Mb/s instead of 1."""
    for rate in ("1Mbps", "2Mbps"):
        flows = [flow(1, "reno", 3), flow(2, "cubic", 3)]
        write(tmp_path / "y" / rate, {"bottleneck.rate": rate}, flows, "2bdp", flow=named("a", "b"))
    section = compare.section([results(rates), results(tmp_path / "y")], report.flatten)
    _, keys, _, numbers = section.blocks
    assert isinstance(keys, Table) and isinstance(numbers, Table)
    assert [column.title for column in keys.columns] == ["Key", "x", "y"]
    assert keys.rows == [["bottleneck.queue", "1bdp", "2bdp"]]
    goodput = [row for row in numbers.rows if row[1] == "Goodput"]
    assert goodput == [
        [f"rate {rate}", "Goodput", "Mb/s", 4.0, 6.0, pytest.approx(50)]
        for rate in ("1 Mbps", "2 Mbps")
    ]


@pytest.mark.usefixtures("first_drawn")
def test_a_report_says_what_it_does_not_draw(rates: Path) -> None:
    for path in rates.glob("*/run.json"):
        record = json.loads(path.read_text())
        record["scenario"]["report"] = {"figures": ["share", "loss_sweep"]}
        path.write_text(json.dumps(record))
    report.write([rates], rates / "report.html")
    page = (rates / "report.html").read_text(encoding="utf-8")
    assert "loss_sweep not drawn: it needs a sweep over bottleneck.loss" in page
    assert 'data-name="share"' in page and "share not drawn" not in page


@pytest.mark.usefixtures("first_drawn")
def test_several_queues_have_rows_of_their_own(rates: Path) -> None:
    """The first run's port has two queues; a run lasts 10 s."""
    assert queue_rows.rows(load(rates)) == []
    [first, _] = load(rates)
    summary = json.loads((first.path / "summary.json").read_text())
    delay = {"mean": 1.5, "p95": 2.0, "max": 3.0}
    counts = {"enqueued": 9, "dequeued": 8, "queue_packets_mean": 0.5, "queue_packets_max": 4}
    summary["bottleneck"]["queues"] = [
        {"queue": 0, **counts, "dequeued_bytes": 12_500_000, "queue_delay_ms": delay,
         "drops": {"codel": 2, "queue-full": 1}, "marks": {"codel": 5}},
        {"queue": 1, **counts, "dequeued_bytes": 0, "queue_delay_ms": None, "drops": {},
         "marks": {}},
    ]  # fmt: skip
    (first.path / "summary.json").write_text(json.dumps(summary))
    mbps = 12_500_000 * 8 / summary["duration_s"] / 1e6
    reasons = "codel dropped 2, queue-full dropped 1, codel marked 5"
    assert queue_rows.rows(load(rates)) == [
        [first.name, 0, 9, mbps, 0.5, 4, 1.5, 2.0, 3.0, 3, 5, reasons],
        [first.name, 1, 9, 0.0, 0.5, 4, None, None, None, 0, 0, ""],
    ]
    assert "codel dropped 2" in report.page([results(rates)]).html()
