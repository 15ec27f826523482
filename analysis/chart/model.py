"""The declaration of a chart: panels of marks on axes. Nothing is drawn here.

A mark is a trace (line, steps or points), a filled area, a rule or a map of cells. Everything else
is composed of these (`boxes.py`, `ellipse.py`), so a drawing backend needs only four marks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from narrows.analysis.chart import style

Floats = npt.NDArray[np.float64]
"""A one-dimensional array of numbers."""

Limits = tuple[float, float]
"""The two ends of an axis, in the unit of its label."""
Shared = Literal["all", "row", "none"]
"""Which panels share the limits of an axis."""


@dataclass(frozen=True)
class Look:
    """How a mark looks."""

    colour: int | Literal["ink", "muted"] = 0
    """The number of a series, from 0, which determines colour, dashes, marker and hatch; or `ink`
    and `muted`, for references that all series are compared with.
    """
    dash: int | None = None
    """The number of the dashes; None for those of the series, and solid without a series."""
    width: float = 1.0
    """Width of the line, in points."""
    opacity: float = 1.0
    line: bool = True
    """Whether lines join the points."""
    marker: Literal["", "filled", "hollow"] = ""
    size: float = 4.0
    """Size of the marker, in points."""

    @property
    def dashes(self) -> int:
        """The number of the dashes, 0 is solid."""
        if self.dash is not None:
            return self.dash
        return self.colour if isinstance(self.colour, int) else 0


@dataclass(frozen=True)
class Trace:
    """Points in order: joined, in steps (a value holds until the next point), or alone."""

    x: Floats
    y: Floats
    look: Look = Look()
    name: str = ""
    """Its entry in the legend, which shows and hides all marks of this name; empty for none."""
    step: bool = False
    low: Floats | None = None
    """The lower ends of ranges in y around the points; `high` holds the upper ends."""
    high: Floats | None = None
    labels: Sequence[str] = ()
    """What the screen shows for each point besides its numbers."""


@dataclass(frozen=True)
class Area:
    """A closed outline, filled."""

    x: Floats
    y: Floats
    look: Look = Look()
    name: str = ""
    hatched: bool = False
    """Whether it is filled with the hatch of its series."""


@dataclass(frozen=True)
class Rule:
    """A straight line across the panel, at `x` (upright) or at `y`."""

    x: float | None = None
    y: float | None = None
    look: Look = Look("muted", dash=1, width=0.7)
    name: str = ""


@dataclass(frozen=True)
class Cells:
    """A map of numbers: rows from the top, columns from the left, each named; NaN means an empty
    cell.
    """

    columns: Sequence[str]
    rows: Sequence[str]
    values: npt.NDArray[np.float64]
    ends: Limits
    """The values at the two ends of the colour scale."""
    unit: str
    """The label of the colour scale."""
    digits: int = 2
    """Decimals of the numbers in the cells."""
    two_sided: bool = False
    """Whether the middle of the scale is neutral."""

    @property
    def scale(self) -> Sequence[str]:
        """The colours from the smallest value to the largest."""
        return style.TWO_SIDED if self.two_sided else style.SCALE

    @property
    def is_large(self) -> bool:
        """True if its numbers need small print and the width of a page."""
        return len(self.rows) > 12 or len(self.columns) > 12


Mark = Trace | Area | Rule | Cells


@dataclass(frozen=True)
class Axis:
    """An axis of all panels."""

    label: str = ""
    low: float | None = None
    """Where it begins; None for the minimum of the data."""
    high: float | None = None
    pad: tuple[float, float] = (0.05, 0.05)
    """Margin below and above, as shares of the span."""
    log: bool = False
    reverse: bool = False
    ticks: Sequence[tuple[float, str]] | None = None
    """Positions and names of the ticks; None for round numbers."""
    whole: bool = False
    """Whether ticks are limited to whole numbers."""
    shared: Shared = "all"

    def limits(self, data: Iterable[Floats]) -> Limits:
        """The limits for these numbers; (0, 1) without any."""
        numbers = np.concatenate([np.empty(0), *data])
        numbers = numbers[np.isfinite(numbers)]
        if self.log:
            numbers = np.log10(numbers[numbers > 0])
        least, most = (numbers.min(), numbers.max()) if numbers.size else (0.0, 1.0)
        low = float(least if self.low is None else self._scaled(self.low))
        high = float(most if self.high is None else self._scaled(self.high))
        if high <= low:
            high = low + (abs(low) or 1.0)
        ends = (low - self.pad[0] * (high - low), high + self.pad[1] * (high - low))
        return (10 ** ends[0], 10 ** ends[1]) if self.log else ends

    def _scaled(self, value: float) -> float:
        return math.log10(value) if self.log else value


def from_zero(label: str, *, shared: Shared = "all") -> Axis:
    """A vertical axis from slightly below 0, so that a line at 0 is visible."""
    return Axis(label, low=0.0, pad=(0.03, 0.05), shared=shared)


def time_axis(label: str = "Time (s)", *, shared: Shared = "none") -> Axis:
    """A horizontal axis from 0 to the end of the data."""
    return Axis(label, low=0.0, pad=(0.0, 0.0), shared=shared)


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    marks: Sequence[Mark]
    title: str = ""
    note: str = ""
    """A few words above it, at the right."""
    note_look: Look = Look("muted")
    y: Axis | None = None
    """Its own vertical axis, if it differs from the chart's."""


@dataclass(frozen=True)
class Chart:
    """Panels of one size in reading order, with their axes and shared settings."""

    panels: Sequence[Panel]
    x: Axis = Axis()
    y: Axis = Axis()
    columns: int = 3
    """Maximum number of panels in a row."""
    height_in: float = 1.5
    """Height of a panel on paper, in inches."""
    note: str = ""
    """A note in small print below the panels."""
    keys: Sequence[tuple[str, Look]] = field(default=())
    """Looks in the legend, for names where the first mark's look is wrong."""

    def y_of(self, panel: Panel) -> Axis:
        """A panel's vertical axis."""
        return panel.y or self.y

    @property
    def legend(self) -> list[tuple[str, Trace | Area | Rule, Look]]:
        """The names in order of appearance, those of `keys` last.

        Each has its first mark and its look.
        """
        first: dict[str, Trace | Area | Rule] = {}
        for panel in self.panels:
            for mark in panel.marks:
                if not isinstance(mark, Cells) and mark.name:
                    first.setdefault(mark.name, mark)
        own = dict(self.keys)
        found = [(name, mark, own.get(name, mark.look)) for name, mark in first.items()]
        return sorted(found, key=lambda entry: entry[0] in own)

    @property
    def fills_page(self) -> bool:
        """Whether a journal's column is too narrow: for panels in a row, or a map of many cells."""
        found = self.cells
        return min(self.columns, len(self.panels)) > 1 or (found is not None and found.is_large)

    @property
    def cells(self) -> Cells | None:
        """The first map of cells; the chart shows its scale."""
        found = (m for panel in self.panels for m in panel.marks if isinstance(m, Cells))
        return next(found, None)

    def groups(self, axis: Literal["x", "y"]) -> list[int]:
        """For each panel, the first panel with which it shares the limits of this axis."""
        columns = min(self.columns, len(self.panels))
        shared = [(self.x if axis == "x" else self.y_of(panel)).shared for panel in self.panels]
        positions = range(len(self.panels))
        first = {"all": [0 for _ in positions], "row": [i - i % columns for i in positions],
                 "none": list(positions)}  # fmt: skip
        return [first[how][index] for index, how in enumerate(shared)]

    def limits(self, axis: Literal["x", "y"]) -> list[Limits]:
        """For each panel, the limits of this axis."""
        groups = self.groups(axis)
        found = dict[int, Limits]()
        for group in sorted(set(groups)):
            members = [p for p, of in zip(self.panels, groups, strict=True) if of == group]
            data = [extent(mark, axis) for panel in members for mark in panel.marks]
            found[group] = (self.x if axis == "x" else self.y_of(members[0])).limits(data)
        return [found[group] for group in groups]


def extent(mark: Mark, axis: Literal["x", "y"]) -> Floats:
    """The numbers of a mark that must lie within the limits of an axis."""
    match mark:
        case Trace():
            ranges = [mark.low, mark.high] if axis == "y" else []
            parts = [mark.x if axis == "x" else mark.y, *(r for r in ranges if r is not None)]
            return np.concatenate(parts)
        case Area():
            return mark.x if axis == "x" else mark.y
        case Rule():
            at = mark.x if axis == "x" else mark.y
            return np.array([] if at is None else [at], dtype=np.float64)
        case Cells():
            count = len(mark.columns if axis == "x" else mark.rows)
            return np.array([-0.5, count - 0.5])
