"""Pages of results: their blocks as HTML, and their behaviour in a browser."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from selenium import webdriver

from narrows.analysis.chart.model import Axis, Cells, Chart, Look, Panel, Rule, Trace, from_zero
from narrows.analysis.page import (
    Alert,
    Badge,
    Block,
    Code,
    Column,
    Details,
    Lines,
    Page,
    Plot,
    Section,
    Table,
    Text,
    Values,
    Verdict,
)
from narrows.analysis.page.blocks import Writing
from narrows.analysis.report import write
from tests.support.analysis_runs import write_sweep
from tests.support.browser import browser, needs_chromium, resize, show, wait


def lines(name: str, slope: float, index: int) -> Trace:
    x = np.arange(5.0)
    return Trace(x, slope * x, Look(index, marker="filled"), name)


TWO_LINES = Chart(
    [
        Panel([lines("slow", 1, 0), lines("fast", 2, 1), Rule(y=3.0, name="limit")], "one"),
        Panel([lines("slow", 3, 0), lines("fast", 4, 1)], "two <b>"),
    ],
    Axis("Time (s)"),
    from_zero("Rate (Mb/s)"),
    columns=2,
)
SHARES = np.array([[0.0, 0.5], [np.nan, 1.0]])
MAP = Chart(
    [Panel([Cells(["a", "b"], ["c", "d"], SHARES, (0, 1), "share")])],
    Axis(pad=(0, 0), ticks=[(0, "a"), (1, "b")]),
    Axis(pad=(0, 0), ticks=[(0, "c"), (1, "d")], reverse=True),
)
TABLE = Table(
    [Column("Name"), Column("Goodput", "Mb/s", 1), Column("Difference", "%", 1, sign=True)],
    [["ten", 10.0, -1.25], ["two", 2.0, 3.0], ["none", None, 0.0]],
)
PAGE = Page(
    "A <page>",
    "With `code`.",
    [
        Section("Words", [Text("One & two."), Lines(["a", "b"]), Values({"rate": "5Mbps"})]),
        Section("Claims", [
            Badge(Verdict.HOLDS), Badge(Verdict.DEPENDS, "on the buffer"),
            Alert("Mind", "the gap.", ["here"]), Details("more", [Text("inside")]), TABLE,
        ]),
        Section("Charts", [Plot("two_lines", "Two", "Read it.", TWO_LINES),
                           Section("A map", [Plot("map", "Map", "Cells.", MAP)])]),
    ],
)  # fmt: skip


def test_text_is_text_and_backticks_are_code() -> None:
    html = PAGE.html()
    assert "<title>A &lt;page&gt;</title>" in html
    assert "<code>code</code>" in html and '<p class="">One &amp; two.</p>' in html


@pytest.mark.parametrize(
    "block",
    [
        Text("<b>"), Lines(["<b>"]), Alert("<b>", "<b>", ["<b>"]), Details("<b>", [Text("<b>")]),
        Values({"<b>": ["<b>"]}), Badge(Verdict.HOLDS, "<b>"), Section("<b>", [Text("<b>")]),
        Table([Column("<b>", "<b>")], [["<b>"], [Code("<b>")], [None]], "<b>"),
        Plot("<b>", "<b>", "<b>", MAP),
    ],
    ids=lambda block: type(block).__name__,
)  # fmt: skip
def test_markup_in_a_block_is_text(block: Block) -> None:
    html = block.html(Writing())
    assert "&lt;b&gt;" in html and "<b>" not in html


def test_a_page_without_charts_is_small() -> None:
    assert len(Page("t", "", [Section("s", [TABLE])]).html()) < 20_000


def test_a_number_cell_shows_its_sign_and_sorts_by_its_value() -> None:
    html = TABLE.html(Writing())
    assert '<td data-value="-1.25">\N{MINUS SIGN}1.2</td>' in html
    assert '<td data-value="3.0">+3.0</td>' in html
    assert '<td data-value="">\N{EN DASH}</td>' in html


def test_a_verdict_is_told_by_word_and_sign_besides_its_colour() -> None:
    cells = {verdict: Badge(verdict).cell() for verdict in Verdict}
    assert cells[Verdict.HOLDS] == '<span class="badge good"><i>✓</i> holds</span>'
    assert len({cell.split("<i>")[1][0] for cell in cells.values()}) == len(Verdict)


def test_a_row_must_fit_its_columns() -> None:
    with pytest.raises(ValueError, match="has 1 values; expected 2, one per column"):
        Table([Column("a"), Column("b")], [[Code("x")]]).html(Writing())


def test_two_plots_of_one_name_have_ids_of_their_own() -> None:
    writing = Writing()
    plot = Plot("p", "P", "", TWO_LINES)
    assert 'id="p"' in plot.html(writing) and 'id="p-2"' in plot.html(writing)


# In a browser


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("pages")
    PAGE.write(root / "page.html")
    write([write_sweep(root / "toy", (1, 2), segments=60)], root / "report.html")
    return root


@pytest.fixture(scope="module")
def chromium(pages: Path) -> Iterator[webdriver.Chrome]:
    with browser(pages) as driver:
        yield driver


def said(driver: webdriver.Chrome) -> list[str]:
    """The messages on the console."""
    return [str(entry["message"]) for entry in driver.get_log("browser")]  # type: ignore[no-untyped-call]


PLOT = "document.querySelector('#two-lines .screen')"


def ask(driver: webdriver.Chrome, script: str) -> Any:
    return driver.execute_script(f"return {script}")


@needs_chromium
@pytest.mark.parametrize("name", ["page", "report"])
def test_every_chart_is_drawn_and_the_console_stays_silent(
    chromium: webdriver.Chrome, pages: Path, name: str
) -> None:
    resize(chromium, 1200, 900)
    show(chromium, pages / f"{name}.html")
    assert said(chromium) == []
    marks = "'.screen .scatterlayer path, .screen .heatmaplayer image'"
    count = f"figure => figure.querySelectorAll({marks}).length"
    drawn = ask(chromium, f"[...document.querySelectorAll('figure')].map({count})")
    assert drawn and min(drawn) > 0


@needs_chromium
def test_a_chart_shows_its_numbers(chromium: webdriver.Chrome, pages: Path) -> None:
    show(chromium, pages / "page.html")
    data = ask(
        chromium, "document.querySelector('#two-lines .screen').data.map(t => [t.name, t.y])"
    )
    assert data[1] == ["fast", [0, 2, 4, 6, 8]]
    # One pair of ends for both panels, from a little below 0 to a little above 16.
    ends = ask(chromium, f"{PLOT}.layout.yaxis2.range")
    assert ends == [pytest.approx(-0.03 * 16), pytest.approx(1.05 * 16)]


@needs_chromium
def test_a_series_is_switched_off_and_on_in_every_panel(
    chromium: webdriver.Chrome, pages: Path
) -> None:
    show(chromium, pages / "page.html")
    visible = f"{PLOT}.data.map(trace => [trace.name, trace.visible])"
    click = "document.querySelectorAll('#two-lines .legend button')[1].click()"
    assert (
        ask(chromium, "document.querySelector('#two-lines .legend').textContent") == "slowfastlimit"
    )
    ask(chromium, click)
    wait(chromium, lambda: ["fast", False] in ask(chromium, visible))
    assert ask(chromium, visible).count(["fast", False]) == 2
    assert ask(chromium, visible).count(["slow", True]) == 2
    ask(chromium, click)
    wait(chromium, lambda: ["fast", False] not in ask(chromium, visible))


@needs_chromium
def test_a_table_sorts_by_a_click_on_a_head(chromium: webdriver.Chrome, pages: Path) -> None:
    show(chromium, pages / "page.html")
    names = "[...document.querySelectorAll('tbody tr')].map(row => row.cells[0].textContent)"
    for head, order in ((1, ["two", "ten", "none"]), (1, ["ten", "two", "none"]),
                        (2, ["ten", "none", "two"]), (0, ["none", "ten", "two"])):  # fmt: skip
        ask(chromium, f"document.querySelectorAll('thead button')[{head}].click()")
        assert ask(chromium, names) == order


@needs_chromium
def test_a_figure_is_saved_as_svg_and_its_data_as_csv(
    chromium: webdriver.Chrome, pages: Path
) -> None:
    show(chromium, pages / "page.html")
    for kind in ("svg", "csv"):
        ask(chromium, f"document.querySelector('#two-lines [data-save={kind}]').click()")
        wait(chromium, (pages / f"two_lines.{kind}").is_file)
    svg = (pages / "two_lines.svg").read_text()
    assert svg.startswith("<svg") and "var(" not in svg and "#004488" in svg
    rows = list(csv.DictReader((pages / "two_lines.csv").read_text().splitlines()))
    assert rows[6] == {
        "panel": "one", "series": "fast", "Time (s)": "1", "Rate (Mb/s)": "2", "low": "",
        "high": "", "point": "",
    }  # fmt: skip
    assert len(rows) == 20


@needs_chromium
def test_a_map_is_saved_cell_by_cell(chromium: webdriver.Chrome, pages: Path) -> None:
    show(chromium, pages / "page.html")
    ask(chromium, "document.querySelector('#map [data-save=csv]').click()")
    wait(chromium, (pages / "map.csv").is_file)
    assert (pages / "map.csv").read_text().splitlines() == [
        "panel,row,column,share", ",c,a,0", ",c,b,0.5", ",d,a,", ",d,b,1",
    ]  # fmt: skip


@needs_chromium
def test_light_and_dark(chromium: webdriver.Chrome, pages: Path) -> None:
    show(chromium, pages / "page.html")
    line = f"{PLOT}.data[0].line.color"
    paper = "getComputedStyle(document.querySelector('figure')).backgroundColor"
    assert (ask(chromium, line), ask(chromium, paper)) == ("rgb(0, 68, 136)", "rgb(255, 255, 255)")
    ask(chromium, "document.querySelector('#theme').click()")
    wait(chromium, lambda: ask(chromium, line) == "rgb(110, 168, 230)")
    assert ask(chromium, paper) == "rgb(22, 25, 30)"


@needs_chromium
def test_a_phone_has_one_panel_beside_the_other_nowhere(
    chromium: webdriver.Chrome, pages: Path
) -> None:
    resize(chromium, 390, 800, mobile=True)
    for name in ("page", "report"):
        show(chromium, pages / f"{name}.html")
        assert ask(chromium, "document.documentElement.scrollWidth") == 390
    show(chromium, pages / "page.html")
    domains = ask(chromium, f"['xaxis', 'xaxis2'].map(axis => {PLOT}.layout[axis].domain)")
    assert domains == [[0, 1], [0, 1]]
    resize(chromium, 1200, 900)


@needs_chromium
def test_print_has_the_figures_as_on_paper(chromium: webdriver.Chrome, pages: Path) -> None:
    show(chromium, pages / "page.html")
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    shown = (
        "[...document.querySelectorAll('figure > div')].map(e => [e.className, e.offsetHeight > 0])"
    )
    on_paper = ask(chromium, shown)
    folded = "[...document.querySelectorAll('summary, details *')].map(e => e.offsetHeight > 0)"
    unfolded = ask(chromium, folded)
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert [name for name, visible in on_paper if visible] == ["paper", "paper"]
    assert unfolded and all(unfolded)
