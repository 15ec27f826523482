"""The site's pages: each is in the navigation, and all links are valid."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from narrows.analysis.figures import FIGURES
from narrows.testbed import catalogue
from narrows.testbed.scenario import sweep
from narrows.testbed.site import __main__ as site
from narrows.testbed.site.gallery import GALLERY, SOURCES, figure_page
from narrows.testbed.site.links import anchors, rewritten, targets
from narrows.testbed.site.nav import MADE, nav, pages, section_pages
from narrows.testbed.site.runs import Shown
from narrows.testbed.site.variants import Validation, parts
from tests.support.world import ROOT

DOCUMENTS = [page for page in pages(ROOT) if not page.startswith(MADE)]


@pytest.mark.parametrize("page", DOCUMENTS)
def test_every_link_of_a_page_leads_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for path, anchor in targets(page, text):
        found = ROOT / path
        assert found.exists(), f"{page}: {path} does not exist"
        if anchor and path.endswith(".md"):
            known = anchors(found.read_text(encoding="utf-8"))
            assert anchor in known, f"{page}: {path} has no heading #{anchor}"


def test_every_document_is_in_the_navigation() -> None:
    written = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/**/*.md")}
    assert written <= set(DOCUMENTS)


def test_a_sections_pages_are_sorted_by_name(tmp_path: Path) -> None:
    for name in ("reno-rbp", "reno", "vegas"):
        (tmp_path / f"{name}.md").touch()
    assert section_pages(tmp_path, ("reno.md", "*.md")) == ["reno.md", "reno-rbp.md", "vegas.md"]
    assert section_pages(tmp_path, ("*.md",)) == ["reno.md", "reno-rbp.md", "vegas.md"]


def test_a_page_is_in_the_navigation_once() -> None:
    assert len(DOCUMENTS) == len(set(DOCUMENTS))
    assert nav(ROOT)[0] == {"Narrows": "README.md"}


def test_a_link_to_a_source_leads_to_the_repository() -> None:
    text = "See [it](../p4/v1model.p4), [that](b.md#x), `[no](c)` and [far](https://a.b)."
    known = {"docs/b.md"}
    there = rewritten("docs/a.md", text, known, "https://host/blob/main")
    assert "[it](https://host/blob/main/p4/v1model.p4)" in there
    assert "[that](b.md#x), `[no](c)` and [far](https://a.b)" in there
    assert rewritten("docs/a.md", text, known, "").startswith("See it, [that]")


def test_the_gallery_has_every_figure() -> None:
    assert set(GALLERY) == {figure.name for figure in FIGURES} >= set(SOURCES)
    assert "scenarios/rate-change.toml" in figure_page("cwnd")


@pytest.mark.parametrize("shown", dict.fromkeys(GALLERY.values()), ids=lambda each: each.scenario)
def test_a_gallery_scenario_is_read_and_small(shown: Shown) -> None:
    settings = [sweep.parse_setting(text) for text in shown.settings]
    assert len(sweep.read(ROOT / shown.scenario, settings)) <= 16


def test_a_variants_page_has_its_parameters_and_checks() -> None:
    checks = Validation(catalogue.VALIDATION.read_text(encoding="utf-8")).of("reno")
    assert {check[0] for check in checks} == set(catalogue.checks("variant")["reno"])
    text = "\n".join(parts(catalogue.variant("reno"), ["cwnd"], "narrows run x", checks))
    assert "`beta`" in text
    assert "Chiu, Jain 1989" in text
    assert "reno-cwnd.png" in text


@pytest.mark.skipif(importlib.util.find_spec("material") is None, reason="no mkdocs-material")
def test_the_documents_build_without_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pages that need no runs; mkdocs checks every link."""
    monkeypatch.setattr(site, "BUILD", tmp_path)
    monkeypatch.setattr(site, "SITE", tmp_path / "site")
    site.copy_documents(tmp_path / "pages", "")
    assert site.build(tmp_path / "pages") == 0
    index = json.loads((tmp_path / "site/search/search_index.json").read_text())
    assert any("bottleneck.discipline" in page["text"] for page in index["docs"])
