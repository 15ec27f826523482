"""Runs the guide literally: each command and file of each page, in order."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from narrows.testbed.site import nav
from tests.docs.guide import FOLDER, PAGES, STEPS, Reader, follow
from tests.docs.guide import reader as a_reader
from tests.docs.markdown import Step, matches, steps_of
from tests.support.world import ROOT

ALL = [step for page in PAGES for step in STEPS[page]]


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    with a_reader() as following:
        yield following


@pytest.mark.parametrize("step", ALL, ids=lambda step: step.where)
def test_the_step_works(reader: Reader, step: Step) -> None:
    follow(reader, step)


NOTES = {"needs", "exits", "real time", "background", "after Ctrl-C", "run by"}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_steps_and_no_unknown_note(page: str) -> None:
    notes = {note.partition(":")[0].strip() for step in STEPS[page] for note in step.notes}
    assert STEPS[page] and notes <= NOTES


@pytest.mark.parametrize(
    "step", [step for step in ALL if step.path.startswith(("analysis/", "testbed/"))],
    ids=lambda step: step.path,
)  # fmt: skip
def test_an_added_file_is_written_as_the_others_are(step: Step, tmp_path: Path) -> None:
    file = tmp_path / Path(step.path).name
    file.write_text(step.text)
    for command in (["check", "--config", str(ROOT / "pyproject.toml")], ["format", "--check"]):
        ruff = [sys.executable, "-m", "ruff", *command, str(file)]
        assert subprocess.run(ruff, cwd=ROOT, check=False).returncode == 0


def test_the_index_numbers_pages_that_exist() -> None:
    assert PAGES and all((FOLDER / page).is_file() for page in PAGES)


def test_the_site_has_the_pages_in_the_index_order() -> None:
    listed = [Path(page).name for page in nav.section_pages(ROOT, nav.SECTIONS["Guide"])]
    assert listed[: len(PAGES) + 1] == ["README.md", *PAGES]


def test_a_step_knows_its_line(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Page\n\n```sh\n# first\nls  # here\nls \\\n  -l\n```\n")
    assert [(step.line, step.text) for step in steps_of(page)] == [(5, "ls"), (6, "ls \\\n  -l")]


def test_a_console_step_has_the_output_shown(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- needs: ip; real time -->\n\n```console\n$ a \\\n> b\nc\n...\n$ d\n```\n")
    first, second = steps_of(page)
    assert (first.line, first.text, first.shown) == (4, "a \\\nb", "c\n...")
    assert (second.line, second.text, second.shown) == (8, "d", "")
    assert first.note("needs") == "ip" and first.note("real time") == ""


def test_a_block_after_its_path_is_a_file(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("`a/b.toml`:\n\n```toml\nx = 1\n```\n")
    [step] = steps_of(page)
    assert (step.path, step.text) == ("a/b.toml", "x = 1\n")


@pytest.mark.parametrize(
    ("shown", "printed", "alike"),
    [
        ("a  b", "a b\n", True),
        ("a", "b", False),
        ("a", "a\nb", False),
        ("a\n...", "a\nb\nc", True),
        ("a\n...\nc", "a\nb", False),
        ("x ... z", "x 1.5 y z", True),
        ("x ... z", "x\nz", False),
        ("", "anything", False),
    ],
)
def test_an_ellipsis_stands_for_any_output(shown: str, printed: str, alike: bool) -> None:
    assert matches(shown, printed) is alike
