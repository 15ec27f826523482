"""The report: one complete page without external resources."""

from __future__ import annotations

import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest

from narrows.analysis.figures import FIGURES
from narrows.analysis.load import LoadError, load
from narrows.analysis.page.blocks import inline_svg
from narrows.analysis.report import flatten, write
from tests.support.analysis_runs import OF_OTHER_SWEEPS, write_run, write_sweep

VOID = {"meta", "br", "hr", "img", "link", "input"}


class Page(HTMLParser):
    """Tags with their attributes, the open ones, and the text of each tag."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text: dict[str, list[str]] = {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and data.strip():
            self.text.setdefault(self.open[-1], []).append(data.strip())


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("results")
    return write_sweep(root / "toy", (1, 2), segments=60, rate_bps=250_000)


@pytest.fixture(scope="module")
def page(results: Path) -> str:
    out = results.parent / "report.html"
    write([results], out)
    return out.read_text(encoding="utf-8")


def test_it_is_well_formed(page: str) -> None:
    assert page.startswith("<!doctype html>")
    assert Page(page).open == []


def test_it_asks_for_nothing_outside(page: str) -> None:
    """Every address is on the page itself; names of XML namespaces are not addresses."""
    for tag, attributes in Page(page).tags:
        assert tag not in ("link", "iframe", "object", "embed", "base")
        for name in ("src", "href", "xlink:href", "srcset", "action", "data"):
            assert (attributes.get(name) or "#").startswith("#"), (tag, attributes)
    without_scripts = re.sub(r"<script>.*?</script>", "", page, flags=re.S)
    assert all(match.startswith("#") for match in re.findall(r"url\(([^)]*)", without_scripts))
    assert "@import" not in without_scripts
    assert "default-src 'none'" in page


def test_ids_are_unique(page: str) -> None:
    ids = Counter(attributes["id"] for _, attributes in Page(page).tags if "id" in attributes)
    # matplotlib repeats the definition of a glyph that it uses again, in the same words.
    again = {name for name, times in ids.items() if times > 1 and "DejaVu" not in str(name)}
    assert not again


def test_what_the_scenario_says_is_text_not_markup(page: str) -> None:
    assert "A toy <sweep>" not in page
    assert "A toy &lt;sweep&gt; of two variants" in page


def test_it_holds_every_run_and_every_figure(page: str, results: Path) -> None:
    found = Page(page)
    shown = [attributes["data-name"] for tag, attributes in found.tags if tag == "figure"]
    assert shown == [figure.name for figure in FIGURES if figure.name not in OF_OTHER_SWEEPS]
    assert sum(tag == "svg" for tag, _ in found.tags) == len(shown)
    for run in load(results):
        assert run.name in found.text["code"]
    assert "all runs are valid" in found.text["span"]


def test_its_numbers_are_the_summaries(page: str, results: Path) -> None:
    rows = re.findall(r"<tr><td.*?</tr>", page)
    for run, row in zip(load(results), rows, strict=False):
        values = [float(value) for value in re.findall(r'data-value="([^"]+)"', row)]
        delay_ms = run.summary["bottleneck"]["queue_delay_ms"]
        assert delay_ms is not None
        assert values[:2] == [run.seed, len(run.flows)]
        assert values[8:11] == [delay_ms["mean"], delay_ms["p95"], delay_ms["max"]]


def test_it_depends_on_the_runs_alone(page: str, results: Path, tmp_path: Path) -> None:
    write([results], tmp_path / "again.html")
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == page


@pytest.mark.usefixtures("first_drawn")
def test_invalid_runs_are_named_with_their_reason(tmp_path: Path) -> None:
    write_run(tmp_path / "toy" / "good", {"flow.count": 1}, flows=1, segments=40)
    write_run(tmp_path / "toy" / "bad", {"flow.count": 2}, segments=40, valid=False)
    write([tmp_path / "toy"], tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "1 run of 2 invalid" in page
    assert "<code>bad</code>: stopped at the limit of 3600 s" in page


@pytest.mark.usefixtures("first_drawn")
def test_several_scenarios_and_single_runs(results: Path, tmp_path: Path) -> None:
    single = write_run(tmp_path / "one" / "seed=1", {"seed": 1}, segments=40)
    write([results, single], tmp_path / "report.html")
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    titles = [run.title for run in (load(results)[0], load(single)[0])]
    assert page.text["h2"] == ["Side by side", *titles, "Definitions"]
    assert page.text["h3"].count("What was run") == 2


def test_the_figures_are_those_the_scenario_names(tmp_path: Path) -> None:
    path = write_run(tmp_path / "one" / "seed=1", {"seed": 1}, segments=40) / "run.json"
    record = json.loads(path.read_text())
    record["scenario"]["report"] = {"figures": ["cwnd", "of an older version"]}
    path.write_text(json.dumps(record))
    write([tmp_path / "one"], tmp_path / "report.html")
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert page.text["h3"] == ["Congestion window over time"]


def test_what_cannot_be_read_is_an_error_and_no_page(tmp_path: Path) -> None:
    with pytest.raises(LoadError):
        write([tmp_path], tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


def test_flatten() -> None:
    scenario = {"a": {"b": 1, "none": None}, "flow": [{"x": 1}], "host": [{"n": 1}, {"n": 2}]}
    assert flatten(scenario | {"list": [1, 2]}) == {
        "a.b": 1,
        "flow.x": 1,
        "host.0.n": 1,
        "host.1.n": 2,
        "list": [1, 2],
    }


def test_a_figure_takes_the_pages_colours_and_its_own_ids() -> None:
    svg = (
        '<?xml version="1.0"?><svg width="1pt" viewBox="0 0 72 36" version="1.1">'
        '<metadata>x</metadata><path id="p" d="M 1.23456 2 L 1.2346 3 L 5 3 z" '
        'style="stroke: #004488"/>'
        '<use href="#p" transform="scale(0.015625)" clip-path="url(#c)"/></svg>'
    )
    assert inline_svg(svg, "f", "A & B") == (
        '<svg viewBox="0 0 72 36" role="img" aria-label="A &amp; B">'
        '<path id="f-p" d="M1.2 2.0V3.0H5.0z" style="stroke:var(--s0)"/>'
        '<use href="#f-p" transform="scale(0.015625)" clip-path="url(#f-c)"/></svg>'
    )


def test_a_page_is_below_3_mb(page: str) -> None:
    assert len(page.encode()) < 3_000_000
