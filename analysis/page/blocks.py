"""The blocks of a page. Each writes its own HTML, independent of the others and of the page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from html import escape
from pathlib import Path
from string import Template
from typing import Final, Protocol

from narrows.analysis.chart import paper, screen, style
from narrows.analysis.chart.model import Chart
from narrows.analysis.page.pack import packed


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

    def html(self, writing: Writing) -> str:
        """Its element."""


@dataclass(frozen=True)
class Text:
    """A paragraph; text in backticks is code."""

    text: str
    kind: str = ""
    """Empty, `lead` for the paragraph under a title, or `small`."""

    def html(self, _: Writing) -> str:
        """`<p>`."""
        return f'<p class="{self.kind}">{inline(self.text)}</p>' if self.text else ""


@dataclass(frozen=True)
class Lines:
    """A list of points."""

    lines: Sequence[str]

    def html(self, _: Writing) -> str:
        """`<ul>`."""
        return f"<ul>{''.join(f'<li>{inline(line)}</li>' for line in self.lines)}</ul>"


@dataclass(frozen=True)
class Alert:
    """A note that a reader must see first."""

    title: str
    text: str
    lines: Sequence[str] = ()

    def html(self, writing: Writing) -> str:
        """`<div role="note">`."""
        listed = Lines(self.lines).html(writing) if self.lines else ""
        return (
            f'<div class="alert" role="note"><p><strong>{escape(self.title)}</strong> '
            f"{inline(self.text)}</p>{listed}</div>"
        )


@dataclass(frozen=True)
class Details:
    """Blocks that open on a click, and are open in print."""

    summary: str
    blocks: Sequence[Block]

    def html(self, writing: Writing) -> str:
        """`<details>`."""
        inner = "".join(block.html(writing) for block in self.blocks)
        return f"<details><summary>{inline(self.summary)}</summary>{inner}</details>"


@dataclass(frozen=True)
class Values:
    """Names with their values, e.g. parameters."""

    values: Mapping[str, object]

    def html(self, _: Writing) -> str:
        """`<dl>`."""
        rows = (
            f"<div><dt>{escape(name)}</dt><dd>{escape(plain(value))}</dd></div>"
            for name, value in self.values.items()
        )
        return f'<dl class="card">{"".join(rows)}</dl>'


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

    def cell(self) -> str:
        """`<span>`."""
        word, sign, kind = self.verdict.value
        return f'<span class="badge {kind}"><i>{sign}</i> {escape(self.text or word)}</span>'

    def html(self, _: Writing) -> str:
        """A paragraph that contains only the badge."""
        return f"<p>{self.cell()}</p>"


@dataclass(frozen=True)
class Code:
    """A machine-readable word: a path, a key, a fingerprint."""

    text: str


NONE: Final = "\N{EN DASH}"
"""Placeholder for a missing value."""
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

    def html(self, writing: Writing) -> str:
        """`<table>`. Raises `ValueError` for a row without one value per column."""
        for row in self.rows:
            if len(row) != len(self.columns):
                expected = f"expected {len(self.columns)}, one per column"
                raise ValueError(f"table row {list(row)!r} has {len(row)} values; {expected}")
        words = [self._is_words(index) for index in range(len(self.columns))]
        heads = "".join(
            _head(*each, sorts=writing.sorts) for each in zip(self.columns, words, strict=True)
        )
        cells = [
            "".join(_cell(*each) for each in zip(self.columns, row, words, strict=True))
            for row in self.rows
        ]
        rows = "".join(f"<tr>{row}</tr>" for row in cells)
        caption = f"<caption>{inline(self.caption)}</caption>" if self.caption else ""
        return (
            f'<div class="card scroll" tabindex="0"><table class="sortable">{caption}'
            f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
        )

    def _is_words(self, index: int) -> bool:
        return any(isinstance(row[index], (str, bool, Badge, Code)) for row in self.rows)


def _head(column: Column, words: bool, *, sorts: bool) -> str:
    below = f"<small>{escape(column.unit)}</small>" if column.unit else ""
    kind = ' class="name"' if words else ""
    title = escape(column.title)
    return f'<th{kind} scope="col">{f"<button>{title}</button>" if sorts else title}{below}</th>'


def _cell(column: Column, value: Value, words: bool) -> str:
    kind = ' class="name"' if words else ""
    match value:
        case None:
            return f'<td{kind} data-value="">{NONE}</td>'
        case Badge():
            return f"<td{kind}>{value.cell()}</td>"
        case Code():
            return f"<td{kind}><code>{escape(value.text)}</code></td>"
        case float() | int() if not isinstance(value, bool):
            text = f"{value:g}" if column.digits is None else f"{value:,.{column.digits}f}"
            plus = "+" * (column.sign and float(value) > 0)
            return f'<td{kind} data-value="{float(value)!r}">{plus}{text.replace("-", MINUS)}</td>'
        case _:
            text = plain(value)
            long = " long" * (len(text) > LONG)
            return f'<td class="name{long}">{inline(text)}</td>'


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

    def html(self, writing: Writing) -> str:
        """`<figure>`."""
        own = writing.new_id(self.name)
        svg = inline_svg(paper.files(self.chart, ("svg",))["svg"].decode(), own, self.title)
        kind = "page" if self.chart.fills_page else "column"
        return template("figure.html").substitute(
            kind=kind,
            own=own,
            name=escape(self.name),
            title=inline(self.title),
            svg=svg,
            caption=inline(self.caption),
            chart=packed(screen.as_json(self.chart)),
        )


# Sections


TOP: Final = 2
"""The level of the headings of top-level sections."""


@dataclass(frozen=True)
class Section:
    """A heading with blocks; sections can contain sections."""

    title: str
    blocks: Sequence[Block]

    def html(self, writing: Writing, level: int = TOP) -> str:
        """`<section>` with a heading of this level."""
        own = writing.new_id(self.title)
        if level == TOP:
            writing.contents.append((own, self.title))
        return (
            f'<section id="{own}"><h{level}>{inline(self.title)}</h{level}>\n'
            f"{within(self.blocks, writing, level + 1)}</section>\n"
        )


def within(blocks: Iterable[Block], writing: Writing, level: int) -> str:
    """The blocks' elements; headings of sections among them have this level."""
    return "\n".join(
        block.html(writing, level) if isinstance(block, Section) else block.html(writing)
        for block in blocks
    )


# Text


def template(name: str) -> Template:
    """A file of this package: HTML with `$names`, for values that are HTML already."""
    return Template((Path(__file__).parent / name).read_text(encoding="utf-8"))


def inline(text: str) -> str:
    """Text as HTML; text in backticks is code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def plain(value: object) -> str:
    """A value in words: yes and no, lists with commas."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(plain, value))
    return NONE if value is None else str(value)


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
