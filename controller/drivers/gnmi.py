"""Sets rates and queues over gNMI, with the OpenConfig paths of docs/guide/gnmi.md.

The rate is a scheduler's `cir`. A queue's limit is its dedicated buffer: in bytes, in microseconds,
or in packets (an augmented leaf). A limit in time is rounded to a whole microsecond, at least one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar, cast

import finsy as fy
from finsy.gnmiclient import GNMIClientError

from narrows.controller.drivers import QueueState, kind_and_value
from narrows.controller.errors import DriverError
from narrows.schema.switch import DisciplineConfig, QueueLimit
from narrows.schema.units import PS_PER_US

Leaf: TypeAlias = int | float | bool | str
"""A leaf's value."""

LIMITS = {
    "bytes": ("dedicated-buffer", 1),
    "time_ps": ("dedicated-buffer-temporal", PS_PER_US),
    "packets": ("dedicated-buffer-packets", 1),
}
"""For each kind of limit: its leaf, and plan units per leaf unit."""


def scheduler(port: int) -> str:
    """Path of a port's rate."""
    policy = f"/qos/scheduler-policies/scheduler-policy[name={port}]"
    return f"{policy}/schedulers/scheduler[sequence=0]/two-rate-three-color"


def buffer(port: int) -> str:
    """Path of a port's queue limit."""
    profile = f"/qos/buffer-allocation-profiles/buffer-allocation-profile[name={port}]"
    return f"{profile}/queues/queue[name=0]"


def queues(port: int) -> str:
    """Path of the counters of a port's queues."""
    return f"/qos/interfaces/interface[interface-id={port}]/output/queues/queue[name=*]/state"


def management(port: int) -> str:
    """Path of a port's queue discipline."""
    return f"/qos/queue-management-profiles/queue-management-profile[name={port}]"


class GnmiDriver:
    """A target that serves gNMI. The client must be open."""

    def __init__(self, client: fy.GNMIClient) -> None:
        self.client = client

    async def set_rate(self, port: int, rate_bps: int) -> int:
        """Sets a port's rate in bits per second; returns the rate in force."""
        await self._set(f"{scheduler(port)}/config/cir", rate_bps)
        return (await self._leaves(f"{scheduler(port)}/state")).count("cir")

    async def set_queue_limit(self, port: int, limit: QueueLimit) -> QueueLimit:
        """Sets a port's queue limit; returns the limit in force."""
        kind, value = kind_and_value(limit)
        leaf, unit = LIMITS[kind]
        # Round half up.
        whole = max((2 * value + unit) // (2 * unit), 1) if value else 0
        await self._set(f"{buffer(port)}/config/{leaf}", whole)
        return limit_read(await self._leaves(f"{buffer(port)}/state"))

    async def set_discipline(self, port: int, discipline: DisciplineConfig) -> DisciplineConfig:
        """Sets a port's queue discipline with its parameters; returns the discipline in force."""
        name, parameters = name_and_parameters(discipline)
        at = management(port)
        written: list[tuple[str, Leaf]] = [(f"{at}/config/discipline", name)]
        written += [(f"{at}/config/{name}-{key}", value) for key, value in parameters.items()]
        await self._update(written)
        leaves = await self._leaves(f"{at}/state")
        in_force = leaves.text("discipline")
        found = leaves.numbers(f"{in_force}-")
        return {"name": in_force, "parameters": found} if found else in_force

    async def queue_state(self, port: int) -> QueueState:
        """Reads a port's settings and the counters of all its queues together. A largest depth is
        that of one queue.
        """
        rate = await self._leaves(f"{scheduler(port)}/.../cir")
        limit = limit_read(await self._leaves(f"{buffer(port)}/state"))
        counted = await self._queues(port)
        return QueueState(
            rate_bps=rate.known_count("cir"),
            limit=limit,
            waiting_packets=known(sum, (one.known_count("queue-len-packets") for one in counted)),
            waiting_bytes=known(sum, (one.known_count("queue-len") for one in counted)),
            max_packets=known(max, (one.known_count("max-queue-len-packets") for one in counted)),
            max_bytes=known(max, (one.known_count("max-queue-len") for one in counted)),
            mean_packets=known(sum, (one.known_number("avg-queue-len-packets") for one in counted)),
            transmitted=sum(one.count("transmit-pkts") for one in counted),
            transmitted_bytes=sum(one.count("transmit-octets") for one in counted),
            dropped=sum(one.count("dropped-pkts") for one in counted),
        )

    async def _queues(self, port: int) -> list[Leaves]:
        """The counters of each of a port's queues."""
        found = dict[str, dict[str, Leaf]]()
        for update in await self._get(queues(port)):
            name = str(update.path["queue", "name"])
            found.setdefault(name, {})[update.path.last] = update.value
        if not found:
            raise DriverError(f"{queues(port)}: the switch reports no queue")
        return [Leaves(queues(port).replace("*", name), values) for name, values in found.items()]

    async def _set(self, path: str, value: int) -> None:
        if not 0 <= value < 2**64:
            raise DriverError(f"{path} = {value}: expected an unsigned integer of 64 bits")
        await self._update([(path, value)])

    async def _update(self, written: list[tuple[str, Leaf]]) -> None:
        try:
            await self.client.set(update=[(fy.GNMIPath(path), value) for path, value in written])
        except GNMIClientError as error:
            raise DriverError(f"{error.code.name}: {error.message}") from None

    async def _leaves(self, path: str) -> Leaves:
        updates = await self._get(path)
        return Leaves(path, {update.path.last: update.value for update in updates})

    async def _get(self, path: str) -> Sequence[fy.GNMIUpdate]:
        try:
            return await self.client.get(fy.GNMIPath(path))
        except GNMIClientError as error:
            raise DriverError(f"{error.code.name}: {error.message}") from None


Amount = TypeVar("Amount", int, float)


def known(
    combine: Callable[[list[Amount]], Amount], values: Iterable[Amount | None]
) -> Amount | None:
    """The values of several queues combined; None if the target lacks one."""
    every = list(values)
    have = [value for value in every if value is not None]
    return combine(have) if len(have) == len(every) else None


def name_and_parameters(discipline: DisciplineConfig) -> tuple[str, dict[str, float]]:
    """A discipline's name, and its parameters that differ from their defaults."""
    if isinstance(discipline, str):
        return discipline, {}
    return discipline["name"], discipline.get("parameters", {})


@dataclass(frozen=True)
class Leaves:
    """The leaves below a path. Methods raise `DriverError` for a value of another type."""

    path: str
    values: Mapping[str, Leaf]

    def known_number(self, leaf: str) -> float | None:
        """A leaf's number; None if the target has no such leaf."""
        value = self.values.get(leaf)
        if isinstance(value, str):
            raise DriverError(f"{self.path}/{leaf} = {value!r}: expected a number")
        return value

    def known_count(self, leaf: str) -> int | None:
        """A leaf's whole number; None if the target has no such leaf."""
        value = self.known_number(leaf)
        if value is not None and not isinstance(value, int):
            raise DriverError(f"{self.path}/{leaf} = {value!r}: expected a whole number")
        return value

    def count(self, leaf: str) -> int:
        """A leaf's whole number. Raises `DriverError` too if there is no such leaf."""
        value = self.known_count(leaf)
        if value is None:
            raise DriverError(f"{self.path}: the switch reports no {leaf}")
        return value

    def text(self, leaf: str) -> str:
        """A leaf's text. Raises `DriverError` too if there is no such leaf."""
        value = self.values.get(leaf)
        if not isinstance(value, str):
            raise DriverError(f"{self.path}: the switch reports no {leaf}")
        return value

    def numbers(self, prefix: str) -> dict[str, float]:
        """The numbers of all leaves with this prefix, by the rest of their names."""
        return {
            leaf.removeprefix(prefix): value
            for leaf, value in self.values.items()
            if leaf.startswith(prefix) and not isinstance(value, str)
        }


def limit_read(leaves: Leaves) -> QueueLimit:
    """Reads a limit from the leaves of a buffer."""
    for kind, (leaf, unit) in LIMITS.items():
        if (value := leaves.known_count(leaf)) is not None:
            return cast("QueueLimit", {kind: value * unit})
    raise DriverError("the switch reports no queue limit")
