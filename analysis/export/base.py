"""What every format is made of: its record, and how an export fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from narrows.analysis.load import Run


@dataclass(frozen=True)
class Format:
    """The declaration of a format."""

    name: str
    """What `--format` calls it."""
    title: str
    """What it is, and who reads it."""
    suffix: str
    """Ends the name of a run's file; empty where it is a directory."""
    needs: tuple[str, ...]
    """Tables (`load.COLUMNS`) that a run must have."""
    write: Callable[[Run, Path], None]
    """Writes a run to this path. The content depends on the run alone. Raises `OSError`."""


class ExportError(Exception):
    """A run without a table that a format needs."""

    def __init__(self, run: Run, wanted: Format, table: str) -> None:
        super().__init__(
            f"{run.path}: {wanted.name} needs the table {table!r}, which the run did not record; "
            f"run it again with --set record.{table}=true"
        )
