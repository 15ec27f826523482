"""gNMI subscriptions (gNMI section 3.5): all values once, or repeatedly when they are due.

Each stream runs a loop: it sleeps until the next subscription is due, reads, and sends. ON_CHANGE
polls every `CHANGE_NS`. A leaf that a port no longer has is sent as deleted: for example, a limit
in bytes after one in packets was set.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from finsy.proto import gnmi

from narrows.switch.server.gnmi.leaves import Elem, TrafficManager, Value
from narrows.switch.server.gnmi.tree import (
    Found,
    PathError,
    Tree,
    Wanted,
    show_wanted,
    values,
)

CHANGE_NS = 50_000_000
"""Polling interval of ON_CHANGE."""
INTERVAL_LEAST_NS = 10_000_000
"""The shortest sample interval; also used for a requested interval of 0."""
UPDATES_A_MESSAGE = 1000
"""Some 200 KB; gRPC's clients take 4 MiB unless told otherwise."""

Path = tuple[Elem, ...]


class SubscriptionError(Exception):
    """A subscription that the server refuses."""


@dataclass
class Asked:
    """One subscription of a list. `sent` holds the last value sent for each leaf."""

    wanted: Wanted
    is_sample: bool
    interval_ns: int
    suppress: bool
    heartbeat_ns: int
    sent: dict[Path, Value] = field(default_factory=dict)
    due_ns: int = 0
    beat_ns: int = 0

    @classmethod
    def of(cls, one: gnmi.Subscription, wanted: Wanted, tree: Tree) -> Asked:
        """Parses a subscription. Raises `SubscriptionError`, and `PathError` for a path outside the
        models. A port that does not exist has no values (section 3.5.1.3).
        """
        try:
            tree.leaves_of(wanted)
        except PathError as error:
            if error.is_syntax:
                raise
        is_sample = one.mode == gnmi.SAMPLE
        interval_ns = one.sample_interval if is_sample else CHANGE_NS
        if is_sample and interval_ns == 0:
            interval_ns = INTERVAL_LEAST_NS
        if interval_ns < INTERVAL_LEAST_NS:
            raise SubscriptionError(
                f"{show_wanted(wanted)}: sample_interval is {interval_ns} ns: expected 0 or at "
                f"least {INTERVAL_LEAST_NS} ns"
            )
        return cls(wanted, is_sample, interval_ns, one.suppress_redundant, one.heartbeat_interval)

    def changes(self) -> bool:
        """True if only changed values are sent."""
        return not self.is_sample or self.suppress


@dataclass(frozen=True)
class Reader:
    """Reads values and builds messages from them."""

    target: TrafficManager
    tree: Tree
    encode: Callable[[Found, Value], gnmi.TypedValue]
    prefix: gnmi.Path | None

    def found(self, asked: Asked) -> list[Found]:
        """The leaves of a subscription."""
        try:
            return self.tree.find(asked.wanted, self.target.queues())
        except PathError:
            return []

    def read(self, asked: Asked) -> list[tuple[Found, Value]]:
        """The current values of a subscription."""
        return list(values(self.target, self.found(asked), lambda leaf: True))

    def messages(
        self, updates: Sequence[tuple[Found, Value]], deleted: Iterable[Path] = ()
    ) -> Iterator[gnmi.SubscribeResponse]:
        """Builds the notifications, each small enough for every client."""
        yield self.message(updates[:UPDATES_A_MESSAGE], deleted)
        for first in range(UPDATES_A_MESSAGE, len(updates), UPDATES_A_MESSAGE):
            yield self.message(updates[first : first + UPDATES_A_MESSAGE], ())

    def message(
        self, updates: Iterable[tuple[Found, Value]], deleted: Iterable[Path]
    ) -> gnmi.SubscribeResponse:
        """Builds one notification."""
        return gnmi.SubscribeResponse(
            update=gnmi.Notification(
                timestamp=time.time_ns(),
                prefix=self.prefix,
                update=[
                    gnmi.Update(path=proto(one.path), val=self.encode(one, value))
                    for one, value in updates
                ],
                delete=[proto(path) for path in deleted],
            )
        )


def proto(path: Path) -> gnmi.Path:
    """Converts a path to gNMI."""
    return gnmi.Path(elem=[gnmi.PathElem(name=name, key=dict(keys)) for name, keys in path])


def synchronized() -> gnmi.SubscribeResponse:
    """The message that ends the initial values."""
    return gnmi.SubscribeResponse(sync_response=True)


def once(
    reader: Reader, asked: list[Asked], *, updates_only: bool
) -> Iterator[gnmi.SubscribeResponse]:
    """Yields all values, then the sync response."""
    for one in asked:
        have = reader.read(one)
        if have and not updates_only:
            yield from reader.messages(have)
    yield synchronized()


def stream(
    reader: Reader, asked: list[Asked], gone: threading.Event, *, updates_only: bool
) -> Iterator[gnmi.SubscribeResponse]:
    """Yields all values first, then those of each due subscription, until the client
    disconnects.
    """
    start_ns = time.monotonic_ns()
    for one in asked:
        have = reader.read(one)
        one.sent = {found.path: value for found, value in have}
        one.due_ns = start_ns + one.interval_ns
        one.beat_ns = start_ns + one.heartbeat_ns
        if have and not updates_only:
            yield from reader.messages(have)
    yield synchronized()
    if not asked:
        return
    while True:
        now_ns = time.monotonic_ns()
        next_ns = min(one.due_ns for one in asked)
        if gone.wait(max(next_ns - now_ns, 0) / 1e9):
            return
        now_ns = time.monotonic_ns()
        for one in asked:
            if one.due_ns > now_ns:
                continue
            yield from due(reader, one, now_ns)
            # Skip missed sample times.
            missed = (now_ns - one.due_ns) // one.interval_ns
            one.due_ns += (missed + 1) * one.interval_ns


def due(reader: Reader, one: Asked, now_ns: int) -> Iterator[gnmi.SubscribeResponse]:
    """The messages of a due subscription."""
    have = reader.read(one)
    values_now = {found.path: value for found, value in have}
    deleted = [path for path in one.sent if path not in values_now]
    beats = one.heartbeat_ns > 0 and one.beat_ns <= now_ns
    if one.changes() and not beats:
        have = [(found, value) for found, value in have if one.sent.get(found.path) != value]
    if beats:
        one.beat_ns = now_ns + one.heartbeat_ns
    one.sent = values_now
    if have or deleted:
        yield from reader.messages(have, deleted)
