"""The tables of many runs as one lazy frame, with the sweep's keys and the flows' names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from narrows.analysis.flow_rows import flow_names, plain, swept_keys
from narrows.analysis.load import LoadError, Run


def joined(runs: Sequence[Run], table: str) -> pl.LazyFrame:
    """A table (a key of `load.COLUMNS`) of all runs that recorded it; nothing is read yet.

    Its columns: `run`, the swept keys by their dotted paths, `seed`, then the table's own. Where
    the table has flows, `flow_name` (of the `[[flow]]`; null without one) and `variant` come before
    these. Rows are in the order of the runs and of their events. A swept key whose values are of
    several types is text. Raises `LoadError` if no run recorded the table, or if one cannot be
    read.
    """
    able = [run for run in runs if run.has(table)]
    if not able:
        where = runs[0].path.parent if runs else Path()
        raise LoadError(where, f"no run recorded {table!r}; run it again with record.{table}")
    keys = swept_keys(runs)
    texts = {
        key for key in keys
        if len({type(plain(run.point.get(key))) for run in runs if run.point.get(key) is not None})
        > 1
    }  # fmt: skip
    return pl.concat([_of_run(run, table, keys, texts) for run in able], how="vertical_relaxed")


def _of_run(run: Run, table: str, keys: Sequence[str], texts: set[str]) -> pl.LazyFrame:
    point = {key: plain(run.point.get(key)) for key in keys}
    point |= {key: str(point[key]) for key in texts if point[key] is not None}
    columns = [pl.lit(run.name).alias("run")]
    columns += [pl.lit(value).alias(key) for key, value in point.items()]
    columns.append(pl.lit(run.seed, pl.Int64).alias("seed"))
    frame = run.table(table)
    own = frame.collect_schema().names()
    if "flow" in own:
        variants = {int(flow["id"]): str(flow["variant"]) for flow in run.flows}
        columns += [
            _by_flow(flow_names(run)).alias("flow_name"), _by_flow(variants).alias("variant")
        ]  # fmt: skip
    return frame.select(*columns, *own)


def _by_flow(texts: dict[int, str]) -> pl.Expr:
    """A text for each row by the number in its column `flow`; null for other numbers."""
    if not texts:
        return pl.lit(None, pl.String)
    flow = pl.col("flow").cast(pl.Int64)
    numbers = pl.Series(list(texts), dtype=pl.Int64)
    return flow.replace_strict(numbers, list(texts.values()), default=None, return_dtype=pl.String)
