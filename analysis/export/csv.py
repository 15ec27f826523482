"""Every table of a run as CSV, and the summary's flows, in a directory named after the run.

Columns are those of the tables, with units in their names. Bytes are hexadecimal.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import polars as pl
import polars.selectors as cs

from narrows.analysis.export.base import Format
from narrows.analysis.load import COLUMNS, Run

_TIMES: Final = {
    "queue": ("time_ps", 1),
    "flows": ("time_ps", 1),
    "packets": ("egress_ns", 1000),
    "messages": ("written_ps", 1),
    "capture": ("time_ps", 1),
}
"""The column of each table that has a row's time, and its unit in picoseconds."""
_KINDS: Final = frozenset(
    ("switch", "port", "queue", "event", "reason", "node", "egress_port", "host", "direction")
) | {"flow"}
"""Rows that differ in one of these columns are sampled apart."""


def write(run: Run, path: Path, sample_ps: int | None = None) -> None:
    """Writes `<path>/<table>.csv` for each table, streamed from the disk, and `summary.csv`.

    With `sample_ps` the tables are `sampled`; the summary is complete.
    """
    path.mkdir(exist_ok=True)
    for name in COLUMNS:
        if run.has(name):
            rows = run.table(name)
            if sample_ps is not None:
                rows = sampled(rows, name, sample_ps)
            rows.with_columns(cs.binary().bin.encode("hex")).sink_csv(path / f"{name}.csv")
    flows = [flatten(flow) for flow in run.flows]
    pl.DataFrame(flows, infer_schema_length=None).write_csv(path / "summary.csv")


def sampled(rows: pl.LazyFrame, table: str, sample_ps: int) -> pl.LazyFrame:
    """The last row of each kind in each interval of so many picoseconds, in the table's order.

    A kind is a flow, or an event of a flow at a queue. So counters and depths are those at the end
    of the interval, and no kind of event disappears. Rows no longer count packets.
    """
    column, unit_ps = _TIMES[table]
    kinds = [name for name in COLUMNS[table] if name in _KINDS]
    interval = (pl.col(column) * unit_ps // sample_ps).alias("interval")
    found = rows.with_row_index("row").with_columns(interval)
    return found.unique([*kinds, "interval"], keep="last").sort("row").drop("row", "interval")


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
    write_sampled=write,
)
