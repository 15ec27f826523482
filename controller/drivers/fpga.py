"""Sets the rates and queues of the hardware bottleneck, by its management protocol over UDP."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping
from types import TracebackType
from typing import Final, Self, cast

from narrows.controller.drivers import QueueState, kind_and_value
from narrows.controller.drivers.fpga_counts import BYTES_AT, COUNTED, EVENTS, Counts
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
CODEL: Final = {"target": 5e9, "interval": 1e11, "mtu": 1514.0}
"""Parameters of `codel` that are registers of the board, and their defaults."""
POLL_S: Final = 0.002
"""How often to ask whether settings are in force."""


class PassedError(DriverError):
    """The instant at which settings were to take effect has passed."""


class FpgaDriver:
    """A board at an address. Use it as an asynchronous context manager.

    `interface` is the interface of this machine on the board's cable; None lets the routes decide.
    """

    def __init__(
        self,
        host: str,
        udp_port: int = PORT,
        directions: Mapping[int, int] = DIRECTION_OF,
        interface: str | None = None,
    ) -> None:
        self.address = host, udp_port
        self.directions = directions
        self.interface = interface
        self._tag = 0
        self._endpoint: _Endpoint | None = None
        self._busy = asyncio.Lock()

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        try:
            own = self._socket()
        except OSError as error:
            raise DriverError(f"{self._name}: {error.strerror}{self._where}") from None
        _, self._endpoint = await loop.create_datagram_endpoint(_Endpoint, sock=own)
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

    def _socket(self) -> socket.socket:
        """The socket of requests. Raises `OSError`."""
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            if self.interface:
                made.setsockopt(
                    socket.SOL_SOCKET, socket.SO_BINDTODEVICE, self.interface.encode() + b"\0"
                )
            made.setblocking(False)
            made.connect(self.address)
        except OSError:
            made.close()
            raise
        return made

    def _close(self) -> None:
        if self._endpoint and self._endpoint.transport:
            self._endpoint.transport.close()

    @property
    def _name(self) -> str:
        return f"the board at {self.address[0]}"

    @property
    def _where(self) -> str:
        return f" (by {self.interface})" if self.interface else ""

    async def read(self, address: int) -> int:
        """A register's value."""
        found, _ = await self._ask(Operation.READ, address)
        return self._accepted(found, Operation.READ, 0).value

    async def write(self, address: int, value: int) -> int:
        """Writes a register; returns the value that it took. Raises `DriverError`."""
        found, _ = await self._ask(Operation.WRITE, address, value)
        return self._accepted(found, Operation.WRITE, value).value

    async def schedule(self, port: int, at_ps: int, **values: int) -> int:
        """Gives a port settings by the names of `Direction`, which take effect together at an
        instant of the board's clock; 0: at once. Returns that instant. Raises `PassedError`
        for one that has passed; then the settings wait for a later call.
        """
        base = self._base(port)
        for name, value in values.items():
            await self.write(base + Direction[name], value)
        before = await self.read(base + Direction.GENERATION)
        found, tries = await self._ask(Operation.WRITE, base + Direction.COMMIT, at_ps)
        if tries > 1 and found.status in (Status.BUSY, Status.LATE):
            # The board may have taken it, and its answer was lost. Then it refuses the second one.
            pending = await self.read(base + Direction.COMMIT)
            if pending or await self.read(base + Direction.GENERATION) != before:
                return pending or at_ps
        if found.status == Status.LATE:
            raise PassedError(f"{self._name}: port {port}: the instant {at_ps} ps has passed")
        return self._accepted(found, Operation.WRITE, at_ps).value

    async def set(self, port: int, **values: int) -> None:
        """Settings of a port by the names of `Direction`, which take effect together now. Returns
        when they are in force.
        """
        await self.schedule(port, 0, **values)
        await self.settled(port)

    async def settled(self, port: int) -> None:
        """Returns when a port has no settings that wait for their instant."""
        while await self.read(self._base(port) + Direction.COMMIT):
            await asyncio.sleep(POLL_S)

    async def cancel(self, port: int) -> None:
        """Takes back settings of a port that wait for their instant, which an earlier controller
        may have left; waits for those that can no longer be taken back.
        """
        base = self._base(port)
        while (at_ps := await self.read(base + Direction.COMMIT)) != 0:
            found, _ = await self._ask(Operation.WRITE, base + Direction.CANCEL, at_ps)
            if found.status != Status.OK:
                await asyncio.sleep(POLL_S)

    async def set_rate(self, port: int, rate_bps: int) -> int:
        """Sets a port's rate in bits per second; returns the rate in force."""
        await self.set(port, RATE=rate_bps)
        return await self.read(self._base(port) + Direction.RATE)

    async def set_queue_limit(self, port: int, limit: QueueLimit) -> QueueLimit:
        """Sets a port's queue limit; returns the limit in force. Raises `DriverError`."""
        await self.set(port, **await self.limit_registers(port, limit))
        return limit

    async def limit_registers(self, port: int, limit: QueueLimit) -> dict[str, int]:
        """The registers of a queue limit. Raises `DriverError` for one beyond the memory."""
        kind, value = kind_and_value(limit)
        room = await self.room(port)
        if value > room.get(kind, value):
            what = f"the board has room for {room[kind]} {kind}"
            raise DriverError(f"port {port}: queue limit of {value} {kind}: {what}")
        return {"LIMIT_KIND": KINDS.index(kind), "LIMIT": value}

    async def set_discipline(self, port: int, discipline: DisciplineConfig) -> DisciplineConfig:
        """Sets a port's queue discipline: `drop-tail`, `codel`, or `ecn-threshold` in steps. Raises
        `DriverError` for another, and for CoDel on a board that lacks it.
        """
        registers = discipline_registers(port, discipline)
        if registers["CODEL"] and not await self.has_codel():
            raise DriverError(f"port {port}: discipline codel: this board was built without it")
        await self.set(port, **registers)
        return discipline

    async def has_codel(self) -> bool:
        """Whether the board can decide by CoDel."""
        return bool(await self.read(Board.LAYOUT) >> 40 & 1)

    async def has_sdram(self) -> bool:
        """Whether an SDRAM holds the frames towards port 1."""
        return bool(await self.read(Board.LAYOUT) >> 41 & 1)

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
        words = {f"LOSS_STATE_{n}": word for n, word in enumerate(state)}
        await self.set(port, **loss_registers(port, probability), LOSS_SET_STATE=1, **words)

    async def queue_state(self, port: int) -> QueueState:
        """Reads a port's settings and counters. The depth follows from the counts."""
        base = self._base(port)
        counts = await self.counts(port)
        kind = KINDS[await self.read(base + Direction.LIMIT_KIND)]
        limit = await self.read(base + Direction.LIMIT)
        limits: dict[str, QueueLimit] = {
            "packets": {"packets": limit}, "bytes": {"bytes": limit}, "time_ps": {"time_ps": limit},
        }  # fmt: skip
        return QueueState(
            rate_bps=await self.read(base + Direction.RATE),
            limit=limits[kind],
            waiting_packets=counts.waiting,
            waiting_bytes=counts.waiting_bytes,
            max_packets=None,
            max_bytes=None,
            mean_packets=None,
            transmitted=counts.transmitted,
            transmitted_bytes=counts.transmitted_bytes,
            dropped=counts.dropped,
        )

    async def counts(self, port: int) -> Counts:
        """Reads a port's counts. It reads one after the other, so moving packets may be between
        two.
        """
        base = self._base(port)
        cells = dict[tuple[str, str], tuple[int, int]]()
        for key, address in COUNTED.items():
            cell = base + Direction.COUNTS + address
            cells[key] = await self.read(cell), await self.read(cell + BYTES_AT)
        return Counts(cells, {name: await self.register(port, name) for name in EVENTS})

    async def register(self, port: int, register: Direction) -> int:
        """Reads a register of a port."""
        return await self.read(self._base(port) + register)

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

    async def room(self, port: int) -> dict[str, int]:
        """The packets and bytes that a port's queue has room for."""
        layout = (await self.read(Board.LAYOUT)).to_bytes(8, "big")
        depth_log2, memory_log2 = layout[4 + 2 * self.directions[port] :][:2]
        return {"packets": 1 << depth_log2, "bytes": 1 << memory_log2}

    def _accepted(self, found: Answer, operation: Operation, value: int) -> Answer:
        """The answer. Raises `DriverError` if it is a refusal."""
        if found.status != Status.OK:
            status = Status(found.status).name.lower().replace("_", " ")
            what = f"{operation.name.lower()} of register {found.address:#06x}"
            raise DriverError(f"{self._name} refused the {what} ({value}): {status}")
        return found

    async def _ask(self, operation: Operation, address: int, value: int = 0) -> tuple[Answer, int]:
        """The answer to a request, and how often it was sent. Raises `DriverError` without one."""
        assert self._endpoint
        if not 0 <= value < 2**64:
            raise DriverError(f"register {address:#06x} = {value}: expected 64 bits, unsigned")
        async with self._busy:
            self._tag = self._tag + 1 & 0xFFFFFFFF
            datagram = request(operation, self._tag, address, value)
            for tries in range(1, TRIES + 1):
                if found := await self._endpoint.ask(datagram, self._tag):
                    return found, tries
        waited = f"sent {TRIES} requests in {TRIES * ANSWER_S:g} s"
        raise DriverError(f"{self._name} does not answer: {waited}{self._where}")


def discipline_registers(port: int, discipline: DisciplineConfig) -> dict[str, int]:
    """The registers of a discipline. Raises `DriverError` for one that the board lacks."""
    name, given = (
        (discipline, {})
        if isinstance(discipline, str)
        else (discipline["name"], dict(discipline.get("parameters", {})))
    )
    if name == "codel":
        return codel_registers(given)
    if name not in ("drop-tail", "ecn-threshold"):
        raise DriverError(
            f"port {port}: discipline {name}: the board has drop-tail, codel and ecn-threshold"
        )
    for key, only in STEP.items():
        if (value := given.pop(key, only)) != only:
            raise DriverError(f"port {port}: {key} {value:g}: the board marks in a step")
    enable = sum(1 << bit for bit, key in enumerate(THRESHOLDS) if key in given)
    values = {f"ECN_{key.upper()}": int(value) for key, value in given.items()}
    return {"CODEL": 0, "ECN_ENABLE": enable} | values


def loss_registers(port: int, probability: float) -> dict[str, int]:
    """The register of a loss probability. Raises `DriverError`."""
    if not 0 <= probability <= 1:
        raise DriverError(f"port {port}: loss {probability}: expected a probability")
    # Rounded up, as a draw is lost if it is below (common/src/rng.rs).
    return {"LOSS_THRESHOLD": -int(-probability * 2**53 // 1)}


def codel_registers(given: Mapping[str, float]) -> dict[str, int]:
    """The registers of `codel` with some parameters, in base units."""
    above = int(given.get("mark-above", 0))
    values = {name: int(given.get(name, default)) for name, default in CODEL.items()}
    return {
        "CODEL": 1 | (given.get("ecn", 0) != 0) << 1,
        **{f"CODEL_{name.upper()}": value for name, value in values.items()},
        # Its `mark-above` is the threshold of time.
        "ECN_ENABLE": (above != 0) << THRESHOLDS.index("time"),
        "ECN_TIME": above,
    }


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
