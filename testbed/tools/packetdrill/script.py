"""Reads a script in the packetdrill dialect of docs/guide/packetdrill.md."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from narrows.schema.units import PS_PER_S
from narrows.testbed.files import read_text
from narrows.testbed.problems import InputError, Problem

FLAGS = {"F": 0x01, "S": 0x02, "R": 0x04, "P": 0x08, ".": 0x10, "E": 0x40, "W": 0x80}
ECN = {"noecn": 0, "ect1": 1, "ect0": 2, "ce": 3}
NUMBER = r"\d*\.?\d+"
DIGITS_MAX = 12
"""A time of that many digits is beyond what picoseconds in 64 bits count."""
LENGTH_MAX = 65_495
"""Bytes that an IPv4 packet has room for behind its own and TCP's headers."""


@dataclass(frozen=True)
class When:
    """When an event happens, in picoseconds: from `least_ps` to `greatest_ps`."""

    least_ps: int
    greatest_ps: int | None
    """None means any time (`*`)."""
    is_relative: bool
    """True if relative to the previous event, not to the start."""


@dataclass(frozen=True)
class Segment:
    """A segment with sequence numbers relative to each side's first."""

    is_ours: bool
    flags: int
    start: int
    length: int
    ack: int | None
    window: int | None
    """Not checked if absent in the script."""
    options: tuple[str, ...] | None
    """In the script's syntax; None (`<...>`): not checked."""
    ecn: int | None
    """Not checked if absent in the script."""

    def __str__(self) -> str:
        letters = "".join(letter for letter, bit in FLAGS.items() if self.flags & bit)
        ecn = "" if not self.ecn else f"[{next(k for k, v in ECN.items() if v == self.ecn)}] "
        parts = [f"{ecn}{letters} {self.start}:{self.start + self.length}({self.length})"]
        parts += [] if self.ack is None else [f"ack {self.ack}"]
        parts += [] if self.window is None else [f"win {self.window}"]
        shown = "..." if self.options is None else ",".join(self.options)
        parts += [f"<{shown}>"] if shown else []
        return ("> " if self.is_ours else "< ") + " ".join(parts)


@dataclass(frozen=True)
class Call:
    """A system call and its expected result; None if not checked."""

    name: str
    arguments: tuple[str, ...]
    result: str | None


@dataclass(frozen=True)
class Assertion:
    """A comparison of a figure with a value."""

    figure: str
    relation: str
    value: str


@dataclass(frozen=True)
class Event:
    """A line of the script."""

    line: int
    when: When
    action: Segment | Call | Assertion


@dataclass
class Script:
    """A script with its options."""

    options: dict[str, str | int | bool] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)


class LineError(Exception):
    """A line outside the dialect."""


def read(path: Path) -> Script:
    """Reads a file. Raises `InputError` with every invalid line."""
    try:
        return parse(read_text(path))
    except LineError as error:
        raise InputError(str(path), [Problem("", str(error))]) from None


def parse(text: str) -> Script:
    """Reads a script's text. Raises `LineError`."""
    script = Script()
    # Blank out comments, so that line numbers stay correct.
    text = re.sub(r"/\*.*?\*/", lambda found: "\n" * found[0].count("\n"), text, flags=re.S)
    for number, line in enumerate(text.splitlines(), 1):
        line = re.sub(r"(//|#).*", "", line).strip()
        if not line:
            continue
        try:
            if re.search(rf"\d{{{DIGITS_MAX + 1}}}", line):
                raise LineError(f"a number of more than {DIGITS_MAX} digits")
            if option := re.fullmatch(r"--(\w+)=(.*)", line):
                script.options[option[1]] = value_of(option[2])
            else:
                script.events.append(event(number, line))
        except (LineError, ValueError, OverflowError, RecursionError) as error:
            raise LineError(f'line {number}: "{line[:200]}": {error}') from None
    return script


def value_of(text: str) -> str | int | bool:
    """An option's value: a number, true, false, or a word. Raises `LineError` for another."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return text
    if isinstance(value, str | int | bool):
        return value
    raise LineError(f"the value {text}; expected a whole number, true, false or a word")


def event(number: int, line: str) -> Event:
    """Reads a line with an event. Raises `LineError`."""
    time = rf"(\*|\+?{NUMBER}(?:~\+?{NUMBER})?)"
    found = re.fullmatch(rf"{time}\s+(.*)", line)
    if not found:
        raise LineError("expected a time (0.1, +0.1, +0~+0.1 or *) and an event")
    when, rest = when_of(found[1]), found[2]
    if rest[0] in "<>":
        return Event(number, when, segment(rest))
    if assertion := re.fullmatch(r"%\{\s*assert\s+(\w+)\s*(==|!=|<=|>=|<|>)\s*(\S+)\s*\}%", rest):
        return Event(number, when, Assertion(*assertion.groups()))
    if call := re.fullmatch(r"(\w+)\((.*)\)\s*(?:=\s*(.+))?", rest):
        arguments = tuple(part.strip() for part in re.split(r",(?![^{\[]*[}\]])", call[2]) if part)
        result = call[3] and call[3].strip()
        return Event(number, when, Call(call[1], arguments, None if result == "..." else result))
    raise LineError("expected < or > and a segment, a system call, or %{ assert FIGURE == VALUE }%")


def when_of(text: str) -> When:
    """Reads a time."""
    if text == "*":
        return When(0, None, False)
    least, _, greatest = text.partition("~")
    ends = [round(float(part.lstrip("+")) * PS_PER_S) for part in (least, greatest or least)]
    return When(ends[0], ends[1], text.startswith("+"))


SEGMENT = re.compile(
    r"(?P<side>[<>])\s+(?:\[(?P<ecn>\w+)\]\s+)?(?P<flags>[SFRPEW.]+)\s+"
    r"(?P<start>\d+):(?P<end>\d+)\((?P<length>\d+)\)"
    r"(?:\s+ack\s+(?P<ack>\d+))?(?:\s+win\s+(?P<win>\d+))?(?:\s+<(?P<options>.*)>)?"
)


def segment(text: str) -> Segment:
    """Reads a segment with its direction. Raises `LineError`."""
    found = SEGMENT.fullmatch(text)
    if not found:
        raise LineError("expected FLAGS START:END(LENGTH) [ack N] [win N] [<OPTIONS>]")
    start, end, length = (int(found[name]) for name in ("start", "end", "length"))
    if end - start != length:
        raise LineError(f"{start}:{end} are {end - start} bytes, not {length}")
    if (ecn := found["ecn"]) and ecn not in ECN:
        raise LineError(f"[{ecn}]; expected one of {', '.join(ECN)}")
    if length > LENGTH_MAX:
        raise LineError(f"{length} bytes; expected at most {LENGTH_MAX}")
    options = [part.strip() for part in (found["options"] or "").split(",")]
    named = tuple(option for option in options if option not in ("", "nop", "eol"))
    return Segment(
        is_ours=found["side"] == ">",
        flags=sum(FLAGS[letter] for letter in set(found["flags"])),
        start=start,
        length=length,
        ack=int(found["ack"]) if found["ack"] else None,
        window=int(found["win"]) if found["win"] else None,
        options=None if named == ("...",) else named,
        ecn=ECN[ecn] if ecn else None,
    )
