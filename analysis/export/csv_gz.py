"""Every table of a run as CSV, compressed with gzip, for long runs with large ledgers.

`polars.read_csv`, `pandas.read_csv` and R's `read.csv` read the files directly.
"""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from narrows.analysis.export import csv
from narrows.analysis.export.base import Format
from narrows.analysis.load import Run


def write(run: Run, path: Path, sample_ps: int | None = None) -> None:
    """Writes `<path>/<table>.csv.gz` for each table, and `summary.csv.gz`; the gzip headers contain
    no time. `sample_ps` is that of `csv.write`.
    """
    path.mkdir(exist_ok=True)
    with TemporaryDirectory(dir=path, prefix=".") as plain:
        csv.write(run, Path(plain), sample_ps)
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
    write_sampled=write,
)
