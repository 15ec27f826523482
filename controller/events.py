"""Runs the plan's events on running switches.

An event is `{"at_ps": n, "switch": name, ...}` with a port's `rate_bps`, `queue` or `discipline`,
or with an `entry` and its `op`. The clock is an argument, so tests can step it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from narrows.controller.drivers import TrafficManager
from narrows.controller.state import TableEntry
from narrows.schema.plan import EntryOperation, EventPlan
from narrows.schema.switch import DisciplineConfig, QueueLimit
from narrows.schema.units import PS_PER_S


class Clock(Protocol):
    """The clock by which events are due."""

    def now_ps(self) -> int:
        """Time since the run began."""

    async def wait_until(self, at_ps: int) -> None:
        """Returns at that time, immediately if it has passed."""


class WallClock:
    """The event loop's clock; the run begins at construction."""

    def __init__(self) -> None:
        self.start_s = asyncio.get_running_loop().time()

    def now_ps(self) -> int:
        """Time since the run began."""
        return int((asyncio.get_running_loop().time() - self.start_s) * PS_PER_S)

    async def wait_until(self, at_ps: int) -> None:
        """Sleeps until then."""
        await asyncio.sleep(max(at_ps - self.now_ps(), 0) / PS_PER_S)


class EntryWriter(Protocol):
    """A client that writes table entries, over P4Runtime or BfRuntime."""

    async def write_entry(self, entry: TableEntry, operation: EntryOperation = "insert") -> None:
        """Writes one table entry."""


@dataclass(frozen=True)
class ManagedSwitch:
    """The two interfaces of a switch: its tables and its traffic manager's driver."""

    client: EntryWriter
    driver: TrafficManager


@dataclass(frozen=True)
class Done:
    """A completed event: when it was due, when the switch confirmed it, and the value in force. The
    switch may round a rate or limit; an entry has None.
    """

    due_ps: int
    done_ps: int
    in_force: int | QueueLimit | DisciplineConfig | None


async def carry_out(
    events: Iterable[EventPlan], switches: Mapping[str, ManagedSwitch], clock: Clock
) -> list[Done]:
    """Runs events in order of time; events at equal times run in the given order.

    Raises `KeyError` for an unknown switch before the first event runs. An error of client or
    driver ends the sequence and propagates.
    """
    ordered = sorted(events, key=lambda event: event["at_ps"])
    targets = [switches[event["switch"]] for event in ordered]
    done = list[Done]()
    for event, target in zip(ordered, targets, strict=True):
        await clock.wait_until(event["at_ps"])
        in_force = await carry_out_one(event, target)
        done.append(Done(event["at_ps"], clock.now_ps(), in_force))
    return done


async def carry_out_one(
    event: EventPlan, target: ManagedSwitch
) -> int | QueueLimit | DisciplineConfig | None:
    """Runs one event now. Raises `ValueError` if the event sets nothing."""
    match event:
        case {"port": int(port), "rate_bps": int(rate_bps)}:
            return await target.driver.set_rate(port, rate_bps)
        case {"port": int(port), "queue": limit} if limit is not None:
            return await target.driver.set_queue_limit(port, limit)
        case {"port": int(port), "discipline": discipline} if discipline is not None:
            return await target.driver.set_discipline(port, discipline)
        case {"entry": entry, "op": operation} if entry is not None and operation is not None:
            await target.client.write_entry(TableEntry.from_json(entry), operation)
            return None
    expected = "a port's rate_bps, queue or discipline, or entry and op"
    raise ValueError(f"event {dict(event)}: expected {expected}")
