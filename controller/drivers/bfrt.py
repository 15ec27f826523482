"""Rates, queue limits and ports of a Tofino, over BfRuntime. A port is its device port number.

The shaper accepts whole kbit/s and rounds them to its hardware's steps. `set_rate` therefore
returns the rate that it reads back. A queue limit is in cells of the packet buffer, taken from the
shared pool of all egress queues. A limit in packets is the cells of that many full packets; one in
bytes or time is rounded to whole full packets. The default dynamic share of the free pool
(`dynamic_baf`) is off, so the queue is DropTail with exactly this limit.

Names, units and types: the open SDE's bf_rt_tm_tf1.json, bf_rt_tm_tf2.json and bf_rt_port_*.json.
"""

from __future__ import annotations

from narrows.controller.bfrt.client import DELETE, INSERT, BfrtClient, Change
from narrows.controller.bfrt.schema import Value
from narrows.controller.drivers import QueueState, drop_tail_only, kind_and_value
from narrows.controller.errors import DriverError
from narrows.controller.matches import Exact
from narrows.schema.switch import DisciplineConfig, QueueLimit
from narrows.schema.units import PS_PER_S

BPS_PER_UNIT = 1000
"""The shaper's `BPS` unit is kbit/s."""
MAX_RATE_UNITS = 2**32 - 1
CHECK_SEQUENCE_BYTES = 4
QUEUE = 0
"""The default queue, since p4/tna.p4 selects none."""
SPEEDS = {
    10**9 * gigabits: f"BF_SPEED_{gigabits}G" for gigabits in (1, 10, 25, 40, 50, 100, 200, 400)
}
"""Port speeds by bits per second."""
FECS = {
    "none": "BF_FEC_TYP_NONE",
    "firecode": "BF_FEC_TYP_FIRECODE",
    "reed-solomon": "BF_FEC_TYP_REED_SOLOMON",
}
"""Forward error correction modes by name; both ends of a cable must match."""


class BfrtDriver:
    """A Tofino. Limits in packets assume `packet_bytes` bytes each. The client must be open.
    Methods raise `DriverError`.
    """

    def __init__(self, client: BfrtClient, packet_bytes: int) -> None:
        if packet_bytes < 1:
            raise DriverError(f"packet_bytes = {packet_bytes}: expected at least 1")
        self.client, self.packet_bytes = client, packet_bytes
        self.cells_per_packet = client.device.cells(packet_bytes)

    def _tm(self, table: str) -> str:
        return f"{self.client.device.prefix}.tm.{table}"

    async def set_rate(self, port: int, rate_bps: int) -> int:
        """Shapes a port to a rate in bits per second, to the nearest kbit/s, with a burst of one
        full packet; returns the rate in force.
        """
        # Round half up.
        units = (2 * rate_bps + BPS_PER_UNIT) // (2 * BPS_PER_UNIT)
        if not 1 <= units <= MAX_RATE_UNITS:
            most = MAX_RATE_UNITS * BPS_PER_UNIT
            raise DriverError(
                f"port {port}: rate_bps = {rate_bps}: expected {BPS_PER_UNIT}..{most}"
            )
        shaping: dict[str, Value] = {
            "unit": "BPS",
            "provisioning": "MIN_ERROR",
            "max_rate": units,
            "max_burst_size": self.packet_bytes + CHECK_SEQUENCE_BYTES,
        }
        key = {"dev_port": port}
        await self.client.write(
            [
                Change.modify(self._tm("port.sched_shaping"), key, shaping),
                Change.modify(self._tm("port.sched_cfg"), key, {"max_rate_enable": True}),
            ]
        )
        row = await self.client.row(self._tm("port.sched_shaping"), key)
        return row.number("max_rate") * BPS_PER_UNIT

    async def set_queue_limit(self, port: int, limit: QueueLimit) -> QueueLimit:
        """Sets a port's queue limit. A limit in time uses the rate in force. Returns the limit in
        force, in full packets.
        """
        cells = await self._cells(port, limit)
        total = self.client.device.total_cells
        if not self.cells_per_packet <= cells <= total:
            per = f"{self.cells_per_packet} of {self.client.device.cell_bytes} B per packet"
            raise DriverError(
                f"port {port}: {limit}: {cells} cells ({per}): expected at most {total}, the size "
                "of the buffer"
            )
        key, pipe = await self._queue(port)
        buffer: dict[str, Value] = {
            "guaranteed_cells": 0,
            "hysteresis_cells": 0,
            "tail_drop_enable": True,
            "pool_id": "EG_APP_POOL_0",
            "pool_max_cells": cells,
            "dynamic_baf": "DISABLE",
        }
        name = self._tm("queue.buffer")
        await self.client.write([Change.modify(name, key, buffer, "shared_pool", pipe)])
        return await self._limit(port)

    async def set_discipline(self, port: int, discipline: DisciplineConfig) -> DisciplineConfig:
        """Accepts only drop-tail."""
        return drop_tail_only(port, discipline, "this driver")

    async def _cells(self, port: int, limit: QueueLimit) -> int:
        kind, value = kind_and_value(limit)
        match kind:
            case "packets":
                packets = value
            case "bytes":
                packets = value // self.packet_bytes
            case "time_ps":
                rate_bps = await self._rate(port)
                if rate_bps is None:
                    raise DriverError(f"port {port}: {limit}: set a rate before a limit in time")
                packets = value * rate_bps // (8 * PS_PER_S * self.packet_bytes)
            case _:
                raise DriverError(f"port {port}: {limit}: expected packets, bytes or time_ps")
        return packets * self.cells_per_packet

    async def _limit(self, port: int) -> QueueLimit:
        key, pipe = await self._queue(port)
        row = await self.client.row(self._tm("queue.buffer"), key, pipe)
        shared = row.number("pool_max_cells") if row.action == "shared_pool" else 0
        return {"packets": (row.number("guaranteed_cells") + shared) // self.cells_per_packet}

    async def _rate(self, port: int) -> int | None:
        """The rate in force in bits per second; None if the port is not shaped."""
        key = {"dev_port": port}
        if not (await self.client.row(self._tm("port.sched_cfg"), key)).one("max_rate_enable"):
            return None
        row = await self.client.row(self._tm("port.sched_shaping"), key)
        return row.number("max_rate") * BPS_PER_UNIT

    async def _queue(self, port: int) -> tuple[dict[str, int], int]:
        """The key of a port's queue (port group and queue), and the group's pipe."""
        row = await self.client.row(self._tm("port.cfg"), {"dev_port": port})
        queues = row.one("egress_qid_queues")
        if not isinstance(queues, list):
            raise DriverError(f"port {port}: the switch returned no list of its queues: {queues!r}")
        return {"pg_id": row.number("pg_id"), "pg_queue": queues[QUEUE]}, port >> 7

    async def queue_state(self, port: int) -> QueueState:
        """Reads a port's settings and counters. Current and maximum depth are in full packets."""
        key, pipe = await self._queue(port)
        queue = await self.client.row(self._tm("counter.queue"), key, pipe)
        sent = await self.client.row("$PORT_STAT", {"$DEV_PORT": port})
        return QueueState(
            rate_bps=await self._rate(port),
            limit=await self._limit(port),
            waiting_packets=queue.number("usage_cells") // self.cells_per_packet,
            waiting_bytes=None,
            max_packets=queue.number("watermark_cells") // self.cells_per_packet,
            max_bytes=None,
            mean_packets=None,
            transmitted=sent.number("$FramesTransmittedOK"),
            transmitted_bytes=sent.number("$OctetsTransmittedwithouterror"),
            dropped=queue.number("drop_count_packets"),
        )

    async def set_port(
        self, port: int, speed_bps: int, fec: str = "none", enable: bool = True
    ) -> None:
        """Configures a port's speed and forward error correction, and enables or disables it."""
        for name, value, known in (("speed_bps", speed_bps, SPEEDS), ("fec", fec, FECS)):
            if value not in known:
                expected = ", ".join(map(str, known))
                raise DriverError(f"port {port}: {name} = {value}: expected one of {expected}")
        key = {"$DEV_PORT": port}
        made = {"$SPEED": SPEEDS[speed_bps], "$FEC": FECS[fec]}
        # Reading a port that does not exist is an error.
        ports = self.client.rows("$PORT")
        found = [row async for row in ports if row.key["$DEV_PORT"] == Exact(port)]
        if found and all(found[0].one(name) == value for name, value in made.items()):
            await self.client.write([Change.modify("$PORT", key, {"$PORT_ENABLE": enable})])
            return
        if found:
            # The speed of an existing port cannot change.
            await self.client.write([Change(DELETE, "$PORT", key)])
        await self.client.write([Change(INSERT, "$PORT", key, {**made, "$PORT_ENABLE": enable})])

    async def port_is_up(self, port: int) -> bool:
        """True if a port's link is up. Raises `DriverError` for a port that is not configured."""
        return bool((await self.client.row("$PORT", {"$DEV_PORT": port})).one("$PORT_UP"))
