"""Sets the rates and queues of the hardware bottleneck, by its management protocol over UDP."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import TracebackType
from typing import Final, Self, cast

from narrows.controller.drivers import QueueState, kind_and_value
from narrows.controller.drivers.fpga_protocol import (
    DIRECTIONS,
    PORT,
    Answer,
    Board,
    Direction,
    Operation,
    Status,
    answer,
    request,
)
from narrows.controller.errors import DriverError
from narrows.schema.switch import DisciplineConfig, QueueLimit

BASES: Final = {"ip": 0, "frame": 1, "wire": 2}
KINDS: Final = ("packets", "bytes", "time_ps")
DIRECTION_OF: Final = {2: 0, 1: 1}
"""The direction of the frames that leave by a port: port 2 leads to the receivers."""
THRESHOLDS: Final = ("packets", "bytes", "time")
STEP: Final = {"ramp": 1.0, "max-p": 1.0}
"""Parameters of `ecn-threshold` that the board does not have, and the values it stands for."""
IDENTITY: Final = int.from_bytes(b"NARROWS1", "big")
ANSWER_S: Final = 0.3
"""How long an answer may take before its request is sent again."""
TRIES: Final = 10
ENQUEUE, DEQUEUE, DROP = range(3)
REASONS: Final = 4


class FpgaDriver:
    """A board at an address. Use it as an asynchronous context manager."""

    def __init__(
        self, host: str, udp_port: int = PORT, directions: Mapping[int, int] = DIRECTION_OF
    ) -> None:
        self.address = host, udp_port
        self.directions = directions
        self._tag = 0
        self._endpoint: _Endpoint | None = None
        self._busy = asyncio.Lock()

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        _, self._endpoint = await loop.create_datagram_endpoint(_Endpoint, remote_addr=self.address)
        try:
            if await self.read(Board.IDENTITY) != IDENTITY:
                raise DriverError(f"{self._name}: not a hardware bottleneck")
        except DriverError:
            self._close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: object, trace: TracebackType | None
    ) -> None:
        self._close()

    def _close(self) -> None:
        if self._endpoint and self._endpoint.transport:
            self._endpoint.transport.close()

    @property
    def _name(self) -> str:
        return f"the board at {self.address[0]}"

    async def read(self, address: int) -> int:
        """A register's value."""
        return (await self._ask(Operation.READ, address)).value

    async def write(self, address: int, value: int) -> int:
        """Writes a register; returns the value that it took. Raises `DriverError`."""
        if not 0 <= value < 2**64:
            raise DriverError(f"register {address:#06x} = {value}: expected 64 bits, unsigned")
        return (await self._ask(Operation.WRITE, address, value)).value

    async def set(self, port: int, at_ps: int = 0, **values: int) -> None:
        """Settings of a port by the names of `Direction`, which take effect together: at an instant
        of the board's clock, or at once. Returns when they are in force.
        """
        base = self._base(port)
        for name, value in values.items():
            await self.write(base + Direction[name], value)
        await self.write(base + Direction.COMMIT, at_ps)
        while await self.read(base + Direction.COMMIT):
            await asyncio.sleep(0)

    async def set_rate(self, port: int, rate_bps: int) -> int:
        """Sets a port's rate in bits per second; returns the rate in force."""
        await self.set(port, RATE=rate_bps)
        return await self.read(self._base(port) + Direction.RATE)

    async def set_queue_limit(self, port: int, limit: QueueLimit) -> QueueLimit:
        """Sets a port's queue limit; returns the limit in force. Raises `DriverError`."""
        kind, value = kind_and_value(limit)
        room = await self._room(port)
        if value > room.get(kind, value):
            what = f"the board has room for {room[kind]} {kind}"
            raise DriverError(f"port {port}: queue limit of {value} {kind}: {what}")
        await self.set(port, LIMIT_KIND=KINDS.index(kind), LIMIT=value)
        return limit

    async def set_discipline(self, port: int, discipline: DisciplineConfig) -> DisciplineConfig:
        """Sets a port's queue discipline: `drop-tail`, or `ecn-threshold` in steps. Raises
        `DriverError` for another.
        """
        name, given = (
            (discipline, {})
            if isinstance(discipline, str)
            else (discipline["name"], dict(discipline.get("parameters", {})))
        )
        if name not in ("drop-tail", "ecn-threshold"):
            raise DriverError(
                f"port {port}: discipline {name}: the board has drop-tail and ecn-threshold"
            )
        for key, only in STEP.items():
            if (value := given.pop(key, only)) != only:
                raise DriverError(f"port {port}: {key} {value:g}: the board marks in a step")
        await self.set(
            port,
            ECN_ENABLE=sum(1 << bit for bit, key in enumerate(THRESHOLDS) if key in given),
            **{f"ECN_{key.upper()}": int(value) for key, value in given.items()},
        )
        return discipline

    async def set_basis(self, port: int, basis: str) -> None:
        """Sets which bytes count against the rate: `ip`, `frame` or `wire`."""
        await self.set(port, BASIS=BASES[basis])

    async def set_delay(self, port: int, delay_ps: int) -> None:
        """Sets the propagation delay after the transmission."""
        await self.set(port, DELAY=delay_ps)

    async def set_loss(self, port: int, probability: float, state: tuple[int, ...]) -> None:
        """Loses packets at random: a probability, and the generator's four words of 64 bits. Raises
        `DriverError`.
        """
        if not 0 <= probability <= 1:
            raise DriverError(f"port {port}: loss {probability}: expected a probability")
        words = {f"LOSS_STATE_{n}": word for n, word in enumerate(state)}
        # Rounded up, as a draw is lost if it is below (common/src/rng.rs).
        threshold = -int(-probability * 2**53 // 1)
        await self.set(port, LOSS_THRESHOLD=threshold, LOSS_SET_STATE=1, **words)

    async def queue_state(self, port: int) -> QueueState:
        """Reads a port's settings and counters. The depth follows from the counts."""
        base = self._base(port)
        queued, queued_bytes = await self._counts(base, ENQUEUE)
        sent, sent_bytes = await self._counts(base, DEQUEUE)
        dropped, _ = await self._counts(base, DROP)
        kind = KINDS[await self.read(base + Direction.LIMIT_KIND)]
        limit = await self.read(base + Direction.LIMIT)
        limits: dict[str, QueueLimit] = {
            "packets": {"packets": limit}, "bytes": {"bytes": limit}, "time_ps": {"time_ps": limit},
        }  # fmt: skip
        return QueueState(
            rate_bps=await self.read(base + Direction.RATE),
            limit=limits[kind],
            waiting_packets=queued - sent,
            waiting_bytes=queued_bytes - sent_bytes,
            max_packets=None,
            max_bytes=None,
            mean_packets=None,
            transmitted=sent,
            transmitted_bytes=sent_bytes,
            dropped=dropped,
        )

    async def report_to(self, mac: int, ip: int, udp_port: int, ports: tuple[int, ...]) -> None:
        """Sends the ledgers of these ports to a collector, as Telemetry Reports 2.0."""
        await self.write(Board.COLLECTOR_MAC, mac)
        await self.write(Board.COLLECTOR_IP, ip)
        await self.write(Board.COLLECTOR_PORT, udp_port)
        await self.write(Board.REPORT_ENABLE, sum(1 << self.directions[port] for port in ports))

    async def faults(self) -> int:
        """The board's sticky faults; clears them."""
        found = await self.read(Board.FAULTS)
        await self.write(Board.FAULTS, found)
        return found

    def _base(self, port: int) -> int:
        if port not in self.directions:
            ports = ", ".join(map(str, sorted(self.directions)))
            raise DriverError(f"port {port}: the board has ports {ports}")
        return DIRECTIONS[self.directions[port]]

    async def _room(self, port: int) -> dict[str, int]:
        layout = (await self.read(Board.LAYOUT)).to_bytes(8, "big")
        depth_log2, memory_log2 = layout[4 + 2 * self.directions[port] :][:2]
        return {"packets": 1 << depth_log2, "bytes": 1 << memory_log2}

    async def _counts(self, base: int, kind: int) -> tuple[int, int]:
        """The packets and bytes of a kind of row."""
        totals = []
        for part in (0, 16):
            first = base + Direction.COUNTS + REASONS * kind + part
            totals.append(sum([await self.read(first + reason) for reason in range(REASONS)]))
        return totals[0], totals[1]

    async def _ask(self, operation: Operation, address: int, value: int = 0) -> Answer:
        assert self._endpoint
        async with self._busy:
            self._tag = self._tag + 1 & 0xFFFFFFFF
            datagram = request(operation, self._tag, address, value)
            for _ in range(TRIES):
                found = await self._endpoint.ask(datagram, self._tag)
                if found:
                    break
            else:
                raise DriverError(f"{self._name} does not answer")
        if found.status != Status.OK:
            status = Status(found.status).name.lower().replace("_", " ")
            what = f"{operation.name.lower()} of register {address:#06x}"
            raise DriverError(f"{self._name} refused the {what} ({value}): {status}")
        return found


class _Endpoint(asyncio.DatagramProtocol):
    """A socket with one request at a time."""

    def __init__(self) -> None:
        self.transport: asyncio.DatagramTransport | None = None
        self._waiting: tuple[int, asyncio.Future[Answer]] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: object) -> None:
        found = answer(data)
        if not found or not self._waiting:
            return
        tag, waiting = self._waiting
        if found.tag == tag and not waiting.done():
            waiting.set_result(found)

    def error_received(self, exc: Exception) -> None:
        """An ICMP error: the request is sent again."""

    async def ask(self, datagram: bytes, tag: int) -> Answer | None:
        """Sends a request; None if no answer comes in time."""
        assert self.transport
        waiting: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting = tag, waiting
        self.transport.sendto(datagram)
        try:
            return await asyncio.wait_for(waiting, ANSWER_S)
        except TimeoutError:
            return None
