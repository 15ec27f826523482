"""Plays a script to our TCP: makes its calls, injects the peer's segments, and checks
our segments.
"""

from __future__ import annotations

import operator
import struct
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from narrows.schema import units
from narrows.testbed import engine
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.tools.packetdrill import script, wire
from narrows.testbed.tools.packetdrill.script import Assertion, Call, Event, LineError, Segment

if TYPE_CHECKING:
    from narrows.schema.flow import FlowConfig

PASSED, FAILED, WRONG = 0, 1, 2

OUR_MAC, THEIR_MAC = "02:00:00:00:00:01", "02:00:00:00:00:02"
OURS, THEIRS = ("192.168.0.1", 8080), ("192.0.2.1", 50_000)
DEFAULTS: dict[str, Any] = {"profile": "rfc", "variant": "reno", "recovery": "sack"}
SEED = 1

RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge,
}  # fmt: skip

IGNORED_CALLS = {"bind", "fcntl", "listen", "poll"}
"""Calls without effect, since the only connection exists from the start."""
SOCKET_OPTIONS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "TCP_CONGESTION": ("variant", str),
    "TCP_NODELAY": ("nagle", lambda text: text == "0"),
    "SO_RCVBUF": ("window_bytes", int),
    "TCP_MAXSEG": ("segment_bytes", int),
    "TCP_USER_TIMEOUT": ("user_timeout_ps", lambda text: int(text) * units.PS_PER_MS),
    "TCP_KEEPIDLE": ("keep_alive.idle_ps", lambda text: int(text) * units.PS_PER_S),
    "TCP_KEEPINTVL": ("keep_alive.interval_ps", lambda text: int(text) * units.PS_PER_S),
    "TCP_KEEPCNT": ("keep_alive.probes", int),
}
"""Options that set a flow's setting: the setting, and its parser."""
KEEP_ALIVE = {"idle_ps": 7200 * units.PS_PER_S, "interval_ps": 75 * units.PS_PER_S, "probes": 9}
"""Defaults of SO_KEEPALIVE, as in Linux."""


class DifferenceError(Exception):
    """Our TCP differs from the script."""


UNUSABLE = (ValueError, TypeError, KeyError, IndexError, OverflowError, struct.error)
"""What a value of a script may raise where it does not fit."""


@dataclass(frozen=True)
class Sent:
    """A sent segment and its time."""

    at_ps: int
    segment: Segment


class Player:
    """One run of a script."""

    def __init__(self, played: script.Script) -> None:
        self._script = played
        self._settings = DEFAULTS | played.options
        self._tolerance_ps = int(self._settings.pop("tolerance_usecs", 0)) * 10**6
        self._now_ps = 0
        self._numbers = wire.Numbers()
        self._sent: deque[Sent] = deque()
        self._connection: engine.Connection | None = None
        self.trace: list[str] = []

    def play(self) -> None:
        """Plays all of it. Raises `DifferenceError`, `LineError`, ValueError."""
        for event in self._script.events:
            try:
                self._do(event)
            except (DifferenceError, LineError) as error:
                raise type(error)(f"line {event.line}: {error}") from None
            except UNUSABLE as error:
                what = f"a value that cannot be used here ({error})"
                raise LineError(f"line {event.line}: {what}") from None
        if self._sent:
            left = "; ".join(f"{sent.segment} at {seconds(sent.at_ps)}" for sent in self._sent)
            raise DifferenceError(f"sent after the end of the script: {left}")

    def _do(self, event: Event) -> None:
        base_ps = self._now_ps if event.when.is_relative else 0
        least_ps = base_ps + event.when.least_ps
        greatest_ps = event.when.greatest_ps
        latest_ps = None if greatest_ps is None else base_ps + greatest_ps
        if isinstance(event.action, Segment) and event.action.is_ours:
            self._expect(event.action, least_ps, latest_ps)
            return
        if greatest_ps is None:
            raise LineError("only sent segments can have the time *")
        self._run_until(least_ps)
        if isinstance(event.action, Segment):
            self._inject(event.action)
        elif isinstance(event.action, Call):
            self._call(event.action)
        else:
            self._assert(event.action)

    # Time.

    def _run_until(self, end_ps: int) -> None:
        while (due_ps := self._next_timeout()) is not None and due_ps <= end_ps:
            self._fire(due_ps)
        self._now_ps = max(self._now_ps, end_ps)

    def _next_timeout(self) -> int | None:
        return self._connection.poll_timeout() if self._connection else None

    def _fire(self, due_ps: int) -> None:
        self._now_ps = max(self._now_ps, due_ps)
        assert self._connection is not None
        self._connection.handle_timeout(self._now_ps)
        self._collect()

    def _collect(self) -> None:
        assert self._connection is not None
        while frame := self._connection.poll_transmit(self._now_ps):
            sent = Sent(self._now_ps, wire.parse(frame, self._numbers))
            self.trace.append(f"{seconds(sent.at_ps)} {sent.segment}")
            self._sent.append(sent)

    # Segments.

    def _expect(self, expected: Segment, least_ps: int, latest_ps: int | None) -> None:
        while not self._sent:
            due_ps = self._next_timeout()
            limit_ps = None if latest_ps is None else latest_ps + self._tolerance_ps
            if due_ps is None or (limit_ps is not None and due_ps > limit_ps):
                when = "no timer runs" if due_ps is None else f"a timer is due at {seconds(due_ps)}"
                raise DifferenceError(f"expected {expected}\n  nothing was sent; {when}")
            self._fire(due_ps)
        sent = self._sent.popleft()
        found = blank(sent.segment, expected)
        if found != expected:
            raise DifferenceError(f"expected {expected}\n  sent     {found}")
        low_ps = least_ps - self._tolerance_ps
        is_late = latest_ps is not None and sent.at_ps > latest_ps + self._tolerance_ps
        if sent.at_ps < low_ps or is_late:
            allowed = seconds(least_ps)
            if latest_ps != least_ps:
                allowed += f" to {'any time' if latest_ps is None else seconds(latest_ps)}"
            raise DifferenceError(f"{expected}\n  sent at {seconds(sent.at_ps)}, not {allowed}")
        self._now_ps = max(self._now_ps, sent.at_ps)

    def _inject(self, segment: Segment) -> None:
        if self._connection is None:
            self._open(is_active=False)
        ends = wire.Ends(
            macs=(units.mac_bytes(THEIR_MAC), units.mac_bytes(OUR_MAC)),
            ips=(units.ip_bytes(THEIRS[0]), units.ip_bytes(OURS[0])),
            ports=(THEIRS[1], OURS[1]),
        )
        self.trace.append(f"{seconds(self._now_ps)} {segment}")
        frame = wire.emit(segment, ends, self._numbers)
        assert self._connection is not None
        if reason := self._connection.handle_frame(self._now_ps, frame):
            raise DifferenceError(f"{segment}\n  was not accepted: {reason}")
        self._collect()

    # Calls.

    def _open(self, is_active: bool) -> None:
        source, destination = (OURS, THEIRS) if is_active else (THEIRS, OURS)
        flow: dict[str, Any] = {
            "id": 1,
            "source": dict(zip(("ip", "port"), source, strict=True)),
            "destination": dict(zip(("ip", "port"), destination, strict=True)),
            "app": {"kind": "bulk"},
            **self._settings,
        }
        self._connection = engine.Connection(
            cast("FlowConfig", flow), is_active, (OUR_MAC, THEIR_MAC), SEED
        )
        self._collect()

    def _call(self, call: Call) -> None:
        result = self._result_of(call)
        if call.result is None or result is None:
            return
        expected = call.result.split()[0]
        if expected != str(result):
            raise DifferenceError(f"{call.name}() returns {result}, not {expected}")

    def _result_of(self, call: Call) -> int | None:
        """The result of a call; None if the number has no meaning here."""
        if call.name == "setsockopt":
            self._set_option(call.arguments)
            return 0
        if call.name in IGNORED_CALLS:
            return 0
        if call.name in ("socket", "accept"):
            return None
        if call.name == "connect":
            self._open(is_active=True)
            return None
        if self._connection is None:
            raise LineError(f"{call.name}() before there is a connection")
        result = self._transfer(call)
        self._collect()
        return result

    def _set_option(self, arguments: tuple[str, ...]) -> None:
        name, value = arguments[2], arguments[3].strip('[]"')
        if name in ("SO_REUSEADDR", "SO_REUSEPORT"):
            return
        if name == "SO_KEEPALIVE":
            self._settings.setdefault("keep_alive", dict(KEEP_ALIVE))
            return
        if name not in SOCKET_OPTIONS:
            raise LineError(f"setsockopt {name}; expected one of {', '.join(SOCKET_OPTIONS)}")
        if self._connection is not None:
            raise LineError(f"setsockopt {name} once there is a connection")
        setting, read = SOCKET_OPTIONS[name]
        group, _, member = setting.partition(".")
        if member:
            self._settings.setdefault(group, dict(KEEP_ALIVE))[member] = read(value)
        else:
            self._settings[group] = read(value)

    def _transfer(self, call: Call) -> int:
        assert self._connection is not None
        if call.name in ("write", "send"):
            count = int(call.arguments[2])
            self._connection.write(bytes(count))
            return count
        if call.name in ("read", "recv"):
            return len(self._connection.read(int(call.arguments[2])))
        if call.name in ("shutdown", "close"):
            self._connection.close()
            return 0
        if call.name == "abort":
            self._connection.abort()
            return 0
        known = "accept, write, send, read, recv, shutdown, close, abort, connect, setsockopt"
        raise LineError(f"the call {call.name}(); expected one of {known}")

    def _assert(self, assertion: Assertion) -> None:
        if self._connection is None:
            raise LineError("an assertion before there is a connection")
        figures: dict[str, int | str | None] = {
            **self._connection.figures(self._now_ps),
            "state": self._connection.state,
            "was_reset": int(self._connection.was_reset),
            "has_given_up": int(self._connection.has_given_up),
            "readable_bytes": self._connection.readable_bytes,
        }
        if assertion.figure not in figures:
            raise LineError(f"{assertion.figure}; expected one of {', '.join(figures)}")
        found = figures[assertion.figure]
        value = assertion.value if isinstance(found, str) else script.value_of(assertion.value)
        if not RELATIONS[assertion.relation](found, value):
            raise DifferenceError(
                f"{assertion.figure} is {found}, not {assertion.relation} {assertion.value}"
            )


def blank(sent: Segment, expected: Segment) -> Segment:
    """The sent segment, without fields that the script does not check."""
    return replace(
        sent,
        window=None if expected.window is None else sent.window,
        options=None if expected.options is None else sent.options,
        ecn=None if expected.ecn is None else sent.ecn,
    )


def seconds(time_ps: int) -> str:
    """Formats a time in seconds."""
    return f"{time_ps / units.PS_PER_S:.6f} s"


def main(paths: Sequence[Path]) -> int:
    """Runs `narrows packetdrill`: returns 0 if every script passes, 1 if one fails, 2 if one is
    invalid.
    """
    return max(run(path) for path in paths)


def run(path: Path) -> int:
    """Plays one script and prints the result. Raises `InputError`."""
    played = script.read(path)
    try:
        player = Player(played)
        player.play()
    except DifferenceError as error:
        print(f"{path}: {error}")
        print("\n".join(f"    {line}" for line in player.trace[-20:]))
        print(f"{path}: FAILED")
        return FAILED
    except (LineError, *UNUSABLE) as error:
        raise InputError(str(path), [Problem("", str(error))]) from None
    print(f"{path}: passed")
    return PASSED
