"""What of a drawn figure is clipped or overlaps, by the extents of its artists."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from narrows.analysis.chart import paper, style
from narrows.analysis.chart.model import Cells, Chart

PX = 1.0
"""What two extents may share: anti-aliased edges."""


def faults(chart: Chart) -> list[str]:
    """A sentence for each text that leaves the figure or lies over another or over a panel."""
    with mpl.rc_context({"backend": "agg"} | style.RC):
        canvas = paper.draw(chart)
        canvas.draw_without_rendering()
        whole = canvas.bbox
        texts = [(text.get_text(), _extent(text)) for text in _texts(canvas)]
        panels = [
            axis.get_window_extent()
            for axis in canvas.axes
            if axis.get_visible() and axis.get_label() != "<colorbar>"
        ]
    found = [
        f"{name!r} leaves the figure"
        for name, box in texts
        if box.x0 < -PX or box.y0 < -PX or box.x1 > whole.x1 + PX or box.y1 > whole.y1 + PX
    ]
    found += [
        f"{one!r} lies over {other!r}"
        for (one, first), (other, second) in combinations(texts, 2)
        if _share(first, second)
    ]
    found += [
        f"{name!r} lies over a panel" for name, box in texts for panel in panels
        if _share(box, panel)
    ]  # fmt: skip
    found += ["a panel has no room" for panel in panels if min(panel.width, panel.height) < 8]
    return found


def _extent(text: Text) -> Bbox:
    """Where its lines stand; a title's blank last line is room for the panel's note."""
    box, lines = text.get_window_extent(), text.get_text().split("\n")
    free = box.height / len(lines) if not lines[-1].strip() else 0.0
    return Bbox.from_extents(box.x0, box.y0 + free, box.x1, box.y1)


def _share(one: Bbox, other: Bbox) -> bool:
    wide = min(one.x1, other.x1) - max(one.x0, other.x0)
    high = min(one.y1, other.y1) - max(one.y0, other.y0)
    return bool(wide > PX and high > PX)


def _texts(canvas: Canvas) -> Iterator[Text]:
    """The texts outside panels: titles, labels, names of ticks, legends, notes."""
    unseen = {text for axis in canvas.axes for text in axis.texts}
    for axis in canvas.axes:
        for tick, is_shown in _ticks(axis):
            unseen |= {tick.label2} if is_shown else {tick.label1, tick.label2}
    for text in canvas.findobj(Text):
        assert isinstance(text, Text)
        if text not in unseen and text.get_visible() and text.get_text().strip():
            yield text


def _ticks(axis: Axes) -> Iterator[tuple[mpl.axis.Tick, bool]]:
    """The ticks of a panel, with whether they are within the ends of its axes."""
    for which, low_high in ((axis.xaxis, axis.get_xlim()), (axis.yaxis, axis.get_ylim())):
        low, high = sorted(low_high)
        room = 1e-9 * (high - low)
        for tick in [*which.get_major_ticks(), *which.get_minor_ticks()]:
            yield tick, low - room <= float(tick.get_loc()) <= high + room


def has_cells(chart: Chart) -> bool:
    """Whether its panels are maps, which have no series."""
    return any(isinstance(mark, Cells) for panel in chart.panels for mark in panel.marks)
