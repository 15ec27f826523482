"""The site's pages by section, as paths from the root of the repository."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

HOME = "README.md"
SECTIONS: dict[str, tuple[str, ...]] = {
    "Guide": (
        "docs/guide/README.md", "docs/guide/install.md", "docs/guide/first-run.md",
        "docs/guide/scenario.md", "docs/guide/results.md", "docs/guide/python.md",
        "docs/guide/notebooks.md", "docs/guide/artifacts.md", "docs/guide/real-time.md",
        "docs/guide/shell.md",
        "docs/guide/programs.md", "docs/guide/lab.md", "docs/guide/add-a-variant.md",
        "docs/guide/add-a-discipline.md", "docs/guide/add-a-figure.md", "docs/guide/scaling.md",
        "docs/guide/add-a-paper.md", "docs/guide/*.md",
    ),
    "Reference": (
        "docs/reference/scenario.md", "docs/reference/variants.md", "docs/reference/recoveries.md",
        "docs/reference/disciplines.md", "docs/reference/workloads.md", "docs/reference/*.md",
    ),
    "Variants": ("variants/index.md", "variants/*.md"),
    "Gallery": ("gallery/index.md", "gallery/*.md"),
    "Papers": ("papers/index.md", "papers/*.md"),
    "Explanation": ("ARCHITECTURE.md", "docs/explanation/*.md", "LIMITATIONS.md"),
    "Reports": ("docs/reports/*.md",),
    "Project": ("CHANGELOG.md", "CONTRIBUTING.md"),
}  # fmt: skip
"""The patterns of each section's pages, in order; a page that an earlier one has comes once."""

ASSETS = ("docs/**/*.png", "docs/**/*.svg", "docs/**/*.json", "docs/**/*.ipynb", "LICENSE")
"""What pages show or link to."""
MADE = ("variants", "gallery", "papers")
"""The folders of pages that are made at build."""


def section_pages(root: Path, patterns: tuple[str, ...]) -> list[str]:
    """The pages of a section that are there, each once; those of a pattern by their names."""
    found = (
        path
        for pattern in patterns
        for path in sorted(root.glob(pattern), key=lambda path: path.with_suffix(""))
    )
    return list(dict.fromkeys(path.relative_to(root).as_posix() for path in found))


def pages(root: Path) -> list[str]:
    """Every page that is there."""
    return [HOME, *(page for each in SECTIONS.values() for page in section_pages(root, each))]


def nav(root: Path) -> list[dict[str, Any]]:
    """The navigation, in the form of mkdocs.yml."""
    sections = {title: section_pages(root, patterns) for title, patterns in SECTIONS.items()}
    titled: dict[str, list[Any]] = {
        section: [
            page if page.endswith("/index.md") else {title_of(root / page): page} for page in found
        ]
        for section, found in sections.items()
    }
    return [{"Narrows": HOME}, *({section: found} for section, found in titled.items() if found)]


def title_of(path: Path) -> str:
    """The first heading of a page."""
    heading = re.search(r"^# (.+)$", path.read_text(encoding="utf-8"), re.M)
    return heading[1].replace("`", "") if heading else path.stem
