"""What the live view shows, and what it may change."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from narrows.schema.switch import QueueLimit

KINDS: Final = {"packets", "bytes", "time_ps"}
"""Of a queue limit."""


@dataclass(frozen=True)
class PortState:
    """A port now, with its counts since the start."""

    name: str
    number: int
    rate_bps: int | None
    """None for a port without a limit."""
    queue_limit: QueueLimit
    transmitted_bytes: int
    dropped: int
    marked: int
    waiting_packets: int
    waiting_bytes: int


@dataclass(frozen=True)
class Snapshot:
    """Everything at one instant."""

    time_s: float
    ports: list[PortState]
    windows_bytes: dict[str, int] = field(default_factory=dict)
    """Congestion windows by the flows' names; empty where the senders are others'."""

    def as_json(self) -> dict[str, Any]:
        """The object that the page reads."""
        return asdict(self)


@dataclass(frozen=True)
class Change:
    """A new setting of a port."""

    port: int
    rate_bps: int | None = None
    queue_limit: QueueLimit | None = None

    @classmethod
    def from_json(cls, content: Any) -> Change:
        """Reads what the page sent. Raises `ValueError`."""
        if not isinstance(content, dict):
            raise ValueError("expected an object")
        if content.keys() not in ({"port", "rate_bps"}, {"port", "queue_limit"}):
            raise ValueError("expected port, and one of rate_bps and queue_limit")
        port = whole_number("port", content["port"], 0)
        if "rate_bps" in content:
            return cls(port, rate_bps=whole_number("rate_bps", content["rate_bps"], 1))
        limit = content["queue_limit"]
        if not isinstance(limit, dict) or len(limit) != 1 or not limit.keys() <= KINDS:
            raise ValueError(f"queue_limit: expected one of {', '.join(sorted(KINDS))}")
        [(kind, value)] = limit.items()
        return cls(port, queue_limit=cast("QueueLimit", {kind: whole_number(kind, value, 1)}))


def whole_number(key: str, value: object, least: int) -> int:
    """A whole number. Raises `ValueError`, naming the key."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value < 2**63:
        raise ValueError(f"{key}: expected a whole number from {least}")
    return value


Control = Callable[[Change], Awaitable[None]]
"""Makes a change through the controller. Raises `ControlError`."""


class ControlError(Exception):
    """The controller refused a change."""


class Feed:
    """The latest snapshot, published by one thread and read by others."""

    def __init__(self) -> None:
        self._latest: tuple[int, Snapshot | None] = (0, None)
        self.is_closed = False
        self.published = threading.Event()
        """Set from the first snapshot on."""

    @property
    def latest(self) -> tuple[int, Snapshot | None]:
        """The number of snapshots so far, and the last one."""
        return self._latest

    def publish(self, snapshot: Snapshot) -> None:
        """Replaces the snapshot."""
        self._latest = (self._latest[0] + 1, snapshot)
        self.published.set()

    def close(self) -> None:
        """Ends the streams of all readers."""
        self.is_closed = True
