"""The differences of two documents, and of two run directories."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl


def of_documents(old: Any, new: Any, path: str = "") -> Iterator[str]:
    """The paths in two JSON documents at which the values differ. An absent key is an empty one."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            before, after = old.get(key), new.get(key)
            if not (is_empty(before) and is_empty(after)):
                yield from of_documents(before, after, f"{path}.{key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, pair in enumerate(zip(old, new, strict=True)):
            yield from of_documents(*pair, f"{path}[{index}]")
    elif old != new:
        yield f"{path.removeprefix('.')}: {json.dumps(old)[:60]} and {json.dumps(new)[:60]}"


def is_empty(value: Any) -> bool:
    """True for what an absent key means."""
    return value is None or value is False or value in ([], {})


def of_runs(old: Path, new: Path, *, values: bool) -> Iterator[str]:
    """The differences of two run directories; without `values`, of their columns and keys only."""
    names = {path.name for directory in (old, new) for path in directory.glob("*.parquet")}
    for name in sorted(names):
        if not (old / name).exists() or not (new / name).exists():
            yield f"{name}: only in {'OLD' if (old / name).exists() else 'NEW'}"
        else:
            before, after = (pl.read_parquet(directory / name) for directory in (old, new))
            yield from (f"{name}: {line}" for line in of_tables(before, after, values=values))
    before, after = (json.loads((each / "summary.json").read_text()) for each in (old, new))
    if not values:
        before, after = keys(before), keys(after)
    yield from (f"summary.json: {line}" for line in of_documents(before, after))


def of_tables(old: pl.DataFrame, new: pl.DataFrame, *, values: bool) -> Iterator[str]:
    """The differences of two tables; without `values`, of their columns and types only."""
    if old.schema != new.schema:
        yield f"columns {dict(old.schema)} and {dict(new.schema)}"
    elif values and not old.equals(new):
        same_length = len(old) == len(new)
        columns = [
            name for name in old.columns if not same_length or not old[name].equals(new[name])
        ]
        yield f"{len(old)} and {len(new)} rows; values differ in {columns}"


def keys(document: Any) -> Any:
    """A JSON document without its values."""
    if isinstance(document, dict):
        return {key: keys(value) for key, value in document.items()}
    if isinstance(document, list):
        return [keys(value) for value in document]
    return ""
