"""gNMI subscriptions (gNMI section 3.5): all values once, or those that are due again and again.

A stream is a loop of its own: it sleeps until the next subscription is due, reads, and sends.
ON_CHANGE looks every `CHANGE_NS`. A leaf that a port has no longer (a queue limit that is in
packets now) is sent as deleted.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
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
"""How often ON_CHANGE looks."""
INTERVAL_LEAST_NS = 10_000_000
"""The shortest sample interval, which an interval of 0 stands for."""

Path = tuple[Elem, ...]


class SubscriptionError(Exception):
    """A subscription that can't be served."""


@dataclass
class Asked:
    """One subscription of a list. `sent` has each leaf's value as it was sent last."""

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
        """Reads a subscription. Raises `SubscriptionError`, and `PathError` for a path that no
        port could have; a port that is not there has no values (section 3.5.1.3).
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
        """Whether only what has changed is sent."""
        return not self.is_sample or self.suppress


@dataclass(frozen=True)
class Reader:
    """Reads values and puts them into messages."""

    target: TrafficManager
    tree: Tree
    encode: Callable[[Found, Value], gnmi.TypedValue]
    prefix: gnmi.Path | None

    def read(self, asked: Asked) -> list[tuple[Found, Value]]:
        """The values of a subscription now."""
        try:
            found = self.tree.find(asked.wanted, self.target.ports())
        except PathError:
            return []
        return list(values(self.target, found, lambda leaf: True))

    def message(
        self, updates: Iterable[tuple[Found, Value]], deleted: Iterable[Path] = ()
    ) -> gnmi.SubscribeResponse:
        """One notification."""
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
    """A path as gNMI has it."""
    return gnmi.Path(elem=[gnmi.PathElem(name=name, key=dict(keys)) for name, keys in path])


def synchronized() -> gnmi.SubscribeResponse:
    """That all has been sent once."""
    return gnmi.SubscribeResponse(sync_response=True)


def once(
    reader: Reader, asked: list[Asked], *, updates_only: bool
) -> Iterator[gnmi.SubscribeResponse]:
    """All values, and that these are all."""
    for one in asked:
        have = reader.read(one)
        if have and not updates_only:
            yield reader.message(have)
    yield synchronized()


def stream(
    reader: Reader, asked: list[Asked], gone: threading.Event, *, updates_only: bool
) -> Iterator[gnmi.SubscribeResponse]:
    """All values at first, then each subscription's when it is due, until the client is gone."""
    start_ns = time.monotonic_ns()
    for one in asked:
        have = reader.read(one)
        one.sent = {found.path: value for found, value in have}
        one.due_ns = start_ns + one.interval_ns
        one.beat_ns = start_ns + one.heartbeat_ns
        if have and not updates_only:
            yield reader.message(have)
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
            # Instants that were missed are left out.
            missed = (now_ns - one.due_ns) // one.interval_ns
            one.due_ns += (missed + 1) * one.interval_ns


def due(reader: Reader, one: Asked, now_ns: int) -> Iterator[gnmi.SubscribeResponse]:
    """What a subscription has to say now."""
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
        yield reader.message(have, deleted)
