"""Every table of a run as CSV, compressed with gzip: for long runs, whose ledgers are large.

`polars.read_csv`, `pandas.read_csv` and R's `read.csv` read the files as they are.
"""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from narrows.analysis.export import csv
from narrows.analysis.export.base import Format
from narrows.analysis.load import Run


def write(run: Run, path: Path) -> None:
    """Writes `<path>/<table>.csv.gz` of each table, and `summary.csv.gz`; no time in them."""
    path.mkdir(exist_ok=True)
    with TemporaryDirectory(dir=path, prefix=".") as plain:
        csv.write(run, Path(plain))
        for table in sorted(Path(plain).glob("*.csv")):
            packed = path / f"{table.name}.gz"
            with (
                table.open("rb") as source,
                packed.open("wb") as raw,
                gzip.GzipFile("", "wb", 6, raw, mtime=0) as target,
            ):
                shutil.copyfileobj(source, target)
            table.unlink()


FORMAT = Format(
    name="csv-gz",
    title="the same, each file compressed with gzip: for long runs",
    suffix="",
    needs=(),
    write=write,
)
