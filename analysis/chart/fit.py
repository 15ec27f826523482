"""Text measures: the width of words in print, line breaks, and the columns of a legend."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from narrows.analysis.chart import style

POINTS_PER_IN: Final = 72
LINE: Final = 1.25
"""Height of a line of text in font sizes."""
_MARGIN_PT: Final = 8.0
"""Space beside a legend and a title, so that rounding never clips them."""


@lru_cache(maxsize=8192)
def width_pt(text: str, size_pt: float) -> float:
    """Width in points of a line of text in the figures' font."""
    font = FontProperties(family=style.RC["font.family"], size=size_pt)
    return float(text_to_path.get_text_width_height_descent(text, font, ismath=False)[0])


def wrapped(text: str, room_pt: float, size_pt: float) -> str:
    """The text in lines of at most this width, broken between words; a longer word is broken
    inside.
    """
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if width_pt(longer, size_pt) <= room_pt:
            lines[-1] = longer
            continue
        parts = _pieces(word, room_pt, size_pt)
        lines += parts if lines[-1] else []
        if not lines[0]:
            lines = parts
    return "\n".join(lines)


def _pieces(word: str, room_pt: float, size_pt: float) -> list[str]:
    pieces = [""]
    for letter in word:
        if pieces[-1] and width_pt(pieces[-1] + letter, size_pt) > room_pt:
            pieces.append("")
        pieces[-1] += letter
    return pieces


def legend(names: Sequence[str], width_in: float) -> tuple[list[str], int]:
    """A legend's names, with too wide ones broken, and the number of its columns.

    matplotlib fills a legend column by column.
    """
    size = style.RC["legend.fontsize"]
    handle = (style.RC["legend.handlelength"] + style.RC["legend.handletextpad"]) * size
    between = style.RC["legend.columnspacing"] * size
    room = width_in * POINTS_PER_IN - 2 * _MARGIN_PT
    fitted = [wrapped(name, room - handle, size) for name in names]
    widths = [max(width_pt(line, size) for line in name.split("\n")) for name in fitted]
    for rows in range(1, len(names) + 1):
        columns = -(-len(names) // rows)
        own = [max(part) + handle for part in _columns(widths, columns)]
        if sum(own) + between * (len(own) - 1) <= room:
            return fitted, columns
    return fitted, 1


def _columns(widths: Sequence[float], columns: int) -> list[Sequence[float]]:
    """The number of entries in each column; the first columns have one more if they are uneven."""
    rows, longer = divmod(len(widths), columns)
    sizes = [rows + (index < longer) for index in range(columns)]
    starts = [sum(sizes[:index]) for index in range(columns)]
    return [widths[at : at + size] for at, size in zip(starts, sizes, strict=True) if size]


def legend_height_in(names: Sequence[str], columns: int) -> float:
    """The height of such a legend."""
    lines = [float(name.count("\n") + 1) for name in names]
    highest = max(sum(part) for part in _columns(lines, columns))
    return float(highest * LINE * 1.15 * style.RC["legend.fontsize"] / POINTS_PER_IN)
