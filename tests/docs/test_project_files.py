"""The files in the root: one version everywhere, working hooks, valid links."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.world import ROOT

HOOKS = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
LINK = re.compile(r"\]\((?!https?://|#)([^)#\s]+)")


def loaded(name: str) -> dict[str, Any]:
    with (ROOT / name).open("rb") as file:
        return tomllib.load(file)


VERSION = loaded("pyproject.toml")["project"]["version"]


def test_cargo_has_the_version() -> None:
    assert loaded("Cargo.toml")["workspace"]["package"]["version"] == VERSION


def test_cargos_lock_has_the_version() -> None:
    packages = loaded("Cargo.lock")["package"]
    ours = {one["name"]: one["version"] for one in packages if one["name"].startswith("narrows-")}
    assert ours and set(ours.values()) == {VERSION}


def test_the_citation_has_the_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.*)$", citation, re.M) == [VERSION]


def test_the_changelog_has_the_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = changelog.split("\n## ")[1]
    assert newest.startswith((f"[{VERSION}]", f"[Unreleased]\n\nTo be released as {VERSION}."))


def test_the_changelog_keeps_the_headings_of_its_form() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    known = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    for section in changelog.split("\n## ")[1:]:
        headings = re.findall(r"^### (.*)$", section, re.M)
        assert set(headings) <= known and len(set(headings)) == len(headings), headings


def test_every_hook_is_local() -> None:
    assert re.findall(r"- repo: (.*)", HOOKS) == ["local"]


@pytest.mark.parametrize("entry", re.findall(r"^ *entry: (.*)$", HOOKS, re.M))
def test_a_hook_passes_on_the_sources(entry: str) -> None:
    program, *arguments = shlex.split(
        entry.replace(".venv/bin/python", shlex.quote(sys.executable))
    )
    if "format" in arguments or program == "cargo":
        arguments.append("--check")
    ran = subprocess.run(
        [program, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def documents() -> Iterator[Path]:
    yield from ROOT.glob("*.md")
    yield from ROOT.glob("docs/**/*.md")


@pytest.mark.parametrize(
    "document", sorted(documents()), ids=lambda path: path.relative_to(ROOT).as_posix()
)
def test_a_documents_links_lead_to_files(document: Path) -> None:
    text = re.sub(r"^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.M | re.S)
    for link in LINK.findall(text):
        assert (document.parent / link).exists(), f"{document.name}: {link}"


def test_the_readme_is_a_screen_and_a_half() -> None:
    """75 lines: a screen has about 50."""
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 75


LIMITATIONS = (ROOT / "LIMITATIONS.md").read_text(encoding="utf-8")
ENTRIES = re.findall(r"^- .*?(?=\n- |\n\n|\n*\Z)", LIMITATIONS, re.M | re.S)


def test_the_limitations_have_at_most_1500_words() -> None:
    assert len(LIMITATIONS.split()) <= 1500


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.split("**")[1])
def test_a_limitation_says_what_to_do_instead(entry: str) -> None:
    lacking, _, instead = " ".join(entry.split()).partition(" *Instead:* ")
    assert re.match(r"- \*\*.+\*\*", lacking) and lacking.endswith((".", ")."))
    assert len(instead.split()) >= 3 and instead.endswith(".") and "Instead:" not in instead


def test_every_section_of_the_limitations_has_entries() -> None:
    for section in LIMITATIONS.split("\n## ")[1:]:
        heading, body = section.split("\n", 1)
        assert body.lstrip().startswith("- **"), heading
