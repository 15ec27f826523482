"""Draws a chart for print: matplotlib, at the width of a journal's column or page."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from io import BytesIO
from itertools import pairwise
from typing import Any, Final

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import LogFormatterSciNotation, MaxNLocator, NullFormatter

from narrows.analysis.chart import fit, style
from narrows.analysis.chart.model import Area, Cells, Chart, Limits, Look, Mark, Panel, Rule, Trace

_METADATA: Final[dict[str, dict[str, None]]] = {
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "svg": {"Date": None, "Creator": None},
}
_NOTE_PT: Final = 6.0
TIMES: Final = "\u00d7"
SUPERSCRIPTS: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def files(chart: Chart, formats: Sequence[str]) -> dict[str, bytes]:
    """The chart as files of these formats (png, pdf, svg). They depend on the chart alone."""
    with mpl.rc_context({"backend": "agg"} | style.RC):
        canvas = draw(chart)
        return {kind: _save(canvas, kind) for kind in formats}


def _save(canvas: Canvas, kind: str) -> bytes:
    content = BytesIO()
    canvas.savefig(content, format=kind, metadata=_METADATA[kind])
    return content.getvalue()


def draw(chart: Chart) -> Canvas:
    """The chart as a matplotlib figure.

    One column of panels fits a journal's column (3.5 in), more and large maps fill its page (7.16
    in). The labels determine the height of a single row of panels. Several panels are lettered (a),
    (b), ...
    """
    count = len(chart.panels)
    columns = min(chart.columns, count)
    rows = math.ceil(count / columns)
    width_in = style.PAGE_IN if chart.fills_page else style.COLUMN_IN
    height_in = max(chart.height_in, style.SINGLE_IN) if rows == 1 else chart.height_in
    names, entries = fit.legend([name for name, _, _ in chart.legend], width_in)
    above_in = fit.legend_height_in(names, entries) if names else 0.0
    note = fit.wrapped(chart.note, width_in * fit.POINTS_PER_IN - 6, _NOTE_PT)
    total_in = rows * height_in + 0.4 + above_in + _note_in(note)
    canvas = Canvas(figsize=(width_in, total_in), layout="constrained")
    FigureCanvasAgg(canvas)
    grid = [axis for row in canvas.subplots(rows, columns, squeeze=False) for axis in row]
    for spare in grid[count:]:
        spare.set_visible(False)
    groups = chart.groups("y")
    limits = zip(chart.limits("x"), chart.limits("y"), strict=True)
    for index, (panel, ends) in enumerate(zip(chart.panels, limits, strict=True)):
        axis = grid[index]
        letter = f"({_letter(index)}) " if count > 1 else ""
        axis.set_title(letter + panel.title, loc="left")
        axis.set_title(panel.note, loc="right", color=_colour(panel.note_look))
        for mark in panel.marks:
            _draw_mark(axis, mark)
        _set_axes(axis, chart, panel, ends)
        if index % columns and groups[index] == groups[index - 1]:
            axis.tick_params(labelleft=False)
        if panel.y is not None and (not index % columns or groups[index] != groups[index - 1]):
            axis.set_ylabel(panel.y.label)
    handles = [
        _handle(name, mark, look) for name, (_, mark, look) in zip(names, chart.legend, strict=True)
    ]
    if handles:
        canvas.legend(handles=handles, loc="outside upper center", ncols=entries)
    _label(canvas, chart, grid[:count], columns, note)
    _fit(canvas, grid[:count])
    _settle(canvas)
    return canvas


def _note_in(note: str) -> float:
    """The height of the strip for the note below the panels."""
    return bool(note) * (note.count("\n") + 1) * 1.4 * _NOTE_PT / fit.POINTS_PER_IN


def _fit(canvas: Canvas, axes: list[Axes]) -> None:
    """Breaks long titles and labels; rotates or thins out names under a panel.

    The layout is computed once to find the panels' sizes. The canvas grows by the height of the
    lines.
    """
    _lay_out(canvas)
    size = float(style.RC["axes.titlesize"])
    lines = 0
    for axis in axes:
        box = axis.get_window_extent()
        room_pt = box.width * fit.POINTS_PER_IN / canvas.dpi - 2
        note_pt = fit.width_pt(axis.get_title("right"), size)
        title = axis.get_title("left")
        if note_pt and note_pt + fit.width_pt(title, size) + 6 > room_pt:
            title = fit.wrapped(title, room_pt, size) + "\n "
        else:
            title = fit.wrapped(title, room_pt - note_pt - 6 * bool(note_pt), size)
        axis.set_title(title, loc="left")
        lines = max(lines, title.count("\n"))
        height_pt = box.height * fit.POINTS_PER_IN / canvas.dpi
        label = axis.get_ylabel()
        axis.set_ylabel(fit.wrapped(label, height_pt + 6, float(style.RC["axes.labelsize"])))
        _turn_names(axis)
    rows = len({round(axis.get_window_extent().y0) for axis in axes})
    added = rows * lines * fit.LINE * size / fit.POINTS_PER_IN
    canvas.set_figheight(canvas.get_figheight() + added)


def _turn_names(axis: Axes) -> None:
    """Rotates names under a panel that would overlap; leaves some out if they overlap even then."""
    labels = [label for label in axis.get_xticklabels() if label.get_text()]
    boxes = sorted((label.get_window_extent() for label in labels), key=lambda box: box.x0)
    if not any(left.x1 + 2 > right.x0 for left, right in pairwise(boxes)):
        return
    axis.tick_params(axis="x", rotation=90)
    apart = [
        right.x0 + right.width / 2 - left.x0 - left.width / 2 for left, right in pairwise(boxes)
    ]
    kept = math.ceil(1.1 * boxes[0].height / max(min(apart), 1e-9))
    if kept > 1:
        names = [label.get_text() for label in axis.get_xticklabels()]
        shown = [name if not index % kept else "" for index, name in enumerate(names)]
        axis.set_xticks(axis.get_xticks(), shown)


def _settle(canvas: Canvas) -> None:
    """Computes the layout of the axes once, rounded to a millionth.

    The solver's last bits can differ between machines. Without a layout engine, `savefig` doesn't
    draw the canvas a second time to compute a layout.
    """
    _lay_out(canvas)
    canvas.set_layout_engine(None)
    for axis in canvas.axes:
        left, bottom, width, height = (round(bound, 6) for bound in axis.get_position().bounds)
        axis.set_position((left, bottom, width, height))


def _lay_out(canvas: Canvas) -> None:
    """Computes the layout of the axes without drawing them, which doubles the time."""
    engine = canvas.get_layout_engine()
    assert engine is not None, "the canvas is made with one"
    for axis in canvas.axes:
        axis.apply_aspect()
    engine.execute(canvas)
    for axis in canvas.axes:
        axis.apply_aspect()


def _letter(index: int) -> str:
    letters = "abcdefghijklmnopqrstuvwxyz"
    return letters[index] if index < 26 else letters[index // 26 - 1] + letters[index % 26]


class Powers(LogFormatterSciNotation):
    """Labels of a logarithmic axis as text, such as 10²."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """The label of a value; empty if it has none."""
        label = str(super().__call__(x, pos))
        label = label.removeprefix(r"$\mathdefault{").removesuffix("}$")
        label = label.replace(r"\times", TIMES)
        return re.sub(r"\^\{(.*?)\}", lambda power: power[1].translate(SUPERSCRIPTS), label)


def _set_axes(axis: Axes, chart: Chart, panel: Panel, ends: tuple[Limits, Limits]) -> None:
    """Sets the limits, scales and ticks of one panel."""
    both = (
        (axis.xaxis, chart.x, ends[0], axis.set_xscale, axis.set_xlim),
        (axis.yaxis, chart.y_of(panel), ends[1], axis.set_yscale, axis.set_ylim),
    )
    for which, said, (low, high), set_scale, set_ends in both:
        if said.log:
            set_scale("log")
            which.set_major_formatter(Powers())
            which.set_minor_formatter(Powers())
        if said.ticks is not None:
            which.set_ticks([at for at, _ in said.ticks], [name for _, name in said.ticks])
            which.set_minor_formatter(NullFormatter())
        elif said.whole:
            which.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))
        set_ends(*((high, low) if said.reverse else (low, high)))


def _label(canvas: Canvas, chart: Chart, axes: list[Axes], columns: int, note: str) -> None:
    """Labels shared axes once for all panels; the note stands below."""
    size = float(style.RC["axes.labelsize"])
    if chart.cells is not None:
        _colour_bar(canvas, axes, chart.cells)
    if len(axes) == 1:
        axes[0].set_ylabel(chart.y_of(chart.panels[0]).label)
    elif not any(panel.y for panel in chart.panels):
        room_pt = canvas.get_figheight() * fit.POINTS_PER_IN * 0.8
        canvas.supylabel(fit.wrapped(chart.y.label, room_pt, size))
    room_pt = canvas.get_figwidth() * fit.POINTS_PER_IN * 0.8
    label = fit.wrapped(chart.x.label, room_pt, size)
    if columns == 1:
        axes[-1].set_xlabel(label)
    else:
        canvas.supxlabel(label)
    strip = _note_in(note) / canvas.get_figheight()
    canvas.set_layout_engine("constrained", rect=(0, strip, 1, 1 - strip))
    text: dict[str, Any] = {"ha": "right", "va": "bottom", "fontsize": _NOTE_PT,
                            "color": style.MUTED}  # fmt: skip
    canvas.text(0.995, 0.005, note, **text)


# Marks


def _colour(look: Look) -> str:
    if isinstance(look.colour, int):
        return style.colour(look.colour)
    return style.INK if look.colour == "ink" else style.MUTED


def _line(look: Look) -> dict[str, Any]:
    """matplotlib's properties of a line with this look."""
    dashes = style.dashes(look.dashes)
    properties: dict[str, Any] = {
        "color": _colour(look),
        "linewidth": look.width,
        "linestyle": ((0, dashes) if dashes else "-") if look.line else "",
        "alpha": None if look.opacity == 1 else look.opacity,
    }
    if look.marker:
        number = look.colour if isinstance(look.colour, int) else 0
        properties |= {
            "marker": style.MARKERS[number % len(style.MARKERS)][0],
            "markersize": look.size,
            "markerfacecolor": "white" if look.marker == "hollow" else _colour(look),
        }
    return properties


def _fill(mark: Area, look: Look) -> dict[str, Any]:
    """matplotlib's properties of a filled area with this look."""
    number = look.colour if isinstance(look.colour, int) else 0
    return {
        "facecolor": _colour(look) + ("66" if mark.hatched else "22"),
        "edgecolor": _colour(look),
        "hatch": 4 * style.HATCHES[number % len(style.HATCHES)] if mark.hatched else "",
        "linewidth": look.width,
        "linestyle": "-" if mark.hatched else _line(look)["linestyle"],
    }


def _draw_mark(axis: Axes, mark: Mark) -> None:
    match mark:
        case Trace():
            drawstyle = "steps-post" if mark.step else "default"
            axis.plot(mark.x, mark.y, clip_on=mark.look.line, drawstyle=drawstyle,
                      **_line(mark.look))  # fmt: skip
            if mark.low is not None and mark.high is not None:
                spread = [mark.y - mark.low, mark.high - mark.y]
                bars: dict[str, Any] = {"ecolor": _colour(mark.look), "elinewidth": 0.8}
                axis.errorbar(mark.x, mark.y, yerr=spread, fmt="none", capsize=2, **bars)
        case Area():
            axis.fill(mark.x, mark.y, **_fill(mark, mark.look))
        case Rule():
            if mark.x is not None:
                axis.axvline(mark.x, **_line(mark.look))
            if mark.y is not None:
                axis.axhline(mark.y, **_line(mark.look))
        case Cells():
            _draw_cells(axis, mark)


def _draw_cells(axis: Axes, cells: Cells) -> None:
    """Coloured squares with their numbers, in the largest type that fits."""
    axis.imshow(
        cells.values, cmap=_map(cells), vmin=cells.ends[0], vmax=cells.ends[1], aspect="auto"
    )
    axis.grid(visible=False)
    axis.tick_params(axis="x", rotation=90 if max(map(len, cells.columns)) > 4 else 0)
    points = 4.0 if cells.is_large else 6.0
    low, high = cells.ends
    for row, numbers in enumerate(cells.values):
        for column, value in enumerate(numbers):
            if not math.isnan(value):
                dark = style.is_dark(cells.scale, (value - low) / ((high - low) or 1.0))
                text = f"{value:.{cells.digits}f}"
                axis.text(column, row, text, ha="center", va="center", fontsize=points,
                          color="white" if dark else style.INK)  # fmt: skip


def _map(cells: Cells) -> mpl.colors.Colormap:
    return mpl.colors.LinearSegmentedColormap.from_list("narrows", list(cells.scale))


def _colour_bar(canvas: Canvas, axes: list[Axes], cells: Cells) -> None:
    scale = mpl.cm.ScalarMappable(mpl.colors.Normalize(*cells.ends), _map(cells))
    bar = canvas.colorbar(scale, ax=axes, label=cells.unit, shrink=0.8, aspect=30)
    bar.outline.set_visible(False)


def _handle(name: str, mark: Trace | Area | Rule, look: Look) -> Artist:
    """A legend's entry."""
    if isinstance(mark, Area):
        return Patch(label=name, **_fill(mark, look))
    return Line2D([], [], label=name, **_line(look))
