"""Delay traces for a link's `delay_trace`: propagation delays over time, as CSV.

A line `seconds,delay_ms`, then a line for each time from which a delay holds, the first at 0. The
last delay holds as long as the one before it; then the trace begins again.
"""

from __future__ import annotations

import csv
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from narrows.schema import budgets
from narrows.schema.units import PS_PER_MS, PS_PER_S

if TYPE_CHECKING:
    from narrows.schema.plan import DelaySteps

HEADER = ["seconds", "delay_ms"]
MOST_MS = 3_600_000
"""An hour."""


class DelayTraceError(Exception):
    """A trace that cannot be followed; the message has the reason and the line."""


def read(path: Path) -> DelaySteps:
    """The trace in a file. Raises `DelayTraceError`."""
    try:
        with path.open("rb") as file:
            content = file.read(budgets.TEXT_FILE_BYTES + 1)
        text = content.decode("utf-8")
    except OSError as error:
        raise DelayTraceError(f"cannot be read ({error})") from None
    except UnicodeDecodeError as error:
        raise DelayTraceError(f"is not text ({error})") from None
    if len(content) > budgets.TEXT_FILE_BYTES:
        raise DelayTraceError(f"has more than {budgets.TEXT_FILE_BYTES} bytes; expected fewer")
    return parse(text)


def parse(text: str) -> DelaySteps:
    """A series of times and delays. Raises `DelayTraceError`."""
    lines = csv.reader(text.splitlines())
    if next(lines, None) != HEADER:
        raise DelayTraceError(f"has another first line; expected {','.join(HEADER)}")
    steps = list[list[int]]()
    for fields in lines:
        where = f"line {lines.line_num}"
        try:
            seconds, ms = map(Fraction, fields)
        except (ValueError, ZeroDivisionError):
            raise DelayTraceError(f"{where} is not a time in seconds and a delay in ms") from None
        at_ps = int(seconds * PS_PER_S)
        if not 0 <= ms <= MOST_MS:
            raise DelayTraceError(f"{where} has {fields[1]} ms; expected 0 to {MOST_MS}")
        if not steps and at_ps != 0:
            raise DelayTraceError(f"{where} is at {fields[0]} s; expected the first delay at 0")
        if steps and at_ps <= steps[-1][0]:
            raise DelayTraceError(f"{where} is not after its predecessor")
        steps.append([at_ps, int(ms * PS_PER_MS)])
    if len(steps) < 2:
        raise DelayTraceError("holds fewer than two delays; expected `delay` for one")
    return {"steps": steps, "period_ps": 2 * steps[-1][0] - steps[-2][0]}
