"""The table that `narrows run` prints last, of `results.py`.

Columns that do not fit are omitted, the least important first, and named below the table.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from statistics import fmean

from rich.console import Console, Group
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from narrows.testbed.cli.results import (
    Column,
    Row,
    columns_of,
    fixed_and_swept,
    importance,
    rows_of,
)
from narrows.testbed.runs.jobs import Outcome
from narrows.testbed.scenario.sweep import short
from narrows.testbed.terminal import plain

GAP = 3
"""Spaces between two columns."""


def results_table(title: str, outcomes: Sequence[Outcome], console: Console) -> Group:
    """The table of the runs, within the console's width."""
    rows = rows_of(outcomes)
    fixed, keys = fixed_and_swept(rows)
    columns = [column for column in columns_of(rows) if any(row.values(column) for row in rows)]
    kept = list(columns)
    table = build(rows, keys, kept)
    for column in reversed(sorted(columns, key=importance)[2:]):
        if natural_width(table, console) <= console.width:
            break
        kept.remove(column)
        table = build(rows, keys, kept)
    above = [Text(plain(title), style="bold")]
    if fixed:
        above.append(Text("with " + ", ".join(f"{key} = {shown(v)}" for key, v in fixed.items())))
    seeds = max((len(row.outcomes) for row in rows), default=0)
    if seeds > 1:
        above.append(Text(f"mean (least-most) of {seeds} seeds"))
    left_out = [column.title.replace("\n", " ") for column in columns if column not in kept]
    below = []
    if left_out:
        below.append(Text(f"a wider terminal also shows: {', '.join(left_out)}", style="dim"))
    return Group(*above, "", table, *below)


def build(rows: Sequence[Row], keys: Sequence[str], columns: Sequence[Column]) -> Table:
    """The table with these columns."""
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for key in keys:
        table.add_column(Text(plain(short(key, keys))), overflow="fold", vertical="bottom")
    some_missing = len({len(row.good) for row in rows}) > 1 or any(
        len(row.good) < len(row.outcomes) for row in rows
    )
    if some_missing or not (keys or columns):
        table.add_column(Text("runs"), justify="right")
    for column in columns:
        table.add_column(Text(column.title, justify="right"), justify="right")
    for row in rows:
        cells = [Text(shown(row.point.get(key))) for key in keys]
        if some_missing or not (keys or columns):
            cells.append(Text(f"{len(row.good)} of {len(row.outcomes)}"))
        cells += [Text(cell(row.values(column), column.decimals)) for column in columns]
        table.add_row(*cells)
    return table


def cell(values: Sequence[float], decimals: int) -> str:
    """The mean, with the range if values differ: `5.18 (5.07-5.31)`."""
    if not values:
        return "-"
    if len(values) == 1:
        return f"{values[0]:.{decimals}f}"
    places = max(decimals - 1, 0)
    least, mean, most = (f"{v:.{places}f}" for v in (min(values), fmean(values), max(values)))
    return mean if least == most else f"{mean} ({least}-{most})"


def shown(value: object) -> str:
    """A key's value: text unchanged, anything else as JSON; control characters are escaped."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return "-" if value is None else plain(text)


def natural_width(table: Table, console: Console) -> int:
    """Columns whose text the table does not wrap."""
    options = console.options.update(width=10_000)
    return Measurement.get(console, options, table).maximum - GAP
