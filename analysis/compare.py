"""Compares two or more results: the keys that differ, and the numbers of their points."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from narrows.analysis import metrics
from narrows.analysis.figures.base import SEED, Results, point_label
from narrows.analysis.load import Run
from narrows.analysis.of_summary import follow
from narrows.analysis.page import Block, Column, Section, Table, Text, Value

MEASURES: Final[tuple[tuple[str, str, Callable[[Run], float | None]], ...]] = (
    ("Goodput", "Mb/s", lambda run: metrics.mean_goodput_bps(run) / 1e6),
    ("Link use", "%", metrics.link_use_percent),
    ("Queueing delay, mean", "ms", metrics.mean_queue_delay_ms),
    ("Queueing delay, p95", "ms",
     lambda run: follow(run.summary, ("bottleneck", "queue_delay_ms", "p95"))),
    ("Loss", "%", metrics.loss_percent),
    ("Jain", "", lambda run: follow(run.summary, ("jain",))),
    ("Completion", "s", metrics.completion_s),
)  # fmt: skip
"""The quantities that are compared."""


def section(scenarios: Sequence[Results], flatten: Callable[[Any], dict[str, Any]]) -> Section:
    """The comparison. `flatten` makes dotted keys of a scenario."""
    names = labels([results.runs[0].path.parent for results in scenarios])
    blocks: list[Block] = [
        Text("Keys that differ."), _keys(scenarios, names, flatten),
        Text("Means over the valid runs of a point; differences are from the first results."),
        _numbers(scenarios, names),
    ]  # fmt: skip
    return Section("Side by side", blocks)


def labels(paths: Sequence[Path]) -> list[str]:
    """The directories without their common prefix."""
    absolute = [str(path.resolve()) for path in paths]
    if len(set(absolute)) < len(absolute):
        return [f"{path.name} ({number})" for number, path in enumerate(paths, start=1)]
    common = os.path.commonpath(absolute)
    return [os.path.relpath(path, common) for path in absolute]


def _keys(
    scenarios: Sequence[Results], names: Sequence[str], flatten: Callable[[Any], dict[str, Any]]
) -> Table:
    """A row per key whose values differ between results."""
    found = [_values(results, flatten) for results in scenarios]
    keys = dict.fromkeys(key for values in found for key in values)
    differing = [key for key in keys if len({repr(values.get(key)) for values in found}) > 1]
    rows: list[list[Value]] = [
        [key, *(", ".join(values.get(key, ())) or None for values in found)] for key in differing
    ]
    return Table([Column("Key"), *map(Column, names)], rows)


def _values(
    results: Results, flatten: Callable[[Any], dict[str, Any]]
) -> dict[str, tuple[str, ...]]:
    """The values of each key of the scenario, in the order of the runs."""
    found: dict[str, dict[str, None]] = {}
    for run in results.runs:
        for key, value in (flatten(run.scenario) | {"target": run.record["target"]}).items():
            if key not in ("title", SEED) and not key.startswith("report."):
                found.setdefault(key, {})[str(value)] = None
    return {key: tuple(values) for key, values in found.items()}


def _numbers(scenarios: Sequence[Results], names: Sequence[str]) -> Table:
    """A row per point and measure: its mean in each of the results, and the differences."""
    shared = [key for key in scenarios[0].keys if all(key in other.keys for other in scenarios)]
    points = [point for point, _ in scenarios[0].facets(*_without(scenarios[0], shared))]
    rows: list[list[Value]] = []
    for point in points:
        parts = [results.matching(point).valid.runs for results in scenarios]
        for what, unit, measure in MEASURES:
            means = [_mean(runs, measure) for runs in parts]
            if all(mean is None for mean in means):
                continue
            first, *others = means
            changes = [
                None if not first or mean is None else 100 * (mean / first - 1) for mean in others
            ]
            rows.append([point_label(point) or "all runs", what, unit or None, *means, *changes])
    columns = [Column("Point"), Column("What"), Column("Unit"),
               *(Column(name, digits=3) for name in names),
               *(Column("Difference" if len(names) == 2 else name, "%", 1, sign=True)
                 for name in names[1:])]  # fmt: skip
    return Table(columns, rows)


def _without(results: Results, kept: Sequence[str]) -> list[str]:
    return [key for key in results.keys if key not in kept]


def _mean(runs: Sequence[Run], measure: Callable[[Run], float | None]) -> float | None:
    known = [value for run in runs if (value := measure(run)) is not None]
    return float(np.mean(known)) if known else None
