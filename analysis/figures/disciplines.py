"""The runs of a scenario by queue discipline, for figures that compare disciplines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from narrows.analysis.chart.model import Mark, Panel
from narrows.analysis.figures.base import Results, point_label, spaced, value_label

DISCIPLINE: Final = "bottleneck.discipline"


def compared_key(results: Results) -> str | None:
    """The key whose values a figure compares: the discipline if it is swept, else the series."""
    return DISCIPLINE if DISCIPLINE in results.keys else results.series_key


def compared(results: Results) -> list[Any]:
    """The values of `compared_key`; [None] if there is no such key."""
    key = compared_key(results)
    return results.values(key) if key else [None]


def each(whole: Results, among: Results) -> Iterator[tuple[int, str, Results]]:
    """For every compared value with runs in `among`: its number, its name and these runs."""
    key = compared_key(whole)
    for index, value in enumerate(compared(whole)):
        found = among.matching({key: value}) if key else among
        if found.runs:
            yield index, name(key, value), found


def panels(results: Results, lines: Callable[[Results, Results], Sequence[Mark]]) -> list[Panel]:
    """A panel per point with its lines, given all results and its own; none if no point has one."""
    facets = results.facets(compared_key(results))
    found = [Panel(lines(results, among), point_label(point)) for point, among in facets]
    return found if any(panel.marks for panel in found) else []


def name(key: str | None, value: Any) -> str:
    """A compared value in a legend; empty without a key."""
    if key is None:
        return ""
    return spaced(value) if key == DISCIPLINE else value_label(key, value)
