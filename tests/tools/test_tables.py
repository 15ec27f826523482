"""Tables that polars encodes: the same rows and columns, with the engine's checksums."""

from __future__ import annotations

import errno
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from narrows._engine import write_columns as engine_write_columns
from narrows._engine import write_table as engine_write_table
from narrows.testbed.tables import Cell, csv_text, write_columns, write_table
from tests.support.world import ROOT

FRAME = pl.DataFrame(
    {
        "time_ps": [1, 2**62, -3],
        "flow": [1, None, 3],
        "srtt_ms": [0.5, None, float("inf")],
        "variant": ["reno", "", None],
        "valid": [True, False, None],
        "swept": [None, None, None],
    },
    schema_overrides={"flow": pl.Int32},
)


@pytest.mark.parametrize("rows", [FRAME, FRAME.clear(), pl.concat([FRAME] * 100_000)])
def test_a_table_has_the_rows_and_columns_of_its_frame(rows: pl.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    write_table(rows, path)
    found = pl.read_parquet(path)
    assert found.schema == rows.schema and found.equals(rows)


def test_a_table_that_has_no_room_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"absent/rows\.parquet: .*No such file"):
        write_table(FRAME, tmp_path / "absent/rows.parquet")
    full = Path("/dev/full")
    with pytest.raises(OSError, match=f"/dev/full: .*{errno.ENOSPC}"):
        write_table(FRAME, full)


def test_what_is_no_flat_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="too small"):
        engine_write_table(b"PAR1", tmp_path / "rows.parquet")
    with pytest.raises(OSError, match="has lists"):
        write_table(pl.DataFrame({"flows": [[1, 2]]}), tmp_path / "rows.parquet")


WHOLE = st.integers(-(2**63), 2**63 - 1)
TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=9)
STRANGE = st.sampled_from(["", "a,b", 'say "no"', "1\r\n2"])
CELLS: tuple[st.SearchStrategy[Cell], ...] = (st.booleans(), WHOLE, st.floats(), TEXT, STRANGE)


@st.composite
def column_sets(draw: st.DrawFn) -> dict[str, list[Cell]]:
    """Columns of equal length, of one type each."""
    length = draw(st.integers(1, 4))
    cells = [draw(st.sampled_from(CELLS)) for _ in range(draw(st.integers(1, 4)))]
    names = draw(st.lists(TEXT, min_size=len(cells), max_size=len(cells), unique=True))
    values = [draw(st.lists(st.none() | each, min_size=length, max_size=length)) for each in cells]
    return dict(zip(names, values, strict=True))


@settings(deadline=None, max_examples=50)
@given(column_sets())
def test_columns_are_written_as_polars_writes_them(
    tmp_path_factory: pytest.TempPathFactory, columns: dict[str, list[Cell]]
) -> None:
    assert csv_text(columns) == pl.DataFrame(columns).write_csv()
    empty = [name for name, values in columns.items() if all(value is None for value in values)]
    types = {name: pl.String if name == empty[0] else pl.Float64 for name in empty}
    frame = pl.DataFrame(columns, schema_overrides=types)
    path = tmp_path_factory.getbasetemp() / "columns.parquet"
    write_columns(columns, path, empty[:1])
    found = pl.read_parquet(path)
    assert found.schema == frame.schema and found.equals(frame)


@pytest.mark.parametrize(
    "number", [1e-4, 1e-5, -1.5e-5, 9.99e-6, 1e-7, 1e15, 1e16, -2.5e16, 1e100, 5e-324, 0.0, -0.0]
)
def test_a_number_has_polars_digits(number: float) -> None:
    assert csv_text({"x": [number]}) == pl.DataFrame({"x": [number]}).write_csv()


def test_columns_that_are_no_table_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    with pytest.raises(OSError, match="Incorrect number of rows"):
        engine_write_columns([("a", "integer", [1, 2]), ("b", "integer", [1])], path)
    with pytest.raises(TypeError):
        engine_write_columns([("a", "integer", ["one"])], path)
    with pytest.raises(OverflowError):
        engine_write_columns([("a", "integer", [2**63])], path)
    with pytest.raises(ValueError, match="there is no type 'date'"):
        engine_write_columns([("a", "date", [1])], path)
    with pytest.raises(OSError, match=f"/dev/full: .*{errno.ENOSPC}"):
        write_columns({"a": [1]}, Path("/dev/full"))


def test_each_table_of_a_result_is_written_with_checksums() -> None:
    parts = ("testbed", "analysis", "controller", "traffic", "hosts", "switch")
    files = [path for part in parts for path in (ROOT / part).rglob("*.py")]
    assert len(files) > 100
    without = [path.name for path in files if "write_parquet(" in path.read_text()]
    assert without == ["tables.py"]
