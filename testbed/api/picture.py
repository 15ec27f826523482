"""A figure of some runs, shown in a notebook and saved as a file."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from narrows.analysis import figures
from narrows.analysis.chart import paper
from narrows.analysis.chart.model import Chart
from narrows.analysis.figures.base import Figure, Results

FORMATS = ("png", "pdf", "svg")
SHOWN = Markup(
    "<figure><figcaption><strong>{title}</strong></figcaption>"
    '<img alt="{title}" src="data:image/svg+xml;base64,{data}">'
    "<figcaption>{caption}</figcaption></figure>"
)


class FigureError(Exception):
    """The runs have nothing to show in a figure, or it cannot be saved as asked."""


@dataclass(frozen=True)
class Picture:
    """A drawn figure; a notebook shows it with its title and caption."""

    name: str
    title: str
    caption: str
    chart: Chart
    """What is drawn, as numbers."""

    @classmethod
    def of(cls, figure: Figure, runs: Results) -> Picture:
        """The figure of these runs. Raises `FigureError` with what they lack."""
        chart = figures.chart(figure, runs)
        if chart is None:
            raise FigureError(f"{figure.name} not drawn: {figures.why_not(figure, runs)}")
        return cls(figure.name, figure.title, figure.caption, chart)

    def content(self, kind: str) -> bytes:
        """The file's content as `png`, `pdf` or `svg`. Raises `FigureError` for another kind."""
        if kind not in FORMATS:
            raise FigureError(f"{kind!r} is not a figure's format; expected {', '.join(FORMATS)}")
        return paper.files(self.chart, (kind,))[kind]

    def save(self, path: str | Path) -> Path:
        """Writes a file of the kind that its suffix names. Raises `FigureError` and `OSError`."""
        out = Path(path)
        out.write_bytes(self.content(out.suffix.removeprefix(".")))
        return out

    def _repr_html_(self) -> str:
        """The drawing with title and caption."""
        # A picture of its own: ids of two drawings in one page must not meet.
        data = base64.b64encode(self.content("svg")).decode()
        return SHOWN.format(title=self.title, caption=self.caption, data=data)
