"""The blocks of a page. Each fills its own template, independent of the others and of the page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from html import escape
from typing import Final, Protocol

from markupsafe import Markup

from narrows.analysis.chart import paper, screen, style
from narrows.analysis.chart.model import Chart
from narrows.analysis.page.pack import packed
from narrows.analysis.page.templates import element, inline, page, plain


@dataclass
class Writing:
    """State that blocks share while a page is written."""

    ids: set[str] = field(default_factory=set)
    """The ids in use."""
    contents: list[tuple[str, str]] = field(default_factory=list)
    """Ids and titles of the top-level sections so far."""
    sorts: bool = True
    """Whether the page has the script that sorts tables."""

    def new_id(self, wanted: str) -> str:
        """An id like `wanted` that no other element uses."""
        name = re.sub(r"[^a-z0-9]+", "-", wanted.lower()).strip("-") or "part"
        found, number = name, 1
        while found in self.ids:
            number += 1
            found = f"{name}-{number}"
        self.ids.add(found)
        return found


class Block(Protocol):
    """A part of a section."""

    def html(self, writing: Writing) -> Markup:
        """Its element."""


@dataclass(frozen=True)
class Text:
    """A paragraph; text in backticks is code."""

    text: str
    kind: str = ""
    """Empty, `lead` for the paragraph under a title, or `small`."""

    def html(self, _: Writing) -> Markup:
        """`<p>`; nothing without text."""
        if not self.text:
            return Markup()
        return element("paragraph", content=inline(self.text), kind=self.kind)


@dataclass(frozen=True)
class Lines:
    """A list of points."""

    lines: Sequence[str]

    def html(self, _: Writing) -> Markup:
        """`<ul>`."""
        return element("lines", lines=self.lines)


@dataclass(frozen=True)
class Alert:
    """A note that a reader must see first."""

    title: str
    text: str
    lines: Sequence[str] = ()

    def html(self, _: Writing) -> Markup:
        """`<div role="note">`."""
        return element("alert", title=self.title, text=self.text, points=self.lines)


@dataclass(frozen=True)
class Details:
    """Blocks that open on a click, and are open in print."""

    summary: str
    blocks: Sequence[Block]

    def html(self, writing: Writing) -> Markup:
        """`<details>`."""
        blocks = [block.html(writing) for block in self.blocks]
        return element("details", summary=self.summary, blocks=blocks)


@dataclass(frozen=True)
class Values:
    """Names with their values, e.g. parameters."""

    values: Mapping[str, object]

    def html(self, _: Writing) -> Markup:
        """`<dl>`."""
        return element("values", values=self.values)


# Tables


class Verdict(Enum):
    """Whether a claim holds in these runs: the word, its sign, its colour."""

    HOLDS = ("holds", "✓", "good")
    FAILS = ("does not hold", "✗", "bad")
    DEPENDS = ("depends", "~", "mixed")


@dataclass(frozen=True)
class Badge:
    """A highlighted word: a verdict, or other words with the verdict's sign and colour."""

    verdict: Verdict
    text: str = ""
    """Its text; empty for the verdict's word."""

    def cell(self) -> Markup:
        """`<span>`."""
        word, sign, kind = self.verdict.value
        return element("badge", kind=kind, sign=sign, text=self.text or word)

    def html(self, _: Writing) -> Markup:
        """A paragraph that contains only the badge."""
        return element("paragraph", content=self.cell(), kind=None)


@dataclass(frozen=True)
class Code:
    """A machine-readable word: a path, a key, a fingerprint."""

    text: str


LONG: Final = 28
"""Cells with at least this many characters wrap."""
MINUS: Final = "\N{MINUS SIGN}"

Value = str | float | bool | None | Badge | Code
"""The content of a table's cell; None is shown as a dash."""


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    title: str
    unit: str = ""
    digits: int | None = None
    """Decimals of its numbers; None for words, and for numbers in their shortest form."""
    sign: bool = False
    """Whether numbers above 0 have a plus sign, as differences do."""


@dataclass(frozen=True)
class Table:
    """A table that sorts by a click on a column's head. Columns of numbers are right-aligned."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Value]]
    caption: str = ""

    def html(self, writing: Writing) -> Markup:
        """`<table>`. Raises `ValueError` for a row without one value per column."""
        for row in self.rows:
            if len(row) != len(self.columns):
                expected = f"expected {len(self.columns)}, one per column"
                raise ValueError(f"table row {list(row)!r} has {len(row)} values; {expected}")
        words = [self._is_words(index) for index in range(len(self.columns))]
        rows = [
            [_cell(*each) for each in zip(self.columns, row, words, strict=True)]
            for row in self.rows
        ]
        heads = list(zip(self.columns, words, strict=True))
        return element("table", caption=self.caption, heads=heads, rows=rows, sorts=writing.sorts)

    def _is_words(self, index: int) -> bool:
        return any(isinstance(row[index], (str, bool, Badge, Code)) for row in self.rows)


@dataclass(frozen=True)
class _Cell:
    """What a template needs of a cell."""

    kind: str
    """Its class; empty for none."""
    content: str
    sort: str | None = None
    """The value to sort by, if it is not the content."""


def _cell(column: Column, value: Value, words: bool) -> _Cell:
    kind = "name" if words else ""
    match value:
        case None:
            return _Cell(kind, plain(value), sort="")
        case Badge():
            return _Cell(kind, value.cell())
        case Code():
            return _Cell(kind, element("code", text=value.text))
        case float() | int() if not isinstance(value, bool):
            text = f"{value:g}" if column.digits is None else f"{value:,.{column.digits}f}"
            plus = "+" * (column.sign and float(value) > 0)
            return _Cell(kind, plus + text.replace("-", MINUS), sort=repr(float(value)))
        case _:
            text = plain(value)
            return _Cell("name long" if len(text) > LONG else "name", inline(text))


# Charts


@dataclass(frozen=True)
class Plot:
    """A chart with its title and caption: interactive on the screen, matplotlib's in print.

    Without scripts, in print and as a download, it is the SVG drawn for print. The interactive form
    is drawn from the same chart. Its data can be downloaded as CSV.
    """

    name: str
    """The name of the downloaded files, and of its place in the page."""
    title: str
    caption: str
    chart: Chart

    def html(self, writing: Writing) -> Markup:
        """`<figure>`."""
        own = writing.new_id(self.name)
        svg = inline_svg(paper.files(self.chart, ("svg",))["svg"].decode(), own, self.title)
        return page(
            "figure.html",
            kind="page" if self.chart.fills_page else "column",
            own=own,
            name=self.name,
            title=self.title,
            svg=Markup(svg),
            caption=self.caption,
            chart=Markup(packed(screen.as_json(self.chart))),
        )


# Sections


TOP: Final = 2
"""The level of the headings of top-level sections."""


@dataclass(frozen=True)
class Section:
    """A heading with blocks; sections can contain sections."""

    title: str
    blocks: Sequence[Block]

    def html(self, writing: Writing, level: int = TOP) -> Markup:
        """`<section>` with a heading of this level."""
        own = writing.new_id(self.title)
        if level == TOP:
            writing.contents.append((own, self.title))
        content = within(self.blocks, writing, level + 1)
        return element("section", own=own, title=self.title, level=level, content=content)


def within(blocks: Iterable[Block], writing: Writing, level: int) -> Markup:
    """The blocks' elements; headings of sections among them have this level."""
    return Markup("\n").join(
        block.html(writing, level) if isinstance(block, Section) else block.html(writing)
        for block in blocks
    )


# Figures


_THEME: Final = {
    "#ffffff": "paper",
    style.INK: "ink",
    style.MUTED: "muted",
    style.GRID: "grid",
} | {colour: f"s{index}" for index, colour in enumerate(style.COLOURS)}
_ROLE: Final = "role-and-label"
_LONG: Final = re.compile(r"-?\d+\.\d{3,}")


def inline_svg(svg: str, name: str, title: str) -> str:
    """A figure as an element of the page, with unique ids, the page's colours and short paths.

    `name` prefixes every id, so that two figures on a page do not share one.
    """
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r'^<svg[^>]*?(viewBox="[^"]*")[^>]*>', rf"<svg \1 {_ROLE}>", svg, count=1)
    svg = svg.replace(_ROLE, f'role="img" aria-label="{escape(title)}"', 1)
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", svg)
    svg = re.sub(r'\bd="([^"]*)"', lambda path: f'd="{_short_path(path[1])}"', svg)
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r">\s+<", "><", svg)
    svg = re.sub(
        r'style="[^"]*"', lambda found: found[0].replace(": ", ":").replace("; ", ";"), svg
    )
    svg = re.sub(r'\b(x|y)="(-?\d+\.\d{3,})"', lambda m: f'{m[1]}="{float(m[2]):.2f}"', svg)
    return re.sub(
        r"#[0-9a-f]{6}",
        lambda match: f"var(--{_THEME[match[0]]})" if match[0] in _THEME else match[0],
        svg,
    )


def _short_path(path: str) -> str:
    """A path in a short form: one decimal, and H and V for lines along an axis.

    A tenth of a point is less than a pixel in print. Curves keep two decimals, because small marks
    and letters consist of them.
    """
    parts = re.findall(r"([A-Za-z])([^A-Za-z]*)", path)
    if any(letter not in "MLz" for letter, _ in parts):
        return " ".join(_LONG.sub(lambda found: f"{float(found[0]):.2f}", path).split())
    short: list[str] = []
    last = ("", "")
    for letter, numbers in parts:
        x, y = (f"{float(number):.1f}" for number in numbers.split()) if letter != "z" else last
        if letter == "L" and x == last[0]:
            short += [f"V{y}"] if y != last[1] else []
        elif letter == "L" and y == last[1]:
            short.append(f"H{x}")
        else:
            short.append("z" if letter == "z" else f"{letter}{x} {y}")
        last = (x, y)
    return "".join(short)
