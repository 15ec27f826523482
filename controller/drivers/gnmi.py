"""Sets rates and queues over gNMI, with the OpenConfig paths of docs/guide/gnmi.md.

The rate is a scheduler's `cir`. A queue's limit is its dedicated buffer: in bytes, in microseconds,
or in packets (an augmented leaf). A limit in time is rounded to a whole microsecond, at least one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import finsy as fy
from finsy.gnmiclient import GNMIClientError

from narrows.controller.drivers import QueueState, kind_and_value
from narrows.controller.errors import DriverError
from narrows.schema.switch import DisciplineConfig, QueueLimit
from narrows.schema.units import PS_PER_US

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


def queue(port: int) -> str:
    """Path of a port's queue counters."""
    return f"/qos/interfaces/interface[interface-id={port}]/output/queues/queue[name=0]/state"


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
        return int((await self._leaves(f"{scheduler(port)}/state"))["cir"])

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
        name, parameters = discipline, dict[str, float]()
        if isinstance(discipline, dict):
            name, parameters = discipline["name"], discipline.get("parameters", {})
        at = management(port)
        written: list[tuple[str, Any]] = [(f"{at}/config/discipline", name)]
        written += [(f"{at}/config/{name}-{key}", value) for key, value in parameters.items()]
        await self._update(written)
        leaves = await self._leaves(f"{at}/state")
        in_force = leaves["discipline"]
        found = {
            leaf.removeprefix(f"{in_force}-"): value
            for leaf, value in leaves.items()
            if leaf.startswith(f"{in_force}-")
        }
        return {"name": in_force, "parameters": found} if found else in_force

    async def queue_state(self, port: int) -> QueueState:
        """Reads a port's settings and queue counters."""
        rate = await self._leaves(f"{scheduler(port)}/.../cir")
        limit = limit_read(await self._leaves(f"{buffer(port)}/state"))
        counted = await self._leaves(queue(port))
        return QueueState(
            rate_bps=rate.get("cir"),
            limit=limit,
            waiting_packets=counted.get("queue-len-packets"),
            waiting_bytes=counted.get("queue-len"),
            max_packets=counted.get("max-queue-len-packets"),
            max_bytes=counted.get("max-queue-len"),
            mean_packets=counted.get("avg-queue-len-packets"),
            transmitted=counted["transmit-pkts"],
            transmitted_bytes=counted["transmit-octets"],
            dropped=counted["dropped-pkts"],
        )

    async def _set(self, path: str, value: int) -> None:
        if not 0 <= value < 2**64:
            raise DriverError(f"{path} = {value}: expected an unsigned integer of 64 bits")
        await self._update([(path, value)])

    async def _update(self, written: list[tuple[str, Any]]) -> None:
        try:
            await self.client.set(update=[(fy.GNMIPath(path), value) for path, value in written])
        except GNMIClientError as error:
            raise DriverError(f"{error.code.name}: {error.message}") from None

    async def _leaves(self, path: str) -> dict[str, Any]:
        try:
            updates = await self.client.get(fy.GNMIPath(path))
        except GNMIClientError as error:
            raise DriverError(f"{error.code.name}: {error.message}") from None
        return {update.path.last: update.value for update in updates}


def limit_read(leaves: Mapping[str, Any]) -> QueueLimit:
    """Reads a limit from the leaves of a buffer."""
    for kind, (leaf, unit) in LIMITS.items():
        if leaf in leaves:
            return cast("QueueLimit", {kind: int(leaves[leaf]) * unit})
    raise DriverError("the switch reports no queue limit")
