"""Reads run directories: `run.json`, `summary.json` and Parquet tables.

A scenario's results are `results/<scenario>/<point>/`; a point is one combination of the scenario's
sweep. `points.json` beside the points names those of the latest run, in its order. A directory with
a leading dot is an unfinished run and is ignored. Tables are scanned lazily: nothing is read until
a metric needs it. So is polars imported, which summaries do not need.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from narrows.analysis.soundness import problems
from narrows.schema.run import POINTS
from narrows.schema.tables import TABLES

if TYPE_CHECKING:
    import polars as pl

    from narrows.schema.run import RunRecord
    from narrows.schema.summary import FlowSummary, Summary

SCHEMA: Final = 1
"""The version of run directories that this reader supports."""

COLUMNS: Final = {name: tuple(table.columns) for name, table in TABLES.items()}
"""The tables of a run directory and the required columns of each."""


class LoadError(Exception):
    """A run directory that cannot be used: the file, the fault, and what was expected."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem

    def __reduce__(self) -> tuple[type[LoadError], tuple[Path, str]]:
        """Lets another process raise it."""
        return LoadError, (self.path, self.problem)


@dataclass(frozen=True)
class Run:
    """One finished run: one point of a scenario with one seed."""

    path: Path
    """The run directory."""
    record: RunRecord
    """`run.json`: the settings of the run and its environment."""
    summary: Summary
    """`summary.json`: the results of the run."""

    @property
    def name(self) -> str:
        """The run's name within its scenario, which is that of its directory."""
        return self.path.name

    @property
    def scenario(self) -> dict[str, Any]:
        """The scenario as resolved."""
        scenario: dict[str, Any] = self.record["scenario"]
        return scenario

    @property
    def title(self) -> str:
        """The scenario's title, or the name of its results if it has none."""
        return str(self.scenario.get("title") or self.path.parent.name)

    @property
    def point(self) -> dict[str, Any]:
        """The sweep's keys with this run's values; includes the seed if it was repeated."""
        point: dict[str, Any] = self.record["point"]
        return point

    @property
    def seed(self) -> int:
        """The seed of the run's random numbers."""
        return int(self.record["seed"])

    @property
    def valid(self) -> bool:
        """Whether both the instrument and the engine declare the run valid."""
        return bool(self.record["valid"]) and bool(self.summary["valid"])

    @property
    def invalid_reason(self) -> str | None:
        """Why the run does not count; None if it is valid."""
        if self.valid:
            return None
        reason = self.summary.get("invalid_reason") or self.record.get("invalid_reason")
        return str(reason or "no reason recorded")

    @property
    def duration_ps(self) -> int:
        """Length of the run in picoseconds of its own clock."""
        return round(float(self.summary["duration_s"]) * 1e12)

    @property
    def flows(self) -> list[FlowSummary]:
        """The summary's flows, in the order of their ids."""
        return sorted(self.summary["flows"], key=lambda flow: int(flow["id"]))

    @property
    def named(self) -> dict[str, list[FlowSummary]]:
        """The summary's flows by the name of their `[[flow]]`, in the scenario's order.

        Flows without a name are omitted.
        """
        found: dict[str, list[FlowSummary]] = {}
        flows = iter(self.flows)
        for table in self.scenario.get("flow", []):
            own = list(islice(flows, int(table.get("count", 1))))
            if own and table.get("name"):
                found.setdefault(str(table["name"]), []).extend(own)
        return found

    @property
    def segment_bytes(self) -> int | None:
        """Payload bytes of a full segment; None if TCP flows differ, or if it is not known.

        It is not known for the kernel's connections, nor in results of versions before 0.2.0.
        """
        planned = self.record.get("segment_bytes", [])
        if len(planned) != len(self.flows):
            return None
        sizes = {
            None if flow.get("profile") == "kernel" else size
            for flow, size in zip(self.flows, planned, strict=True)
            if "datagrams" not in flow
        }
        return sizes.pop() if len(sizes) == 1 else None

    def has(self, table: str) -> bool:
        """Whether the run recorded this table (a key of `COLUMNS`)."""
        return (self.path / f"{table}.parquet").is_file()

    def table(self, table: str) -> pl.LazyFrame:
        """One of the run's tables (a key of `COLUMNS`) as a lazy frame; rows in the order of
        events.

        Raises `LoadError` when the file is missing, is not a Parquet file, or lacks a column.
        """
        import polars as pl

        path = self.path / f"{table}.parquet"
        if not path.is_file():
            raise LoadError(path, f"no such table; the run did not record {table!r}")
        try:
            frame = pl.scan_parquet(path)
            columns = frame.collect_schema().names()
        except (pl.exceptions.PolarsError, OSError) as error:
            raise LoadError(path, f"not a readable Parquet file ({error})") from error
        missing = [column for column in COLUMNS[table] if column not in columns]
        if missing:
            raise LoadError(path, f"no column {', '.join(missing)}; it has {', '.join(columns)}")
        return frame


def load(results_dir: Path) -> list[Run]:
    """The runs of a scenario's results, or the single run if `results_dir` is a run directory.

    They are the points of the latest `narrows run` (`points.json`), in the scenario's order; points
    of earlier runs remain on the disk and are omitted. Without that file, all runs are returned, in
    the natural order of their names (`count=2` before `count=10`). Raises `LoadError` if there is
    no run, or if one cannot be read.
    """
    if not results_dir.is_dir():
        raise LoadError(results_dir, "no such directory; expected the results of a scenario")
    if (results_dir / "run.json").is_file():
        return [load_run(results_dir)]
    paths = sorted(
        (path.parent for path in results_dir.glob("*/run.json") if path.parent.name[0] != "."),
        key=lambda path: natural_key(path.name),
    )
    if (results_dir / POINTS).is_file():
        names = _read_json(results_dir / POINTS, {"points": list})["points"]
        finished = {path.name: path for path in paths}
        paths = [finished[name] for name in names if name in finished]
    if not paths:
        raise LoadError(results_dir, "holds no finished run; expected <point>/run.json")
    return [load_run(path) for path in paths]


def load_run(path: Path, *, only_present: bool = False) -> Run:
    """Reads one run directory; with `only_present`, its tables may be missing. Raises `LoadError`
    with the file that is missing or wrong.
    """
    record = _read_json(
        path / "run.json",
        {"scenario": dict, "point": dict, "seed": int, "target": str, "valid": bool},
    )
    summary = _read_json(
        path / "summary.json",
        {"valid": bool, "duration_s": (int, float), "bottleneck": dict, "flows": list},
    )
    for problem in problems(path, record, only_present=only_present):
        name, _, what = problem.partition(": ")
        raise LoadError(path / name, what)
    return Run(path, record, summary)


def natural_key(text: str) -> list[tuple[int, float, str]]:
    """A sort key that compares digits within a name as numbers."""
    return [
        (0, float(part), "") if part.replace(".", "", 1).isdigit() else (1, 0.0, part)
        for part in re.split(r"(\d+(?:\.\d+)?)", text)
        if part
    ]


def _read_json(path: Path, expected: dict[str, type | tuple[type, ...]]) -> Any:
    try:
        content = json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_number)
    except FileNotFoundError as error:
        raise LoadError(path, "no such file; the directory is not a finished run") from error
    except (OSError, ValueError, RecursionError) as error:
        raise LoadError(path, f"not readable as JSON ({error})") from error
    if not isinstance(content, dict):
        raise LoadError(path, f"holds a {type(content).__name__}, expected an object")
    if content.get("schema") != SCHEMA:
        raise LoadError(path, f"schema is {content.get('schema')!r}, expected {SCHEMA}")
    for key, kind in expected.items():
        if key not in content:
            raise LoadError(path, f"no key {key!r}")
        if not isinstance(content[key], kind):
            raise LoadError(path, f"{key} is {content[key]!r}, expected {_kind_name(kind)}")
    return content


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is not a number of JSON")


def _kind_name(kind: type | tuple[type, ...]) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false"}
    return names.get(kind, "a number") if isinstance(kind, type) else "a number"
