"""Writes tables of results, with the checksums that polars leaves out."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import polars as pl

Cell = bool | int | float | str | None
QUOTED: Final = re.compile(r'[,"\n\r]')
"""What a cell's text is in quotes for."""
KINDS: Final = {bool: "flag", int: "integer", float: "float", str: "text"}
"""The engine's types of columns."""
LEAST_EXPONENT: Final = -5
"""polars writes smaller powers of ten as `1e-6`."""


def write_table(frame: pl.DataFrame, path: Path) -> None:
    """Writes a data frame as Parquet, with a CRC-32 in each page's header. Raises `OSError`."""
    from narrows.testbed import engine

    unchecked = io.BytesIO()
    frame.write_parquet(unchecked, compression="uncompressed")
    engine.write_table(unchecked.getvalue(), path)


def write_columns(
    columns: Mapping[str, Sequence[Cell]], path: Path, texts: Collection[str] = ()
) -> None:
    """Writes columns as `write_table` writes their data frame, without polars, whose import takes
    longer than a short run. The values of a column are of one type, or None. A column of None is of
    numbers, or text if it is one of `texts`. Raises `OSError`.
    """
    from narrows.testbed import engine

    typed = [
        (name, next(kinds_of(values), "text" if name in texts else "float"), values)
        for name, values in columns.items()
    ]
    engine.write_columns(typed, path)


def kinds_of(values: Sequence[Cell]) -> Iterator[str]:
    """The engine's types of a column's values."""
    return (KINDS[type(value)] for value in values if value is not None)


def csv_text(columns: Mapping[str, Sequence[Cell]]) -> str:
    """Columns as CSV with a header, character by character as polars writes them."""
    cells = [[CSV[type(value)](value) for value in values] for values in columns.values()]
    rows = [map(quoted, columns), *zip(*cells, strict=True)]
    return "".join(",".join(row) + "\n" for row in rows)


def quoted(text: str) -> str:
    """A text as a cell: `"with, a comma"`."""
    return text if text and not QUOTED.search(text) else '"' + text.replace('"', '""') + '"'


def float_text(value: float) -> str:
    """The shortest decimal that is this number."""
    text = repr(value)
    if "e" not in text:
        return "NaN" if text == "nan" else text
    mantissa, _, exponent = text.partition("e")
    if int(exponent) == LEAST_EXPONENT:
        digits = mantissa.lstrip("-").replace(".", "")
        return f"{'-' * mantissa.startswith('-')}0.0000{digits}"
    return f"{mantissa}e{int(exponent):+d}"


CSV: Final[dict[type, Callable[[Any], str]]] = {
    str: quoted,
    bool: lambda value: "true" if value else "false",
    int: str,
    float: float_text,
    type(None): lambda _: "",
}
"""Writes a cell of each type: `0.00001`; nothing for None."""
