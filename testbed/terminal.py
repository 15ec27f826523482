"""The command's output: on a console as wide as the terminal, with control characters escaped.

Titles, values and error messages may come from untrusted files. They are printed literally: without
markup, and with control characters escaped.
"""

from __future__ import annotations

import os
import re
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

PLAIN_WIDTH = 140
"""Columns without a terminal and without COLUMNS."""

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""Control characters except tab and line feed, line separators, and changes of direction."""


def plain(text: str) -> str:
    r"""The text with control characters escaped: ESC becomes `\x1b`."""
    return CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)


def is_terminal(stream: IO[str]) -> bool:
    """True if a console draws on this stream: rich's rule, without importing rich."""
    compatible, force_color = os.environ.get("TTY_COMPATIBLE"), os.environ.get("FORCE_COLOR")
    if compatible in ("0", "1"):
        return compatible == "1"
    return stream.isatty() if force_color is None else force_color != ""


def console(*, stderr: bool = False) -> Console:
    """A console as wide as the terminal or COLUMNS, else 140 columns.

    It prints text literally: no markup, no emoji names, no highlighting.
    """
    from rich.console import Console

    made = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not made.is_terminal and not os.environ.get("COLUMNS", "").isdigit():
        made.width = PLAIN_WIDTH
    return made
