"""The templates of pages, and values as the text in them."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

NONE: Final = "\N{EN DASH}"
"""Placeholder for a missing value."""


def inline(text: str) -> Markup:
    """Text as HTML; text in backticks is code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text)))


def plain(value: object) -> str:
    """A value in words: yes and no, lists with commas."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(plain, value))
    return NONE if value is None else str(value)


def _escaped(value: object) -> Markup:
    """A value as HTML. Quotes become the same entities everywhere in a page."""
    return value if isinstance(value, Markup) else Markup(escape(str(value)))


_ENVIRONMENT: Final = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    undefined=StrictUndefined,
    autoescape=True,
    finalize=_escaped,
    keep_trailing_newline=True,
)
_ENVIRONMENT.filters |= {"inline": inline, "plain": plain}


def page(name: str, /, **values: object) -> Markup:
    """A file of this package, filled with these values."""
    return Markup(_ENVIRONMENT.get_template(name).render(values))


def element(macro: str, /, **values: object) -> Markup:
    """A macro of `blocks.html`, called with these values."""
    return Markup(getattr(_ENVIRONMENT.get_template("blocks.html").module, macro)(**values))
