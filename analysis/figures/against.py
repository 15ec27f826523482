"""Figures against a swept quantity: a line per series with its range over the seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from narrows.analysis.chart.model import Axis, Look, Trace
from narrows.analysis.figures.base import (
    COUNT,
    KEY_UNITS,
    Results,
    key_label,
    number,
    series_name,
    spaced,
    unit_label,
)
from narrows.analysis.load import Run
from narrows.analysis.metrics import Floats

Measure = Callable[[Run], float | None]
"""A number of a run; None if it has none."""
Positions = Callable[[Results, Results, int, Any], Iterator[tuple[float, tuple[Run, ...]]]]
"""From all runs, a panel's runs and a series' number: its positions on the x axis, with the runs at
each.
"""

MOST_STEPS: Final = 8
"""Minimum distances of two values on an axis, so that their names fit."""


def axis(results: Results, *, even: bool = False) -> Axis:
    """The x axis of such a figure: a tick at each value. `even` as in `positions`."""
    at, values = positions(results, even=even)
    unit, names = units(results.x_key or COUNT, values)
    names = names if results.x_key else [str(len(results.runs[0].flows))]
    label = key_label(results.x_key or COUNT)
    log = not even and is_log(results)
    half = 0.5 * step(results, even=even)
    return Axis(
        f"{label} ({unit})" if unit else label,
        low=min(at) / half if log else min(at) - half,
        high=max(at) * half if log else max(at) + half,
        pad=(0.0, 0.0),
        log=log,
        ticks=list(zip(at, names, strict=True)),
    )


def lines(
    whole: Results, among: Results, measure: Measure, where: Positions | None = None
) -> list[Trace]:
    """A measure's mean over the seeds with its minimum and maximum, a line per series.

    `among` are the runs that the panel shows; a run without the measure is omitted. `where` places
    the runs at other positions than the values of the x axis.
    """
    traces = []
    for index, series in enumerate(whole.series):
        measured = [
            (position, [value for run in runs if (value := measure(run)) is not None])
            for position, runs in (where or side_by_side)(whole, among, index, series)
        ]
        points = [(at, np.mean(found), min(found), max(found)) for at, found in measured if found]
        if points:
            at, mean, low, high = np.array(sorted(points), dtype=np.float64).T
            look = Look(index, marker="filled")
            ranges = {"low": low, "high": high} if np.any(high > low) else {}
            traces.append(Trace(at, mean, look, series_name(whole, series), **ranges))
    return traces


def over_seeds(x: Sequence[float], values: npt.ArrayLike, look: Look, name: str) -> list[Trace]:
    """The means over runs (rows) at each x (columns), with minimum and maximum.

    An x at which a run has no value (NaN) is omitted; there is no trace if that is every x.
    """
    numbers = np.asarray(values, dtype=np.float64).reshape(-1, len(x))
    known = ~np.isnan(numbers).any(axis=0)
    if not len(numbers) or not known.any():
        return []
    at, numbers = np.asarray(x, dtype=np.float64)[known], numbers[:, known]
    mean, low, high = numbers.mean(axis=0), numbers.min(axis=0), numbers.max(axis=0)
    if np.any(high > low):
        return [Trace(at, mean, look, name, low=low, high=high)]
    return [Trace(at, mean, look, name)]


def curves(
    whole: Results, among: Results, x: Sequence[float], measure: Callable[[Run], Floats]
) -> list[Trace]:
    """Positions with runs on the x axis, over the seeds, a line per series; `among` are the panel's
    runs.
    """
    traces = []
    for index, series in enumerate(whole.series):
        values = [measure(run) for run in among.of_series(series).runs]
        look = Look(index, marker="filled")
        traces += over_seeds(x, values, look, series_name(whole, series))
    return traces


def side_by_side(
    whole: Results,
    among: Results,
    index: int,
    series: Any,
    apart: float = 0.05,
    *,
    even: bool = False,
) -> Iterator[tuple[float, tuple[Run, ...]]]:
    """The positions of the n-th series on the x axis, with the runs at each.

    Series are drawn side by side, `apart` of the distance between two values. `even` as in
    `positions`.
    """
    at, values = positions(whole, even=even)
    aside = (index - (len(whole.series) - 1) / 2) * apart
    wide = step(whole, even=even)
    for position, value in zip(at, values, strict=True):
        found = among.of_series(series).matching({whole.x_key: value} if whole.x_key else {})
        if found.runs:
            log = not even and is_log(whole)
            yield position * wide**aside if log else position + aside * wide, found.runs


def step(results: Results, *, even: bool = False) -> float:
    """Minimum distance of two values on the x axis, or minimum ratio on a log axis.

    For a single value it is 1, or 2 on a log axis.
    """
    at = sorted(positions(results, even=even)[0])
    if not even and is_log(results):
        return float(min((high / low for low, high in pairwise(at)), default=2.0))
    return float(min(np.diff(at), default=1.0))


def positions(results: Results, *, even: bool = False) -> tuple[list[float], list[Any]]:
    """The positions of the values on the x axis, and the values.

    Numbers stand at their sizes. Names stand at even steps, as do all values with `even`. So do
    numbers so uneven that some would overlap: a value of 0 rules out a log axis.
    """
    values = results.values(results.x_key) if results.x_key else [None]
    known = [size for value in values if (size := number(value)) is not None]
    if not even and len(known) == len(values) and (_is_even(known) or is_log(results)):
        return known, values
    return [float(n) for n in range(len(values))], values


def is_log(results: Results) -> bool:
    """Whether the values of the x axis are above 0, but too uneven for a linear axis."""
    values = results.values(results.x_key) if results.x_key else []
    known = [size for value in values if (size := number(value)) is not None]
    above = len(known) == len(values) > 1 and min(known) > 0
    return above and not _is_even(known)


def _is_even(sizes: Sequence[float]) -> bool:
    return max(sizes) - min(sizes) <= MOST_STEPS * min(np.diff(sorted(sizes)), default=1.0)


def units(key: str, values: Sequence[Any]) -> tuple[str, list[str]]:
    """The common unit of a key's values, for the axis label, and the values without it.

    Values with several units keep theirs.
    """
    names = [spaced(value) for value in values]
    parts = [name.split(" ", 1) for name in names]
    found = {part[1] for part in parts if len(part) == 2}
    if len(found) == 1 and all(len(part) == 2 for part in parts):
        return unit_label(found.pop()), [part[0] for part in parts]
    return KEY_UNITS.get(key, ""), names
