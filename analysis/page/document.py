"""The page around the blocks: head, style, scripts, table of contents."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from markupsafe import Markup
from plotly.offline import get_plotlyjs

from narrows.analysis.chart import style
from narrows.analysis.page import templates
from narrows.analysis.page.blocks import TOP, Section, Writing, within
from narrows.analysis.page.pack import packed

_HERE: Final = Path(__file__).parent
_COLOURS: Final = {
    f"s{number}": pair
    for number, pair in enumerate(zip(style.COLOURS, style.DARK_COLOURS, strict=True))
} | {
    "paper": ("#ffffff", "#16191e"),
    "ink": (style.INK, "#e4e7eb"),
    "muted": (style.MUTED, "#9aa4b1"),
    "grid": (style.GRID, "#2a3038"),
}
"""The colours that charts and page share, by name: for light and for dark pages."""


@dataclass(frozen=True)
class Page:
    """A page: its title, a sentence under it, its sections."""

    title: str
    lead: str
    sections: Sequence[Section]

    def html(self) -> str:
        """The whole file."""
        writing = Writing()
        body = within(self.sections, writing, TOP)
        has_chart = 'class="chart"' in body
        scripts = [_read("page.js")]
        if has_chart:
            look = Markup(f"const LOOK = {json.dumps(_look())};")
            scripts = [look, _read("chart.js"), *scripts]
        return templates.page(
            "page.html",
            title=self.title,
            style=_root() + _read("page.css"),
            lead=self.lead,
            contents=writing.contents if len(self.sections) > 1 else [],
            body=body,
            # `chart.js` unpacks Plotly's script, which is compressed to two fifths.
            plotly=Markup(packed(get_plotlyjs())) if has_chart else "",
            scripts=scripts,
        )

    def write(self, path: Path) -> None:
        """Writes the file atomically. Raises `OSError` with its name."""
        partial = path.with_name(f".{path.name}.partial")
        try:
            partial.write_text(self.html(), encoding="utf-8")
            partial.rename(path)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from None
        finally:
            partial.unlink(missing_ok=True)


def _read(name: str) -> Markup:
    """A file of this package, which is not escaped."""
    return Markup((_HERE / name).read_text(encoding="utf-8"))


def _root() -> Markup:
    """The shared colours as CSS properties that follow the page's colour scheme."""
    lines = (f"--{name}: light-dark({light}, {dark});" for name, (light, dark) in _COLOURS.items())
    return Markup(f":root {{ {' '.join(lines)} }}\n")


def _look() -> dict[str, object]:
    """The colours that the scripts need for saved figures."""
    return {"light": {name: colour for name, (colour, _) in _COLOURS.items()}}
