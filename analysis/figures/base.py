"""The base of all figures: their record, the results, panels, names and notes.

A figure file declares one `Figure` record; its `chart` gets the `Results` of one scenario and
returns a `Chart`, which is drawn for print and for the screen, or None if the runs have nothing to
show.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

from narrows.analysis.chart import style
from narrows.analysis.chart.model import Chart, Shared
from narrows.analysis.load import Run, natural_key

SEED: Final = "seed"
VARIANT: Final = "flow.variant"
COUNT: Final = "flow.count"


@dataclass(frozen=True)
class Figure:
    """The declaration of a figure."""

    name: str
    """Name of the files and in `narrows list figures`."""
    title: str
    """The quantity that it shows, in a few words."""
    caption: str
    """How to read it: what is drawn, with definitions."""
    needs: tuple[str, ...]
    """Tables (`load.COLUMNS`) that a run needs to be drawn."""
    chart: Callable[[Results], Chart | None]
    """The chart of these runs; None if there is nothing to show."""
    wants: str = ""
    """Further needs of the runs, in words; empty for none."""

    @property
    def needed(self) -> str:
        """All that it needs, in words, for a list."""
        tables = f"record.{' and record.'.join(self.needs)}" if self.needs else ""
        return "; ".join(filter(None, [tables, self.wants]))


@dataclass(frozen=True)
class Results:
    """The runs of one scenario, with the keys that vary among them.

    A subset (`matching`, `valid`, ...) keeps the keys and series of the whole, so that a series has
    the same colour in every panel.
    """

    runs: tuple[Run, ...]
    whole: tuple[Run, ...] = ()
    """All the scenario's runs; empty if `runs` is the whole."""

    @property
    def all_runs(self) -> tuple[Run, ...]:
        """The runs of the whole scenario."""
        return self.whole or self.runs

    def where(self, wanted: Callable[[Run], bool]) -> Results:
        """The runs that meet the condition."""
        return Results(tuple(run for run in self.runs if wanted(run)), self.all_runs)

    @property
    def keys(self) -> list[str]:
        """Keys of the sweep with more than one value, in the sweep's order; never the seed."""
        names = dict.fromkeys(key for run in self.all_runs for key in run.point if key != SEED)
        return [key for key in names if len(self.values(key)) > 1]

    def values(self, key: str) -> list[Any]:
        """The values of a sweep key: numbers by size, names in the scenario's order (`load`)."""
        found = list(dict.fromkeys(_hashable(run.point.get(key)) for run in self.all_runs))
        sizes = [number(value) for value in found]
        known = {value: size for value, size in zip(found, sizes, strict=True) if size is not None}
        return sorted(found, key=known.__getitem__) if len(known) == len(found) else found

    @property
    def series_key(self) -> str | None:
        """The key that colours and lines distinguish: the variant, else the last key with names."""
        if VARIANT in self.keys:
            return VARIANT
        named = [key for key in self.keys if number(self.values(key)[0]) is None]
        return named[-1] if named else None

    @property
    def series(self) -> list[Any]:
        """Values of the series key; [None] if the runs have no such key."""
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
        """The key on the x axis of a figure against a quantity: flows, else a key with numbers."""
        if COUNT in self.keys:
            return COUNT
        return next((key for key in self.keys if number(self.values(key)[0]) is not None), None)

    def facets(self, *without: str | None) -> list[tuple[dict[str, Any], Results]]:
        """Every combination of the varying keys, except `without`, that has runs."""
        keys = [key for key in self.keys if key not in without]
        combinations = product(*(self.values(key) for key in keys))
        points = [dict(zip(keys, values, strict=True)) for values in combinations]
        found = [(point, self.matching(point)) for point in points]
        return [(point, results) for point, results in found if results.runs]

    @property
    def valid(self) -> Results:
        """The valid runs."""
        return self.where(lambda run: run.valid)

    @property
    def first(self) -> Run:
        """The run with the lowest seed, for figures that show a single run."""
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


def _hashable(value: Any) -> Any:
    return repr(value) if isinstance(value, (dict, list)) else value


KEY_WORDS: Final = {
    COUNT: "Number of flows", VARIANT: "Variant", "bottleneck.queue": "Buffer",
    "bottleneck.loss": "Random loss", "bottleneck.rate": "Rate of the bottleneck",
    "bottleneck.delay": "Delay of the bottleneck", "bottleneck.discipline": "Queue discipline",
    "bottleneck.ecn_threshold": "ECN threshold", "access.rate": "Rate of the access links",
    "access.delay": "Delay of the access links", "access.queue": "Buffer of the access links",
    "flow.recovery": "Loss recovery", "flow.segment": "Segment", "flow.start.every": "Start after",
    "flow.app.bytes": "Bytes per flow", "flow.app.size": "Message", "flow.app.interval": "Interval",
    "duration": "Duration",
}  # fmt: skip
"""Names of scenario keys on an axis; other keys use their last two parts."""
KEY_UNITS: Final = {"bottleneck.loss": "share of packets"}
"""Units of keys whose values are plain numbers."""


def key_label(key: str) -> str:
    """A sweep key as an axis label, in words."""
    if key in KEY_WORDS:
        return KEY_WORDS[key]
    parts = [part for part in key.split(".") if not part.isdigit() and part != "choice"]
    return " ".join(parts[-2:]).replace("_", " ").capitalize()


def unit_label(unit: str) -> str:
    """A unit of a scenario's value in the form for labels."""
    return {"bdp": "multiples of the BDP"}.get(unit, re.sub("bps$", "b/s", unit))


def value_label(key: str | None, value: Any) -> str:
    """One value of a sweep key in the form for legends and panel titles."""
    if key == COUNT:
        return "1 flow" if value == 1 else f"{value} flows"
    if key in (None, VARIANT):
        return "all flows" if value is None else str(value)
    return f"{str(key).rsplit('.', 1)[-1]} {spaced(value)}"


def spaced(value: Any) -> str:
    """A sweep value with a space between number and unit; the number in its shortest form.

    A table is its name and its other keys: `codel, target 5 ms, ecn`.
    """
    if isinstance(value, float):
        return f"{value:g}"
    text = str(value)
    if text.startswith("{"):
        table = dict(ast.literal_eval(text))
        parts = [table.pop("name")] if "name" in table else []
        return ", ".join(
            [*parts, *(k if v is True else f"{k} {spaced(v)}" for k, v in table.items())]
        )
    return re.sub(r"^([\d.]+)(?=[A-Za-z])", r"\1 ", text)


def point_label(point: dict[str, Any]) -> str:
    """A combination of sweep values as a panel title."""
    return ", ".join(value_label(key, value) for key, value in point.items())


# Panels


MOST_POINTS: Final = 5_000
"""Approximate number of points of all lines over time in a figure, which limits the page's size."""
POINTS_A_COLUMN: Final = 3
"""Approximate number of points that a thinned line keeps (`thin`)."""
MOST_PANELS: Final = 48
"""Maximum number of panels; further points of a sweep are only in its tables."""


@dataclass(frozen=True)
class Shown:
    """The runs that a figure of single runs shows: the first seed of each point, a panel each."""

    runs: list[Run]
    titles: list[str]
    columns: int
    """Panels side by side."""
    shared_x: Shared
    """Panels in a row share the time axis if they belong to one point."""
    note: str
    """The seed that is shown, of how many, and the number of panels without the limit."""

    def columns_of(self, lines: int) -> int:
        """Pixel columns to which each line is thinned, by the number of lines in all panels.

        As many as a printed panel has, or fewer if a figure would exceed `MOST_POINTS`.
        """
        width_in = style.COLUMN_IN if self.columns == 1 else style.PAGE_IN
        in_print = round(width_in / self.columns * style.PRINT_DPI)
        return min(in_print, max(MOST_POINTS // (POINTS_A_COLUMN * max(lines, 1)), 40))

    @property
    def run_columns(self) -> int:
        """The same for one line per run."""
        return self.columns_of(len(self.runs))

    @property
    def flow_columns(self) -> int:
        """The same for one line per flow."""
        return self.columns_of(sum(len(run.flows) for run in self.runs))

    def __iter__(self) -> Iterator[tuple[Run, str]]:
        """Each run with the title of its panel."""
        return iter(zip(self.runs, self.titles, strict=True))


def shown_runs(results: Results) -> Shown:
    """One panel for each point of a sweep, showing its first seed; series side by side."""
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
        variants = {str(flow["variant"]) for flow in found.first.flows}
        parts = [value_label(key, value)] if key else sorted(variants) * (len(variants) == 1)
        parts += [point_label(point)] if point else []
        titles.append(", ".join(parts) + ("" if found.first.valid else "  INVALID RUN"))
    notes = [seeds_note(results)]
    if len(shown) > MOST_PANELS:
        notes.append(f"{MOST_PANELS} of {len(shown)} panels")
    return Shown(
        [found.first for _, found, _ in shown][:MOST_PANELS],
        titles[:MOST_PANELS],
        columns,
        "row" if complete else "none",
        ", ".join(filter(None, notes)),
    )


def seeds_note(results: Results, how: str = "seed {first} of {count} shown") -> str:
    """How a figure treats repeated runs; empty without repetitions."""
    seeds = {run.seed for run in results.runs}
    return how.format(first=min(seeds), count=len(seeds)) if len(seeds) > 1 else ""


def series_name(results: Results, value: Any) -> str:
    """A series' entry in the legend; empty if there is only one series."""
    return value_label(results.series_key, value) if results.series_key else ""
