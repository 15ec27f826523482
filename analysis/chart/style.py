"""How the figures look: sizes, type, colours, lines.

Sizes are those of an IEEE two-column page. The first three colours are Paul Tol's high-contrast set
(dark, middle, light: they remain distinct in grey). The others are from his bright and muted sets
("Colour schemes", SRON technical note 3.2, 2021). All are safe for colour-blind readers. Every
series also has its own dashes and marker.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

COLUMN_IN: Final = 3.5
"""Width of a journal's column in inches."""
PAGE_IN: Final = 7.16
"""Width of its page in inches."""
SINGLE_IN: Final = 1.9
"""Minimum height of a single row of panels."""
PRINT_DPI: Final = 300
"""Resolution of the PNG files."""


INK: Final = "#1b1f24"
"""Text, axes, and references that all series are compared with."""
MUTED: Final = "#6b7280"
"""Secondary text and reference lines."""
GRID: Final = "#e3e6ea"
"""Grid lines."""

COLOURS: Final = (
    "#004488", "#bb5566", "#ddaa33", "#228833", "#66ccee", "#882255", "#44aa99", "#aa4499",
)  # fmt: skip
"""One per series or flow. They repeat from the ninth on, with other dashes."""
DARK_COLOURS: Final = (
    "#6ea8e6", "#ea8593", "#ddaa33", "#62bf6e", "#66ccee", "#d673ab", "#4fbfac", "#cf80c2",
)  # fmt: skip
"""The same, lighter, for a dark page."""
DASHES: Final[tuple[tuple[float, ...], ...]] = (
    (), (4, 1.4), (1.2, 1), (6, 1.2, 1.2, 1.2), (2.5, 1),
    (7, 1.5), (3, 1, 1, 1, 1, 1), (1, 2), (9, 2, 2, 2),
)  # fmt: skip
"""Lengths of strokes and gaps in line widths; the first entry is a solid line."""
MARKERS: Final = (
    ("o", "circle"), ("s", "square"), ("^", "triangle-up"), ("D", "diamond"),
    ("v", "triangle-down"), ("<", "triangle-left"), (">", "triangle-right"), ("P", "cross"),
    ("*", "star"), ("X", "x"),
)  # fmt: skip
"""Markers, by matplotlib's and by Plotly's names."""
HATCHES: Final = ("", "/", ".", "\\", "x", "-", "|", "+")
"""Hatches, by the name that both use."""
SCALE: Final = ("#f7f9fb", "#c6d9ea", "#86b3d6", "#3f7fb5", "#004488", "#00224d")
"""The colours of a map of cells, from its smallest value to its largest; even in lightness."""
TWO_SIDED: Final = ("#8f2433", "#cf6f6a", "#f0c3b4", "#f4f4f2", "#b5cfe6", "#5d93c4", "#123f7a")
"""The same for maps with a neutral middle and two opposite sides."""

RC: Final[dict[str, Any]] = {
    "font.family": "DejaVu Sans",
    # A title with a dollar sign is text, not a formula.
    "text.parse_math": False,
    "font.size": 7.5,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.labelsize": 8,
    "axes.linewidth": 0.6,
    "axes.titlesize": 7.5,
    "axes.titlepad": 3,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.xmargin": 0,
    "axes.formatter.useoffset": False,
    "figure.labelsize": 8,
    "grid.color": GRID,
    "grid.linewidth": 0.5,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "lines.linewidth": 1.0,
    "lines.markersize": 4,
    "legend.frameon": False,
    "legend.fontsize": 7.5,
    "legend.handlelength": 2.4,
    "legend.handletextpad": 0.8,
    "legend.columnspacing": 1.4,
    "legend.borderaxespad": 0.2,
    "figure.constrained_layout.h_pad": 0.03,
    "figure.constrained_layout.w_pad": 0.03,
    "savefig.dpi": PRINT_DPI,
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "narrows",
    "path.simplify": True,
}
"""matplotlib's settings for drawing and saving a figure."""


def colour(number: int) -> str:
    """Colour of the n-th series or flow, from 0."""
    return COLOURS[number % len(COLOURS)]


def dashes(number: int) -> tuple[float, ...]:
    """Strokes and gaps of the n-th series in line widths; empty for a solid line."""
    return DASHES[number % len(DASHES)]


def is_dark(scale: Sequence[str], part: float) -> bool:
    """Whether white is more legible than ink at a position of a colour scale, from 0 to 1.

    Decided by relative luminance (WCAG 2.2): white and black have the same contrast at 0.179.
    """
    position = min(max(part, 0.0), 1.0) * (len(scale) - 1)
    below = min(int(position), len(scale) - 2)
    low, high = (_linear(scale[below + end]) for end in (0, 1))
    return low + (high - low) * (position - below) < 0.179


def _linear(colour: str) -> float:
    """Relative luminance, 0 for black to 1 for white."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
