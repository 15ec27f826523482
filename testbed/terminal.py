"""What the command prints: to a console as wide as the terminal, with foreign text made harmless.

A title, a value or an error message may come from somebody else's file. It is printed as it
stands: without markup, and with control characters written out.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

PLAIN_WIDTH = 140
"""Columns where there is no terminal and COLUMNS says nothing."""

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""Control characters except tab and line feed, line separators, and changes of direction."""


def plain(text: str) -> str:
    r"""The text with its control characters written out: ESC is `\x1b`."""
    return CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)


def console(*, stderr: bool = False) -> Console:
    """A console as wide as the terminal or as COLUMNS says, else 140 columns.

    It takes text as it stands: no markup, no emoji names, no highlighting.
    """
    from rich.console import Console

    made = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not made.is_terminal and not os.environ.get("COLUMNS", "").isdigit():
        made.width = PLAIN_WIDTH
    return made
