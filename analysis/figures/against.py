"""Figures against a swept quantity: a line per series with its range over the seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from analysis.figures import style
from analysis.figures.base import COUNT, Results, key_label, number, spaced
from analysis.load import Run


def label(results: Results) -> str:
    """The x axis of such a figure: the swept quantity, the number of flows where none is."""
    return key_label(results.x_key or COUNT)


def lines(axis: Axes, results: Results, measure: Callable[[Run], float]) -> None:
    """A measure's mean over the seeds with its least and greatest value, a line per series."""
    for index, series in enumerate(results.series):
        points = [
            (place, np.mean(measured), min(measured), max(measured))
            for place, runs in places(results, index, series)
            for measured in [[measure(run) for run in runs]]
        ]
        if points:
            at, mean, low, high = np.array(points, dtype=np.float64).T
            spread = np.stack([mean - low, high - mean]).clip(min=0.0)
            look = style.series(index, markers=True)
            axis.errorbar(at, mean, yerr=spread, capsize=2, elinewidth=0.8, **look)
    ticks(axis, results)


def places(
    results: Results, index: int, series: Any, apart: float = 0.05
) -> Iterator[tuple[float, tuple[Run, ...]]]:
    """Where the n-th series has runs on the x axis, and those runs.

    Series stand beside each other, `apart` of the distance between two values.
    """
    at, values = _axis(results)
    aside = (index - (len(results.series) - 1) / 2) * apart * step(results)
    for place, value in zip(at, values, strict=True):
        found = results.of_series(series).matching({results.x_key: value} if results.x_key else {})
        if found.runs:
            yield place + aside, found.runs


def ticks(axis: Axes, results: Results) -> None:
    """A tick at each value of the x axis, named as in the scenario."""
    at, values = _axis(results)
    names = [spaced(value) for value in values]
    axis.set_xticks(at, names if results.x_key else [str(len(results.runs[0].flows))])
    axis.set_xlim(min(at) - 0.5 * step(results), max(at) + 0.5 * step(results))


def step(results: Results) -> float:
    """Least distance of two values on the x axis; 1 where there is one value."""
    return float(min(np.diff(sorted(_axis(results)[0])), default=1.0))


def _axis(results: Results) -> tuple[list[float], list[Any]]:
    values = results.values(results.x_key) if results.x_key else [None]
    sizes = [number(value) for value in values]
    known = [size for size in sizes if size is not None]
    return (known if len(known) == len(values) else [float(n) for n in range(len(values))]), values
