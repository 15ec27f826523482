"""Run directories in the formats of other tools: one file each, listed here.

A new format is a file that ends in one `FORMAT` record, and its line in `FORMATS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from narrows.analysis.export import csv, csv_gz, flent, iperf3, pcapng, qlog
from narrows.analysis.export.base import ExportError, Format, SampleError
from narrows.analysis.load import Run, load

__all__ = ["FORMATS", "ExportError", "Format", "SampleError", "export"]

FORMATS: Final[tuple[Format, ...]] = (
    csv.FORMAT,
    csv_gz.FORMAT,
    pcapng.FORMAT,
    iperf3.FORMAT,
    flent.FORMAT,
    qlog.FORMAT,
)
"""Every format, in the order of the help text."""


def export(
    dirs: Sequence[Path], name: str, out: Path | None = None, sample_ps: int | None = None
) -> list[Path]:
    """Writes each run of these directories (a scenario's results, or single runs) in one format.

    Files are `<out>/<run><suffix>`; with `out` None, they are in `export/` beside the runs. Returns
    what was written. Raises `LoadError` if a directory is not a run, and `OSError`. Raises
    `ExportError` before writing anything if a run lacks a table that the format needs.

    `sample_ps` samples the rows: `SampleError` if the format has no `write_sampled`.
    """
    wanted = next(known for known in FORMATS if known.name == name)
    write = wanted.write
    if sample_ps is not None:
        if wanted.write_sampled is None:
            raise SampleError(name, [known.name for known in FORMATS if known.write_sampled])
        write = partial(_sampled, wanted.write_sampled, sample_ps)
    runs = [run for directory in dirs for run in load(directory)]
    for run in runs:
        missing = [table for table in wanted.needs if not run.has(table)]
        if missing:
            raise ExportError(run, wanted, missing[0])
    paths = []
    for run in runs:
        directory = out or run.path.parent / "export"
        directory.mkdir(parents=True, exist_ok=True)
        path = directory / f"{run.name}{wanted.suffix}"
        write(run, path)
        paths.append(path)
    return paths


def _sampled(write: Callable[[Run, Path, int], None], sample_ps: int, run: Run, path: Path) -> None:
    write(run, path, sample_ps)
