"""Traffic-manager drivers: what P4Runtime has no words for, a file for each way to say it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, cast

from narrows.schema.switch import DisciplineConfig, QueueLimit


def kind_and_value(limit: QueueLimit) -> tuple[str, int]:
    """A limit's unit (`packets`, `bytes` or `time_ps`) and how many of it."""
    ((kind, value),) = cast("dict[str, int]", limit).items()
    return kind, value


@dataclass(frozen=True)
class QueueState:
    """A port's settings and what its queue has done. None: the target does not keep it."""

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


class DriverError(Exception):
    """A setting that a target refused or can't express."""


def drop_tail_only(port: int, discipline: DisciplineConfig, target: str) -> DisciplineConfig:
    """The discipline, for a target whose queues can only drop at the tail. Raises `DriverError`."""
    if discipline != "drop-tail":
        name = discipline if isinstance(discipline, str) else discipline["name"]
        raise DriverError(f"port {port}: discipline {name}: {target} has drop-tail only")
    return discipline


class TrafficManager(Protocol):
    """A target's rates and queues. Methods raise `DriverError`."""

    async def set_rate(self, port: int, rate_bps: int) -> int:
        """Sets a port's rate; returns the rate in force, which the target may have rounded."""

    async def set_queue_limit(self, port: int, limit: QueueLimit) -> QueueLimit:
        """Sets a port's queue limit; returns the limit in force."""

    async def set_discipline(self, port: int, discipline: DisciplineConfig) -> DisciplineConfig:
        """Sets a port's queue discipline; returns the discipline in force."""

    async def queue_state(self, port: int) -> QueueState:
        """A port's settings and counts."""
