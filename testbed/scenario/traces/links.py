"""Link traces for a port's `trace`: rates over time, as CSV or in mahimahi's format.

CSV: a line `seconds,bps`, then a line for each time from which a rate holds, the first at 0. The
last rate holds as long as the one before it; then the trace begins again.

mahimahi (Netravali et al., USENIX ATC 2015): a line for each chance to deliver 1,504 bytes, in
whole milliseconds since the beginning; the trace begins again at the last line's time. Here the
chances of a millisecond are a rate over the millisecond that ends then, so a trace allows the same
bytes.
"""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from narrows.schema import budgets
from narrows.schema.units import PS_PER_MS, PS_PER_S

if TYPE_CHECKING:
    from narrows.schema.switch import RateTrace

HEADER = ["seconds", "bps"]
CHANCE_BYTES = 1504
"""Bytes of a delivery opportunity in mahimahi's format."""
MOST_BPS = 2**63


class LinkTraceError(Exception):
    """A trace that cannot be followed; the message has the reason and the line."""


@dataclass(frozen=True)
class LinkTrace:
    """Rates over time that repeat."""

    steps: list[tuple[int, int]]
    """The times from which each rate holds, in ps from 0, and the rates in bit/s."""
    period_ps: int
    """When it begins again."""

    @property
    def mean_bps(self) -> int:
        """The mean rate, rounded down, at least 1."""
        return max(self.bit_ps(self.period_ps) // self.period_ps, 1)

    def planned(self) -> RateTrace:
        """The trace in the plan's format."""
        return {"steps": [[at, rate] for at, rate in self.steps], "period_ps": self.period_ps}

    def bit_ps(self, until_ps: int) -> int:
        """The bits allowed within one period until then, times picoseconds per second."""
        ends = [at for at, _ in self.steps[1:]] + [self.period_ps]
        spans = zip(self.steps, ends, strict=True)
        return sum(max(min(end, until_ps) - at, 0) * rate for (at, rate), end in spans)


def read(path: Path) -> LinkTrace:
    """The trace in a file: CSV if its name ends so, else mahimahi's format. Raises
    `LinkTraceError`.
    """
    try:
        with path.open("rb") as file:
            content = file.read(budgets.TEXT_FILE_BYTES + 1)
        if len(content) > budgets.TEXT_FILE_BYTES:
            raise LinkTraceError(f"has more than {budgets.TEXT_FILE_BYTES} bytes; expected fewer")
        text = content.decode("utf-8")
    except OSError as error:
        raise LinkTraceError(f"cannot be read ({error})") from None
    except UnicodeDecodeError as error:
        raise LinkTraceError(f"is not text ({error})") from None
    trace = parse_csv(text) if path.suffix == ".csv" else parse_mahimahi(text)
    if not any(rate for _, rate in trace.steps):
        raise LinkTraceError("has no rate above 0")
    return trace


def parse_csv(text: str) -> LinkTrace:
    """A series of times and rates. Raises `LinkTraceError`."""
    lines = csv.reader(text.splitlines())
    if next(lines, None) != HEADER:
        raise LinkTraceError(f"has another first line; expected {','.join(HEADER)}")
    steps = list[tuple[int, int]]()
    for fields in lines:
        where = f"line {lines.line_num}"
        try:
            seconds, bps = fields
            at, rate = int(Fraction(seconds) * PS_PER_S), int(Fraction(bps))
        except (ValueError, ZeroDivisionError):
            raise LinkTraceError(f"{where} is not a time in seconds and a rate in bit/s") from None
        if not 0 <= rate < MOST_BPS:
            raise LinkTraceError(f"{where} has {bps} bit/s; expected 0 to 2^63 - 1")
        if not steps and at != 0:
            raise LinkTraceError(f"{where} is at {seconds} s; expected the first rate at 0")
        if steps and at <= steps[-1][0]:
            raise LinkTraceError(f"{where} is not after its predecessor")
        steps.append((at, rate))
    if not steps:
        raise LinkTraceError("holds no rate")
    last = steps[-1][0] - steps[-2][0] if len(steps) > 1 else PS_PER_S
    return LinkTrace(steps, steps[-1][0] + last)


def parse_mahimahi(text: str) -> LinkTrace:
    """Chances to deliver 1,504 bytes, by millisecond. Raises `LinkTraceError`."""
    chances = Counter[int]()
    before = 0
    for number, line in enumerate(text.splitlines(), 1):
        try:
            ms = int(line)
        except ValueError:
            what = f"line {number} is not a time in whole milliseconds"
            raise LinkTraceError(f"{what} (mahimahi's format; CSV needs a name in .csv)") from None
        if ms < before:
            raise LinkTraceError(f"line {number} is earlier than its predecessor")
        before = ms
        chances[ms] += 1
    if before == 0:
        raise LinkTraceError("ends at 0 ms; expected a last line above 0")
    # A chance at 0 is the one at the end of the lap before.
    chances[before] += chances.pop(0, 0)
    steps, rate = list[tuple[int, int]](), -1
    for ms in sorted(chances.keys() | {each + 1 for each in chances if each < before} | {1}):
        now = chances.get(ms, 0) * CHANCE_BYTES * 8 * 1000
        if now != rate:
            steps.append(((ms - 1) * PS_PER_MS, now))
            rate = now
    return LinkTrace(steps, before * PS_PER_MS)


def as_csv(trace: LinkTrace) -> str:
    """A trace as CSV. Raises `LinkTraceError` if its last step cannot be cut in halves."""
    steps = list(trace.steps)
    last = trace.period_ps - steps[-1][0]
    before = steps[-1][0] - steps[-2][0] if len(steps) > 1 else PS_PER_S
    if last != before:
        # The format ends with two steps of one length.
        if last % 2:
            raise LinkTraceError("its last step is an odd number of picoseconds long")
        steps.append((steps[-1][0] + last // 2, steps[-1][1]))
    rows = [f"{_seconds(at)},{rate}" for at, rate in steps]
    return "\n".join([",".join(HEADER), *rows, ""])


def as_mahimahi(trace: LinkTrace) -> str:
    """A trace in mahimahi's format: a chance in the millisecond in which its bytes are complete.

    The last chance stands at the period's end, which the format takes from it. Raises
    `LinkTraceError` for a period with no chance, or that is not whole milliseconds.
    """
    if trace.period_ps % PS_PER_MS:
        raise LinkTraceError("its period is not whole milliseconds; expected one that is")
    chance, lines, allowed = CHANCE_BYTES * 8 * PS_PER_S, list[int](), 0
    ends = [at for at, _ in trace.steps[1:]] + [trace.period_ps]
    for (at, rate), end in zip(trace.steps, ends, strict=True):
        capacity = rate * (end - at)
        while (due := (len(lines) + 1) * chance - allowed) <= capacity:
            complete_ps = at - (-due // rate)
            lines.append(max(-(-complete_ps // PS_PER_MS), 1))
        allowed += capacity
    if not lines:
        raise LinkTraceError(f"allows fewer than {CHANCE_BYTES} bytes in its period")
    lines[-1] = trace.period_ps // PS_PER_MS
    return "\n".join([*map(str, lines), ""])


def _seconds(at_ps: int) -> str:
    """Picoseconds as decimal seconds, exactly."""
    whole, part = divmod(at_ps, PS_PER_S)
    return f"{whole}.{part:012}".rstrip("0").rstrip(".")
