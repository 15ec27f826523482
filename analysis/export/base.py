"""The base of all export formats: their record, and their error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from narrows.analysis.load import Run


@dataclass(frozen=True)
class Format:
    """The declaration of a format."""

    name: str
    """Its name for `--format`."""
    title: str
    """What the format is, and which tools read it."""
    suffix: str
    """The suffix of a run's file; empty if the format writes a directory."""
    needs: tuple[str, ...]
    """Tables (`load.COLUMNS`) that a run must have."""
    write: Callable[[Run, Path], None]
    """Writes a run to this path. The content depends only on the run. Raises `OSError`."""
    write_sampled: Callable[[Run, Path, int], None] | None = None
    """The same with rows sampled every so many picoseconds; None if the format has no rows."""


class ExportError(Exception):
    """A run lacks a table that a format needs."""

    def __init__(self, run: Run, wanted: Format, table: str) -> None:
        super().__init__(
            f"{run.path}: {wanted.name} needs the table {table!r}, which the run did not record; "
            f"run it again with --set record.{table}=true"
        )


class SampleError(Exception):
    """A format has no rows to sample."""

    def __init__(self, name: str, able: Sequence[str]) -> None:
        super().__init__(f"{name} has no rows to sample; expected --format {' or '.join(able)}")
