"""Tables that the command prints: a paper's claims, and lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from narrows.testbed.terminal import plain

if TYPE_CHECKING:
    from narrows.schema.reproduction import ClaimRecord


def claims_table(title: str, claims: Sequence[ClaimRecord]) -> Table:
    """A row per claim of a paper: its verdict, and how it was judged."""
    table = Table(
        title=Text(plain(title)), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False
    )
    for name in ("claim", "verdict", "judged by"):
        table.add_column(name, overflow="fold")
    for claim in claims:
        more = claim["grade"] or claim["reason"]
        lines = [claim["verdict"], *([more] if more else []), *claim["depends_on"]]
        tolerance = f"\n({claim['tolerance']})" if claim["tolerance"] else ""
        evidence = claim["evidence"].replace("; ", "\n")
        cells = (claim["claim"] + tolerance, "\n".join(lines), evidence)
        table.add_row(*(Text(plain(cell)) for cell in cells))
    return table


def list_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """A plain list."""
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold")
    for column in columns:
        table.add_column(Text(column), overflow="fold")
    for row in rows:
        table.add_row(*(Text(plain(cell)) for cell in row))
    return table
