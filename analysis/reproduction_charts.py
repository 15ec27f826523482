"""The charts of a reproduction's page: our values, with the paper's points over them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from narrows.analysis import figures
from narrows.analysis.chart.model import (
    Area,
    Axis,
    Cells,
    Chart,
    Floats,
    Look,
    Mark,
    Panel,
    Rule,
    Trace,
    from_zero,
    time_axis,
)
from narrows.analysis.figures.base import KEY_WORDS, Results, key_label, number
from narrows.analysis.load import Run
from narrows.analysis.page import Plot

if TYPE_CHECKING:
    from narrows.schema.reproduction import Cell, Reproduction, Series, TableRecord

BAR: Final = 0.8
"""Width of a group of bars, as a share of the distance between groups."""
PUBLISHED: Final = "published"
"""The legend's name of everything that is the paper's."""
POINT: Final = Look("ink", line=False, marker="hollow", size=5.5)
LEVEL: Final = Look("ink", dash=1, width=0.8)
KEYS: Final = ((PUBLISHED, POINT),)


def table_plots(content: Reproduction) -> Iterator[Plot]:
    """A chart for each table of our values."""
    for table in content["tables"]:
        if table["plot"] != "none" and table["cells"]:
            unit = f" ({table['unit']})" if table["unit"] else ""
            label = f"{table['quantity']}{unit}"
            chart = CHARTS[table["plot"]](table, label)
            yield Plot(table["name"], table["title"], caption(table), chart)


def caption(table: TableRecord) -> str:
    """How to read a table's chart."""
    several = any(cell["runs"] > 1 for cell in table["cells"])
    spread = ", with 95 % intervals of the mean of repeated runs" if several else ""
    of = " and ".join(f"`{name}`" for name in table["experiments"])
    text = f"{table['source']}. {table['quantity']} of the runs of {of}{spread}."
    text += " Hollow marks: published." * bool(table["published"])
    return f"{text} {table['note']}".rstrip()


def lines(table: TableRecord, label: str) -> Chart:
    """A line per row against the columns, or a single line against the rows; published points."""
    cells, given = table["cells"], table["published"]
    alone = table["columns"] is None
    key: Literal["row", "column"] = "column" if table["columns"] else "row"
    swept = table["columns"] or table["rows"]
    at, axis = axis_of([cell[key] for cell in (*cells, *given)], swept)
    names = [None] if alone else list(dict.fromkeys(cell["row"] for cell in cells))
    marks = list[Mark]()
    for index, name in enumerate(names):
        own = [cell for cell in cells if alone or cell["row"] == name]
        marks.append(line(own, at, key, index, "" if alone else str(name)))
        printed = [cell for cell in given if alone or cell["row"] == name]
        if printed:
            x = np.array([at[cell[key]] for cell in printed])
            marks.append(published(x, [cell["value"] for cell in printed], index))
    height_in = 1.5 if alone else 2.6
    keys = KEYS if given else ()
    return Chart([Panel(marks)], axis, from_zero(label), height_in=height_in, keys=keys)


def published(x: Floats, values: Sequence[float], colour: int | Literal["ink"]) -> Trace:
    """Points of the paper, in the colour of the series that they are to be compared with."""
    return Trace(x, np.array(values, dtype=np.float64), replace(POINT, colour=colour), PUBLISHED)


def line(
    cells: Sequence[Cell],
    positions: Mapping[Any, float],
    key: Literal["row", "column"],
    index: int,
    name: str,
) -> Trace:
    """One line with its intervals."""
    x = np.array([positions[cell[key]] for cell in cells])
    y = np.array([cell["value"] for cell in cells], dtype=np.float64)
    half = np.array([cell["half_width"] for cell in cells], dtype=np.float64)
    ranges = (y - half, y + half) if half.any() else (None, None)
    return Trace(x, y, Look(index, marker="filled"), name, low=ranges[0], high=ranges[1])


def axis_of(values: Sequence[Any], label: str) -> tuple[dict[Any, float], Axis]:
    """Positions of swept values: even steps in their order, so that 1 ms and 256 ms are both
    visible.
    """
    distinct = list(dict.fromkeys(values))
    sizes = [number(value) for value in distinct]
    if None not in sizes:
        distinct = [value for _, value in sorted(zip(sizes, distinct, strict=True))]
    ticks = [(float(position), str(value)) for position, value in enumerate(distinct)]
    positions = {value: position for (position, _), value in zip(ticks, distinct, strict=True)}
    return positions, Axis(axis_label(label), ticks=ticks, pad=(0.04, 0.04))


def axis_label(key: str) -> str:
    """The last part of a sweep key in words: "count" is the number of flows."""
    whole = [words for known, words in KEY_WORDS.items() if known.rsplit(".", 1)[-1] == key]
    return whole[0] if len(whole) == 1 else key_label(key)


def bars(table: TableRecord, label: str) -> Chart:
    """A group of bars per row, a bar per column."""
    cells = table["cells"]
    rows = list(dict.fromkeys(cell["row"] for cell in cells))
    columns = list(dict.fromkeys(cell["column"] for cell in cells))
    width = BAR / len(columns)
    marks: list[Any] = []
    for cell in cells:
        position, index = rows.index(cell["row"]), columns.index(cell["column"])
        left = position - BAR / 2 + index * width
        x = np.array([left, left, left + width, left + width])
        y = np.array([0.0, cell["value"], cell["value"], 0.0])
        name = "" if cell["column"] is None else f"{table['columns']} {cell['column']}"
        marks.append(Area(x, y, Look(index), name, hatched=index > 0))
        if cell["half_width"]:
            middle, value = np.array([left + width / 2]), np.array([cell["value"]])
            half = np.array([cell["half_width"]])
            ink = Look("ink", line=False)
            marks.append(Trace(middle, value, ink, low=value - half, high=value + half))
    for each in table["published"]:
        if each["row"] in rows and each["column"] in columns:
            left = rows.index(each["row"]) - BAR / 2 + columns.index(each["column"]) * width
            marks.append(published(np.array([left + width / 2]), [each["value"]], "ink"))
    ticks = [(float(position), str(row)) for position, row in enumerate(rows)]
    axis = Axis("", ticks=ticks, low=-0.5, high=len(rows) - 0.5, pad=(0.0, 0.0))
    keys = KEYS if any(isinstance(mark, Trace) and mark.name for mark in marks) else ()
    return Chart([Panel(marks)], axis, from_zero(label), columns=2, height_in=2.2, keys=keys)


def cell_map(table: TableRecord, label: str) -> Chart:
    """A cell per row and column; empty where no run has both."""
    cells = table["cells"]
    rows = list(dict.fromkeys(str(cell["row"]) for cell in cells))
    columns = list(dict.fromkeys(str(cell["column"]) for cell in cells))
    values = np.full((len(rows), len(columns)), np.nan)
    for cell in cells:
        values[rows.index(str(cell["row"])), columns.index(str(cell["column"]))] = cell["value"]
    ends = (float(np.nanmin(values)), float(np.nanmax(values)))
    return Chart(
        [Panel([Cells(columns, rows, values, ends, label, table["digits"])])],
        Axis(table["columns"] or "", pad=(0.0, 0.0), ticks=named(columns)),
        Axis(
            table["rows"],
            pad=(0.0, 0.0),
            ticks=named(rows),
            reverse=True,
        ),
        height_in=max(2.2, 0.21 * len(rows) + 0.6),
    )


def named(names: Sequence[str]) -> list[tuple[float, str]]:
    """A tick for each name, one apart from 0."""
    return [(float(position), name) for position, name in enumerate(names)]


CHARTS: Final = {"bars": bars, "lines": lines, "map": cell_map}
"""How a table is drawn."""


def curve_plots(content: Reproduction) -> Iterator[Plot]:
    """Small multiples of curves over time: one panel per series."""
    for each in content["curves"]:
        panels = [
            Panel([curve(series), *level(series["published"])], series["name"])
            for series in each["series"]
        ]
        text = f"{each['source']}. One run of each, the first seed's."
        if any(series["published"] is not None for series in each["series"]):
            text += f" Dashed: published, {each['published_as']}."
        chart = Chart(panels, time_axis(each["x"], shared="all"), from_zero(each["y"]))
        yield Plot(each["name"], each["title"], text, chart)


def curve(series: Series) -> Trace:
    """One curve over time."""
    return Trace(np.array(series["x"]), np.array(series["y"], dtype=np.float64), Look(0))


def level(value: float | None) -> list[Rule]:
    """The level that the paper gives for a curve, if it does."""
    return [] if value is None else [Rule(y=value, look=LEVEL, name=PUBLISHED)]


def run_plots(content: Reproduction, runs: Mapping[str, Sequence[Run]]) -> Iterator[Plot]:
    """The figures that an experiment names, drawn from its runs."""
    for each in content["experiments"]:
        results = Results(tuple(runs.get(each["name"], ())))
        for figure in figures.select(each["figures"]) if results.runs else []:
            chart = figures.chart(figure, results)
            if chart is not None:
                name = f"{each['name']}-{figure.name}"
                yield Plot(name, f"{each['title']}: {figure.title}", figure.caption, chart)
