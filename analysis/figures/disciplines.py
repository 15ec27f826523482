"""The runs of a scenario by queue discipline, for figures that compare disciplines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from narrows.analysis.figures.base import Results, spaced, value_label

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


def name(key: str | None, value: Any) -> str:
    """A compared value in a legend; empty without a key."""
    if key is None:
        return ""
    return spaced(value) if key == DISCIPLINE else value_label(key, value)
