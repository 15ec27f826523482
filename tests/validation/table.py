"""The validation table: sections of rows, each row a name of a registry, each column a check.

A check is a title and a function from a row's name to a `Cell`, or to `None` if it does not apply.
To register one: a function here or in a module of its own, and a line in
`tests/validation/sections.py`.
"""

from __future__ import annotations

import dataclasses
import re
import textwrap
from collections.abc import Callable, Sequence


@dataclasses.dataclass(frozen=True)
class Cell:
    """The result of a check."""

    text: str
    ok: bool = True
    """False if the check fails."""
    note: str = ""
    """The reason of a difference, printed below the table."""


@dataclasses.dataclass(frozen=True)
class Column:
    """A check of every row."""

    title: str
    cell: Callable[[str], Cell | None]


@dataclasses.dataclass(frozen=True)
class Section:
    """A table."""

    title: str
    text: str
    first: str
    """What its rows are."""
    rows: Sequence[str]
    columns: Sequence[Column]

    def cells(self) -> dict[str, list[Cell | None]]:
        """Every row's cells."""
        return {row: [column.cell(row) for column in self.columns] for row in self.rows}


def failures(section: Section) -> list[str]:
    """The cells that fail their checks."""
    return [
        f"{section.title}: {row}: {column.title}: {cell.text}"
        for row, cells in section.cells().items()
        for column, cell in zip(section.columns, cells, strict=True)
        if cell is not None and not cell.ok
    ]


def conclusion(tables: str) -> str:
    """How many checks the rendered tables have, and how many of them failed."""
    rows = re.findall(r"^\| `[^`]+` \|(.*)\|$", tables, re.M)
    cells = [cell.strip() for row in rows for cell in row.split("|")]
    checks = [cell for cell in cells if cell and not cell.startswith("(")]
    failed = sum(cell.startswith("**") for cell in checks)
    outcome = f"{failed} failed; its cell is bold" if failed else "none failed"
    return f"The {len(rows)} rows below have {len(checks)} checks: {outcome}."


def render(section: Section) -> str:
    """The section in Markdown; equal notes share a number."""
    notes = list[str]()

    def shown(cell: Cell | None) -> str:
        if cell is None:
            return ""
        text = cell.text if cell.ok else f"**{cell.text}**"
        if not cell.note:
            return text
        if cell.note not in notes:
            notes.append(cell.note)
        return f"{text} [{notes.index(cell.note) + 1}]"

    heads = [section.first, *(column.title for column in section.columns)]
    lines = [f"## {section.title}", "", section.text, ""]
    lines += [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    for row, cells in section.cells().items():
        lines.append(f"| `{row}` | {' | '.join(map(shown, cells))} |")
    lines += [""] if notes else []
    for number, note in enumerate(notes, 1):
        text = f"[{number}] {note.rstrip('.')}."
        lines.append(textwrap.fill(text, 100, initial_indent="- ", subsequent_indent="  "))
    return "\n".join(lines) + "\n"
