"""Every table of a run as CSV, and the summary's flows, in a directory named after the run.

Columns are those of the tables, with units in their names. Bytes are hexadecimal.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import polars.selectors as cs

from narrows.analysis.export.base import Format
from narrows.analysis.load import COLUMNS, Run


def write(run: Run, path: Path) -> None:
    """Writes `<path>/<table>.csv` for each table, streamed from the disk, and `summary.csv`."""
    path.mkdir(exist_ok=True)
    for name in COLUMNS:
        if run.has(name):
            rows = run.table(name).with_columns(cs.binary().bin.encode("hex"))
            rows.sink_csv(path / f"{name}.csv")
    flows = [flatten(flow) for flow in run.flows]
    pl.DataFrame(flows, infer_schema_length=None).write_csv(path / "summary.csv")


def flatten(values: Mapping[str, object], prefix: str = "") -> dict[str, Any]:
    """Flattens nested numbers under joined names:

    `{"rtt_ms": {"p95": 1}}` is `{"rtt_ms_p95": 1}`.
    """
    flat: dict[str, Any] = {}
    for key, value in values.items():
        flat |= (
            flatten(value, f"{prefix}{key}_")
            if isinstance(value, dict)
            else {f"{prefix}{key}": value}
        )
    return flat


FORMAT = Format(
    name="csv",
    title="every table, and the flows of the summary, as CSV in a directory",
    suffix="",
    needs=(),
    write=write,
)
