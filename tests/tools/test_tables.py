"""Tables that polars encodes: the same rows and columns, with the engine's checksums."""

from __future__ import annotations

import errno
from pathlib import Path

import polars as pl
import pytest

from narrows._engine import write_table as engine_write_table
from narrows.testbed.tables import write_table
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


def test_each_table_of_a_result_is_written_with_checksums() -> None:
    parts = ("testbed", "analysis", "controller", "traffic", "hosts", "switch")
    files = [path for part in parts for path in (ROOT / part).rglob("*.py")]
    assert len(files) > 100
    without = [path.name for path in files if "write_parquet(" in path.read_text()]
    assert without == ["tables.py"]
