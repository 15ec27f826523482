"""The validation table: every record has a row, every check of one flow holds, reasons are used."""

from __future__ import annotations

import pytest

from narrows.testbed import catalogue
from tests.validation import cases, sanity
from tests.validation.against_ns2 import Comparison, judge
from tests.validation.cases import Events, Recorded
from tests.validation.disciplines import alone
from tests.validation.named import matching_tests, owner
from tests.validation.reasons import REASONS
from tests.validation.sections import SECTIONS
from tests.validation.table import Cell, Column, Section, conclusion, failures, render

ROWS = ("variants", "senders", "recoveries", "agents", "disciplines")

SINGLE = [setup for setup in cases.SETUPS if setup.flows == 1]


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return Comparison({source.name: source for source in cases.agents()}, SINGLE)


@pytest.mark.parametrize("source", [source.name for source in cases.agents()])
def test_a_source_does_what_ns2s_does(comparison: Comparison, source: str) -> None:
    """Chosen losses and a saturated path; `make validate` has more flows besides."""
    cells = [column.cell(source) for column in comparison.columns()]
    assert [cell for cell in cells if cell is None or not cell.ok] == []


def test_the_document_has_a_row_for_every_record() -> None:
    text = (cases.ROOT / "docs/reports/validation.md").read_text()
    names = [r["name"] for kind in ROWS for r in records(kind)]
    assert [name for name in names if f"| `{name}` |" not in text] == []


def test_every_discipline_was_checked_and_each_test_exists() -> None:
    cells = {row: [column.cell(row) for column in alone.columns()] for row in alone.ROWS}
    assert [row for row, found in cells.items() if not any(found)] == []
    there = {test for file in alone.SHARED_IN for _, test in matching_tests(file)}
    assert set(alone.SHARED) <= there


def test_the_list_of_variants_shows_how_each_was_checked() -> None:
    checked = catalogue.checks("variant")
    assert checked["bbr3"] == ["behaviour on a path", "Jain, 4 alike", "rate ~ RTT^-a"]
    assert "arithmetic" in checked["dctcp"]
    # Shown in brackets, without a requirement.
    assert "Jain, 4 alike" not in checked["circuit"]
    assert set(catalogue.checks("recovery")) == {r["name"] for r in records("recoveries")}


@pytest.mark.parametrize(
    ("column", "variant"),
    [
        ("Jain, 4 alike", "reno"),
        ("rate ~ RTT^-a", "cubic"),
        ("share beside Reno", "hstcp"),
        ("share beside Reno", "ledbat"),
        ("queued per flow (1, 2, 4)", "vegas"),
    ],
)
def test_a_shared_path_is_shared_as_its_paper_says(column: str, variant: str) -> None:
    """The quick ones; `make validate` has every variant, and windows against losses besides."""
    (check,) = (check for check in sanity.COLUMNS if check.title == column)
    cell = check.cell(variant)
    assert cell is not None and cell.ok, cell


def records(kind: str) -> tuple[catalogue.NamedRecord, ...]:
    return catalogue.records(kind)


def test_a_reason_is_for_a_source_that_is_compared() -> None:
    sources = {source.name for source in [*cases.agents(), *cases.modules()]}
    assert {key.split(": ")[0] for key in REASONS} <= sources
    assert [section.title for section in SECTIONS if not section.rows] == []


def flow(acked: int, cut_at: float = 1.0, window: float = 15.0) -> Events:
    return Events(acked, [(cut_at, window)], [], [cut_at], 15)


@pytest.mark.parametrize(
    ("ours", "ok", "says"),
    [
        (flow(1000), True, "same (1000/1/0/1)"),
        (flow(1000, cut_at=1.0019), True, "same (1000/1/0/1)"),
        (flow(1000, cut_at=1.0021), False, "+0.00% (1000/1/0/1; ns-2 1000/1/0/1)"),
        (flow(1000, window=15.02), False, "+0.00% (1000/1/0/1; ns-2 1000/1/0/1)"),
        (flow(1001), True, "same (1001/1/0/1)"),
        (flow(1002), False, "+0.20% (1002/1/0/1; ns-2 1000/1/0/1)"),
    ],
)
def test_one_flow_is_held_to_every_event(ours: Events, ok: bool, says: str) -> None:
    theirs = Recorded([1000, 1, 0, 1], flow(1000))
    assert judge("nobody: lose 1", [ours], theirs) == Cell(says, ok)


def test_several_flows_are_held_to_one_per_cent_or_have_a_reason() -> None:
    theirs = Recorded([2000, 2, 0, 2], None)
    assert judge("nobody: 2 flows", [flow(1009), flow(1010)], theirs).ok
    assert not judge("nobody: 2 flows", [flow(1010), flow(1011)], theirs).ok
    assert judge("Agent/TCP/Fack: 2 flows", [flow(1020), flow(1020)], theirs).note


def test_a_trace_of_ns2_is_read_as_events() -> None:
    text = """\
0.00000  0  0  1  0  cwnd_ 1.000
0.00000  0  0  1  0  ncwndcuts_ 0
0.70968  0  0  1  0  ncwndcuts_ 1
0.70968  0  0  1  0  cwnd_ 15.000
0.70968  0  0  1  0  nrexmitpack_ 1
1.01200  0  0  1  0  nrexmit_ 1
1.01200  0  0  1  0  ncwndcuts_ 2
1.01200  0  0  1  0  ssthresh_ 7
"""
    assert cases.read_trace(text, 1) == [Events(0, [(0.70968, 15.0)], [1.012], [0.70968], 7)]


def test_a_test_belongs_to_the_first_name_that_it_bears() -> None:
    names = ["reno", "aimd-fc", "aimd-fc-plus", "newreno"]
    assert owner("aimd_fc_plus_settles_at_nine_tenths", names) == "aimd-fc-plus"
    assert owner("aimd_fc_for_w_100", names) == "aimd-fc"
    assert owner("newreno_halves_against_reno", names) == "newreno"
    assert owner("aimd_for_w_100", names) is None


def section_of(**cells: Cell) -> Section:
    return Section("T", "text", "row", list(cells), [Column("check", cells.get)])


def test_a_failed_cell_is_bold_and_reported() -> None:
    section = section_of(a=Cell("1", True), b=Cell("2", False))
    assert failures(section) == ["T: b: check: 2"]
    assert "| `a` | 1 |\n| `b` | **2** |" in render(section)


def test_cells_with_equal_notes_share_a_number() -> None:
    text = render(section_of(a=Cell("1", True, "why"), b=Cell("2", True, "why")))
    assert "| `a` | 1 [1] |\n| `b` | 2 [1] |" in text
    assert text.count("why") == 1


def test_the_document_begins_with_the_count_of_its_checks() -> None:
    text = (cases.ROOT / "docs/reports/validation.md").read_text(encoding="utf-8")
    assert text.split("\n\n")[1] == conclusion(text)


def test_a_failed_check_is_counted() -> None:
    assert conclusion("| `a` | 1 | **2** |\n| `b` |  | (3) |").endswith(
        "2 checks: 1 failed; its cell is bold."
    )
