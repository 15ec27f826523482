"""Traffic-manager drivers, one file per protocol. P4Runtime cannot set rates or queues."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, cast

from narrows.controller.errors import DriverError
from narrows.schema.switch import DisciplineConfig, QueueLimit


def kind_and_value(limit: QueueLimit) -> tuple[str, int]:
    """A queue limit: one of `packets`, `bytes` or `time_ps`, and its value."""
    ((kind, value),) = cast("dict[str, int]", limit).items()
    return kind, value


@dataclass(frozen=True)
class QueueState:
    """A port's settings and queue counters. None: the target does not keep the value."""

    rate_bps: int | None
    limit: QueueLimit
    waiting_packets: int | None
    waiting_bytes: int | None
    max_packets: int | None
    max_bytes: int | None
    mean_packets: float | None
    transmitted: int
    transmitted_bytes: int
    dropped: int


def drop_tail_only(port: int, discipline: DisciplineConfig, target: str) -> DisciplineConfig:
    """Returns drop-tail; raises `DriverError` for another discipline."""
    if discipline != "drop-tail":
        name = discipline if isinstance(discipline, str) else discipline["name"]
        raise DriverError(f"port {port}: discipline {name}: {target} supports only drop-tail")
    return discipline


class TrafficManager(Protocol):
    """Sets a target's rates and queues. Methods raise `DriverError`."""

    async def set_rate(self, port: int, rate_bps: int) -> int:
        """Sets a port's rate in bits per second; returns the rate in force, which the target may
        round.
        """

    async def set_queue_limit(self, port: int, limit: QueueLimit) -> QueueLimit:
        """Sets a port's queue limit; returns the limit in force."""

    async def set_discipline(self, port: int, discipline: DisciplineConfig) -> DisciplineConfig:
        """Sets a port's queue discipline; returns the discipline in force."""

    async def queue_state(self, port: int) -> QueueState:
        """Reads a port's settings and counters."""
