"""Writes data frames as tables, with the checksums that polars leaves out."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


def write_table(frame: pl.DataFrame, path: Path) -> None:
    """Writes a data frame as Parquet, with a CRC-32 in each page's header. Raises `OSError`."""
    from narrows.testbed import engine

    unchecked = io.BytesIO()
    frame.write_parquet(unchecked, compression="uncompressed")
    engine.write_table(unchecked.getvalue(), path)
