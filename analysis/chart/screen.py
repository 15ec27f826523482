"""Writes a chart for the screen, as the JSON that `page/chart.js` draws with Plotly.

Colours are names of the page's own palette (`s0`, `ink`), so a chart follows the page's light and
dark mode.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from narrows.analysis.chart import style
from narrows.analysis.chart.model import (
    Area,
    Axis,
    Cells,
    Chart,
    Floats,
    Limits,
    Look,
    Mark,
    Rule,
    Trace,
)

DIGITS = 5
"""Significant digits of a coordinate."""


def as_json(chart: Chart) -> str:
    """The chart as a JSON object; `chart.js` documents its keys."""
    y_groups, limits = chart.groups("y"), chart.limits("y")
    panels = [
        {
            "title": panel.title,
            "note": panel.note,
            "noteColour": _colour(panel.note_look),
            "marks": [_mark(mark) for mark in panel.marks],
            "x": _axis(chart.x, x_ends, x_group),
            # Several panels share the names of one axis, so none may be zoomed alone.
            "y": _axis(chart.y_of(panel), y_ends, y_group)
            | {"shared": y_groups.count(y_group) > 1},
        }
        for panel, x_ends, y_ends, x_group, y_group in zip(
            chart.panels, chart.limits("x"), limits, chart.groups("x"), y_groups, strict=True
        )
    ]
    content = {
        "panels": panels,
        "columns": chart.columns,
        "note": chart.note,
        "legend": [
            {"name": name, "kind": type(mark).__name__, "hatch": _hatch(mark), **_look(look)}
            for name, mark, look in chart.legend
        ],
    }
    # A </script> in a name must not end the element that contains the text.
    return json.dumps(content, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _axis(axis: Axis, ends: Limits, group: int) -> dict[str, Any]:
    return {
        "label": axis.label,
        "ends": [_short(end) for end in ends],
        "log": axis.log,
        "reverse": axis.reverse,
        "whole": axis.whole,
        "ticks": None if axis.ticks is None else [[at, name] for at, name in axis.ticks],
        "group": group,
    }


def _mark(mark: Mark) -> dict[str, Any]:
    kind: dict[str, Any] = {"kind": type(mark).__name__}
    match mark:
        case Trace():
            ranges = {"low": mark.low, "high": mark.high}
            return kind | {
                "name": mark.name, "x": _numbers(mark.x), "y": _numbers(mark.y),
                "step": mark.step, "labels": list(mark.labels), **_look(mark.look),
                **{key: _numbers(part) for key, part in ranges.items() if part is not None},
            }  # fmt: skip
        case Area():
            return kind | {
                "name": mark.name, "x": _numbers(mark.x), "y": _numbers(mark.y),
                "hatch": _hatch(mark), **_look(mark.look),
            }  # fmt: skip
        case Rule():
            return kind | {"name": mark.name, "x": mark.x, "y": mark.y, **_look(mark.look)}
        case Cells():
            return kind | {
                "columns": list(mark.columns), "rows": list(mark.rows),
                "values": [_numbers(row) for row in mark.values],
                "ends": list(mark.ends), "unit": mark.unit, "digits": mark.digits,
                "scale": list(mark.scale),
            }  # fmt: skip


def _look(look: Look) -> dict[str, Any]:
    number = look.colour if isinstance(look.colour, int) else 0
    return {
        "colour": _colour(look),
        "dashes": list(style.dashes(look.dashes)),
        "width": look.width,
        "opacity": look.opacity,
        "line": look.line,
        "marker": look.marker and style.MARKERS[number % len(style.MARKERS)][1],
        "hollow": look.marker == "hollow",
        "size": look.size,
    }


def _hatch(mark: Mark) -> str:
    if not isinstance(mark, Area) or not mark.hatched or not isinstance(mark.look.colour, int):
        return ""
    return style.HATCHES[mark.look.colour % len(style.HATCHES)]


def _colour(look: Look) -> str:
    if isinstance(look.colour, int):
        return f"s{look.colour % len(style.COLOURS)}"
    return look.colour


def _numbers(values: Floats) -> list[float | None]:
    return [_short(value) if np.isfinite(value) else None for value in values.tolist()]


def _short(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
