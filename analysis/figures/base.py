"""What every figure is made of: its record, the runs it is given, panels, lines, notes.

A figure file declares one `Figure` record; its `draw` gets the `Results` of one scenario and
returns a matplotlib figure, or None where the runs hold nothing for it.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D

from analysis.figures import style
from analysis.load import Run, natural_key
from analysis.metrics import PS_PER_S

SEED: Final = "seed"
VARIANT: Final = "flow.variant"
COUNT: Final = "flow.count"


@dataclass(frozen=True)
class Figure:
    """The declaration of a figure."""

    name: str
    """Name of the files and in `narrows list figures`."""
    title: str
    """What it shows, in a few words."""
    caption: str
    """How to read it: what is drawn, with definitions."""
    needs: tuple[str, ...]
    """Tables (`load.COLUMNS`) that a run must have to be drawn."""
    draw: Callable[[Results], Canvas | None]
    """Draws it; None where there is nothing to draw."""


@dataclass(frozen=True)
class Results:
    """The runs of one scenario, with what varies among them.

    A part of them (`matching`, `valid`, ...) keeps the whole's keys and series, so that a
    colour stands for the same series in every panel.
    """

    runs: tuple[Run, ...]
    whole: tuple[Run, ...] = ()
    """All the scenario's runs; empty where `runs` is the whole."""

    @property
    def all_runs(self) -> tuple[Run, ...]:
        """The runs of the whole scenario."""
        return self.whole or self.runs

    def where(self, wanted: Callable[[Run], bool]) -> Results:
        """The part of the runs that is wanted."""
        return Results(tuple(run for run in self.runs if wanted(run)), self.all_runs)

    @property
    def keys(self) -> list[str]:
        """Keys of the sweep with more than one value, in the sweep's order; never the seed."""
        names = dict.fromkeys(key for run in self.all_runs for key in run.point if key != SEED)
        return [key for key in names if len(self.values(key)) > 1]

    def values(self, key: str) -> list[Any]:
        """The values of a sweep key, numbers by size, names in natural order."""
        found = dict.fromkeys(_hashable(run.point.get(key)) for run in self.all_runs)
        return sorted(found, key=_order)

    @property
    def series_key(self) -> str | None:
        """The key told apart by colour and line: the variant, else the last one without numbers."""
        if VARIANT in self.keys:
            return VARIANT
        named = [key for key in self.keys if number(self.values(key)[0]) is None]
        return named[-1] if named else None

    @property
    def series(self) -> list[Any]:
        """Values of the series key; [None] when the runs have none."""
        return self.values(self.series_key) if self.series_key else [None]

    def matching(self, point: dict[str, Any]) -> Results:
        """The runs at these values of these keys (None matches a run without the key)."""
        return self.where(
            lambda run: all(_hashable(run.point.get(key)) == at for key, at in point.items())
        )

    def of_series(self, value: Any) -> Results:
        """The runs of one series."""
        return self.matching({self.series_key: value}) if self.series_key else self

    @property
    def x_key(self) -> str | None:
        """The key that a figure against a quantity has on its x axis: flows, else a number."""
        if COUNT in self.keys:
            return COUNT
        return next((key for key in self.keys if number(self.values(key)[0]) is not None), None)

    def facets(self, *without: str | None) -> list[tuple[dict[str, Any], Results]]:
        """Every combination of the varying keys but `without` that has runs."""
        keys = [key for key in self.keys if key not in without]
        combinations = product(*(self.values(key) for key in keys))
        points = [dict(zip(keys, values, strict=True)) for values in combinations]
        found = [(point, self.matching(point)) for point in points]
        return [(point, results) for point, results in found if results.runs]

    @property
    def valid(self) -> Results:
        """The runs that count."""
        return self.where(lambda run: run.valid)

    @property
    def first(self) -> Run:
        """The run with the lowest seed: the one a figure of single runs shows."""
        return min(self.runs, key=lambda run: run.seed)

    def needing(self, tables: Iterable[str]) -> Results:
        """The runs that recorded these tables."""
        return self.where(lambda run: all(run.has(name) for name in tables))


def number(value: Any) -> float | None:
    """A sweep value as a number, its unit left out (`"1.5bdp"` is 1.5); None for a name."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return float(value)
    parts = natural_key(str(value))
    scale = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "m": 1e-3, "u": 1e-6, "n": 1e-9}
    if not parts or parts[0][0] != 0 or len(parts) > 2:
        return None
    unit = parts[1][2].strip() if len(parts) == 2 else ""
    prefixed = len(unit) > 1 and unit[0] in scale and unit not in ("min", "packets")
    return parts[0][1] * (scale[unit[0]] if prefixed else 1.0)


def _order(value: Any) -> tuple[int, float, list[tuple[int, float, str]]]:
    size = number(value)
    return (1, 0.0, natural_key(str(value))) if size is None else (0, size, [])


def _hashable(value: Any) -> Any:
    return repr(value) if isinstance(value, (dict, list)) else value


def key_label(key: str) -> str:
    """A sweep key as an axis label."""
    return {COUNT: "Number of flows", VARIANT: "Variant"}.get(key, key)


def value_label(key: str | None, value: Any) -> str:
    """One value of a sweep key as a legend or a panel title has it."""
    if key == COUNT:
        return "1 flow" if value == 1 else f"{value} flows"
    if key in (None, VARIANT):
        return "all flows" if value is None else str(value)
    return f"{str(key).rsplit('.', 1)[-1]} {spaced(value)}"


def spaced(value: Any) -> str:
    """A sweep value with a space between number and unit; a number as short as it goes."""
    if isinstance(value, float):
        return f"{value:g}"
    return re.sub(r"^([\d.]+)(?=[A-Za-z])", r"\1 ", str(value))


def point_label(point: dict[str, Any]) -> str:
    """A combination of sweep values as a panel title."""
    return ", ".join(value_label(key, value) for key, value in point.items())


# Panels


@dataclass(frozen=True)
class Panels:
    """A figure of equal panels: one per point, in reading order."""

    canvas: Canvas
    axes: list[Axes]
    columns: int
    """Panels side by side."""
    columns_px: int
    """Pixel columns of a panel at the resolution in print: traces are thinned to them."""

    def from_zero(self) -> None:
        """Every panel begins at 0, ends with the data at the right and a little above them.

        The vertical axis begins a little below 0, so that a line at 0 is seen.
        """
        for axis in self.axes:
            axis.set_xlim(left=0)
            axis.set_ylim(0, max(axis.get_ylim()[1], 1.05 * axis.dataLim.y1))
        for axis in self.axes:
            top = axis.get_ylim()[1]
            axis.set_ylim(-0.03 * top, top)


def panels(
    count: int,
    columns: int,
    height_in: float,
    titles: Sequence[str],
    *,
    share_y: Literal["all", "row", "none"] = "all",
    share_x: Literal["all", "row", "none"] = "none",
) -> Panels:
    """Lays out `count` panels, each `height_in` high, at a column's or a page's width.

    One column of panels fits a journal's column (3.5 in), more fill its page (7.16 in). A single
    row of panels is as high as its labels need; several are lettered (a), (b), ...
    """
    columns = min(columns, count)
    rows = math.ceil(count / columns)
    width_in = style.COLUMN_IN if columns == 1 else style.PAGE_IN
    height_in = max(height_in, style.SINGLE_IN) if rows == 1 else height_in
    canvas = Canvas(figsize=(width_in, rows * height_in + 0.55), layout="constrained")
    grid = canvas.subplots(rows, columns, squeeze=False, sharey=share_y, sharex=share_x)
    axes = [axis for row in grid for axis in row]
    for spare in axes[count:]:
        spare.set_visible(False)
    for index, (axis, title) in enumerate(zip(axes[:count], titles, strict=True)):
        letter = f"({_letter(index)}) " if count > 1 else ""
        lines = textwrap.wrap(f"{letter}{title}", round(width_in / columns * _TITLE_PER_IN))
        axis.set_title("\n".join(lines), loc="left")
        if share_y != "none" and index % columns:
            axis.tick_params(labelleft=False)
        if share_x == "all" and index + columns >= count:
            axis.tick_params(labelbottom=True)
    return Panels(canvas, axes[:count], columns, round(width_in / columns * style.TRACE_DPI))


def point_panels(
    results: Results, height_in: float, *, share_y: Literal["all", "row"] = "all"
) -> tuple[Panels, list[Run]]:
    """One panel for each point of a sweep, showing its first seed; series side by side.

    Panels side by side have the same time axis.
    """
    series, key = results.series, results.series_key
    by_point = [
        (point, among.of_series(value), value)
        for point, among in results.facets(key)
        for value in series
    ]
    shown = [(point, found, value) for point, found, value in by_point if found.runs]
    complete = len(shown) == len(by_point) and 1 < len(series) <= 4
    columns = len(series) if complete else (1 if len(shown) == 1 else 3)
    titles = []
    for point, found, value in shown:
        parts = (
            [value_label(key, value)]
            if key
            else [found.first.flows[0]["variant"]]
            * (len({flow["variant"] for flow in found.first.flows}) == 1)
        )
        parts += [point_label(point)] if point else []
        titles.append(", ".join(parts) + ("" if found.first.valid else "  INVALID RUN"))
    share_x: Literal["row", "none"] = "row" if complete else "none"
    grid = panels(len(shown), columns, height_in, titles, share_y=share_y, share_x=share_x)
    return grid, [found.first for _, found, _ in shown]


_TITLE_PER_IN: Final = 12
"""Characters of a title that fit an inch of a panel, with room for a short one at its right."""


def _letter(index: int) -> str:
    letters = "abcdefghijklmnopqrstuvwxyz"
    return letters[index] if index < 26 else letters[index // 26 - 1] + letters[index % 26]


def finish(
    grid: Panels, xlabel: str, ylabel: str, handles: Sequence[Artist] = (), note: str = ""
) -> Canvas:
    """Labels the axes once for all panels; the legend goes above them, a note below."""
    if handles:
        rows = math.ceil(len(handles) / (3 if grid.columns == 1 else 6))
        entries = math.ceil(len(handles) / rows)
        grid.canvas.legend(handles=list(handles), loc="outside upper center", ncols=entries)
    if len(grid.axes) == 1:
        grid.axes[0].set_ylabel(ylabel)
    else:
        grid.canvas.supylabel(ylabel)
    if grid.columns == 1:
        grid.axes[-1].set_xlabel(xlabel)
        strip = 0.13 / grid.canvas.get_figheight() * bool(note)
        grid.canvas.set_layout_engine("constrained", rect=(0, strip, 1, 1 - strip))
    else:
        grid.canvas.supxlabel(xlabel)
    grid.canvas.text(0.995, 0.005, note, ha="right", va="bottom", fontsize=6, color=style.MUTED)
    return grid.canvas


def seeds_note(results: Results, how: str = "seed {first} of {count} shown") -> str:
    """What a figure does with repeated runs, where there are any."""
    seeds = {run.seed for run in results.runs}
    return how.format(first=min(seeds), count=len(seeds)) if len(seeds) > 1 else ""


def series_handles(results: Results, *, markers: bool = False) -> list[Line2D]:
    """Legend entries of the series; none where there is only one."""
    if results.series_key is None:
        return []
    handles = []
    for index, value in enumerate(results.series):
        look = style.series(index, markers=markers)
        handles.append(Line2D([], [], label=value_label(results.series_key, value), **look))
    return handles


# Traces


def thin(
    time_ps: npt.ArrayLike, value: npt.ArrayLike, end_ps: int, columns: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """A step function as few points as a print of `columns` pixel columns can show, in s.

    Of each column it keeps the first, the least, the greatest and the last point, all of them
    points that were recorded, so no excursion disappears. The last value is held to `end_ps`.
    """
    times = np.asarray(time_ps, dtype=np.int64)
    values = np.asarray(value, dtype=np.float64)
    if len(times) > 4 * columns:
        column = times * columns // max(end_ps, 1)
        start = np.flatnonzero(np.diff(column, prepend=column[0] - 1))
        ends = np.append(start[1:], len(times))
        order = np.lexsort((values, column))
        keep = np.unique(np.concatenate([start, ends - 1, order[start], order[ends - 1]]))
        times, values = times[keep], values[keep]
    if len(times):
        times, values = np.append(times, max(end_ps, times[-1])), np.append(values, values[-1])
    return times / PS_PER_S, values
