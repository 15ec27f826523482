"""The driver of the hardware bottleneck, against a socket that answers by the guide's protocol."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Awaitable, Callable
from typing import cast

import pytest

from narrows.controller.drivers import fpga
from narrows.controller.drivers.fpga import FpgaDriver, PassedError
from narrows.controller.drivers.fpga_protocol import Direction
from narrows.controller.errors import DriverError

REQUEST = struct.Struct(">HBBIHBBQ")
IDENTITY, LAYOUT = 0x00, 0x03
RATE, LIMIT_KIND, LIMIT, ECN_ENABLE, ECN_TIME, LOSS, DELAY, COMMIT, CANCEL, GENERATION = (
    0x100 + n for n in (0, 2, 3, 4, 7, 8, 14, 16, 17, 18)
)
BUSY, LATE = 5, 6
CODEL, TARGET, INTERVAL, MTU = range(0x114, 0x118)


class Registers(asyncio.DatagramProtocol):
    """Registers that take any value. The first datagrams get no answer, or a refusal."""

    def __init__(self) -> None:
        self.values = {IDENTITY: int.from_bytes(b"NARROWS1", "big"), LAYOUT: 0x01_02_09_0F_09_0E}
        self.written: list[tuple[int, int]] = []
        self.lost = 0
        self.refuse: dict[int, int] = {}
        self.unheard: dict[int, int] = {}
        """How many answers to a write of a register are lost after it was done."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        if self.lost:
            self.lost -= 1
            return
        magic, version, operation, tag, address, _, _, value = REQUEST.unpack(data)
        assert (magic, version) == (0x4E42, 1)
        status = self.refuse.get(address, 0) if operation == 2 else 0
        if operation == 2 and not status:
            self.written.append((address, value))
            # A commit is done at once.
            self.values[address] = 0 if address & 0xFF == 0x10 else value
        result = 0 if status else self.values.get(address, 0)
        if operation == 2 and self.unheard.get(address, 0):
            self.unheard[address] -= 1
            # The board has taken it: pending until its instant, or done.
            self.values[GENERATION] = self.values.get(GENERATION, 0) + (address == COMMIT)
            self.refuse[address] = LATE if value else 0
            return
        answer = REQUEST.pack(magic, version, operation | 0x80, tag, address, status, 0, result)
        # An answer to another request, and noise, are nobody's.
        self.transport.sendto(answer.replace(struct.pack(">I", tag), bytes(4)), addr)
        self.transport.sendto(b"noise", addr)
        self.transport.sendto(answer, addr)


Work = Callable[[FpgaDriver, Registers], Awaitable[None]]


def run(work: Work, lost: int = 0) -> Registers:
    """Does some work with a driver, and returns what answered it."""
    registers = Registers()
    registers.lost = lost

    async def main() -> None:
        loop = asyncio.get_running_loop()
        transport, _ = await loop.create_datagram_endpoint(
            lambda: registers, local_addr=("127.0.0.1", 0)
        )
        port = transport.get_extra_info("sockname")[1]
        try:
            async with FpgaDriver("127.0.0.1", port) as driver:
                await work(driver, registers)
        finally:
            transport.close()

    asyncio.run(main())
    return registers


def test_settings_are_written_and_then_committed() -> None:
    async def work(driver: FpgaDriver, _: Registers) -> None:
        assert await driver.set_rate(2, 10**8) == 10**8
        assert await driver.set_queue_limit(2, {"packets": 20}) == {"packets": 20}
        await driver.set_delay(2, 5 * 10**9)
        marks = {"name": "ecn-threshold", "parameters": {"time": 10**9, "ramp": 1.0}}
        await driver.set_discipline(2, marks)  # type: ignore[arg-type]
        await driver.set_loss(2, 0.5, ())

    assert [at for at in run(work).written if at[0] != 0x10D] == [
        (RATE, 10**8), (COMMIT, 0), (LIMIT_KIND, 0), (LIMIT, 20), (COMMIT, 0),
        (DELAY, 5 * 10**9), (COMMIT, 0),
        (CODEL, 0), (ECN_ENABLE, 4), (ECN_TIME, 10**9), (COMMIT, 0),
        (LOSS, 2**52), (COMMIT, 0),
    ]  # fmt: skip


def test_codel_is_its_registers_and_a_threshold_of_time() -> None:
    async def work(driver: FpgaDriver, _: Registers) -> None:
        await driver.set_discipline(2, "codel")
        given = {"target": 1e9, "ecn": 1.0, "mark-above": 2e9}
        await driver.set_discipline(2, {"name": "codel", "parameters": given})

    assert run(work).written == [
        (CODEL, 1), (TARGET, 5 * 10**9), (INTERVAL, 10**11), (MTU, 1514),
        (ECN_ENABLE, 0), (ECN_TIME, 0), (COMMIT, 0),
        (CODEL, 3), (TARGET, 10**9), (INTERVAL, 10**11), (MTU, 1514),
        (ECN_ENABLE, 4), (ECN_TIME, 2 * 10**9), (COMMIT, 0),
    ]  # fmt: skip


def test_a_board_without_codel_refuses_it_by_name() -> None:
    async def work(driver: FpgaDriver, registers: Registers) -> None:
        registers.values[LAYOUT] = 0x02_09_0F_09_0E
        await driver.set_discipline(2, "drop-tail")
        with pytest.raises(DriverError, match="port 2: discipline codel: this board was built"):
            await driver.set_discipline(2, "codel")

    assert run(work).written == [(CODEL, 0), (ECN_ENABLE, 0), (COMMIT, 0)]


def test_counters_make_a_queue_state() -> None:
    async def work(driver: FpgaDriver, registers: Registers) -> None:
        # Enqueued, dequeued, and dropped for three reasons, of which the last is CoDel: packets,
        # then bytes.
        registers.values |= {0x180: 9, 0x188: 7, 0x190: 2, 0x192: 1, 0x194: 3}
        registers.values |= {0x1A0: 900, 0x1A8: 700, 0x1B4: 310}
        state = await driver.queue_state(2)
        assert (state.waiting_packets, state.waiting_bytes) == (2, 200)
        assert (state.transmitted, state.transmitted_bytes, state.dropped) == (4, 390, 6)

    run(work)


def test_a_lost_datagram_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fpga, "ANSWER_S", 0.05)

    async def work(driver: FpgaDriver, _: Registers) -> None:
        assert await driver.set_rate(1, 5) == 5

    run(work, lost=3)


def test_a_silent_board_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fpga, "ANSWER_S", 0.01)
    with pytest.raises(DriverError, match=r"the board at 127\.0\.0\.1 does not answer"):
        run(lambda driver, registers: asyncio.sleep(0), lost=1000)


def test_a_refusal_says_what_and_why() -> None:
    async def work(driver: FpgaDriver, registers: Registers) -> None:
        registers.refuse[RATE] = 4
        await driver.set_rate(2, 10**12)

    with pytest.raises(DriverError, match=r"refused the write of register 0x0100 .* range"):
        run(work)


@pytest.mark.parametrize(
    ("limit", "what"),
    [({"packets": 513}, "room for 512 packets"), ({"bytes": 32769}, "room for 32768 bytes")],
)
def test_a_limit_beyond_the_memory_is_refused(limit: dict[str, int], what: str) -> None:
    async def work(driver: FpgaDriver, _: Registers) -> None:
        await driver.set_queue_limit(2, limit)  # type: ignore[arg-type]

    with pytest.raises(DriverError, match=what):
        run(work)


def test_what_the_board_lacks_is_refused() -> None:
    async def work(driver: FpgaDriver, _: Registers) -> None:
        with pytest.raises(DriverError, match="discipline pie"):
            await driver.set_discipline(2, "pie")
        with pytest.raises(DriverError, match="marks in a step"):
            await driver.set_discipline(
                2, {"name": "ecn-threshold", "parameters": {"packets": 5, "ramp": 2.0}}
            )
        with pytest.raises(DriverError, match="ports 1, 2"):
            await driver.set_rate(3, 1)

    assert run(work).written == []


def test_a_commit_whose_answer_is_lost_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fpga, "ANSWER_S", 0.05)

    async def work(driver: FpgaDriver, registers: Registers) -> None:
        registers.unheard[COMMIT] = 1
        # Sent again, the board says that its instant has passed.
        assert await driver.schedule(2, 10**12, RATE=7) == 10**12

    assert run(work).written == [(RATE, 7), (COMMIT, 10**12)]


def test_an_instant_that_has_passed_is_an_error() -> None:
    async def work(driver: FpgaDriver, registers: Registers) -> None:
        registers.refuse[COMMIT] = LATE
        with pytest.raises(PassedError, match="port 2: the instant 5 ps has passed"):
            await driver.schedule(2, 5, RATE=7)
        registers.refuse[COMMIT] = BUSY
        with pytest.raises(DriverError, match=r"register 0x0110 \(5\): busy"):
            await driver.schedule(2, 5, RATE=7)

    run(work)


def test_settings_that_wait_are_taken_back() -> None:
    async def work(driver: FpgaDriver, registers: Registers) -> None:
        registers.values[COMMIT] = 10**12

        async def done() -> None:
            while (CANCEL, 10**12) not in registers.written:
                await asyncio.sleep(0.001)
            registers.values[COMMIT] = 0

        await asyncio.gather(driver.cancel(2), done())

    assert (CANCEL, 10**12) in run(work).written


def test_an_interface_that_is_missing_is_named() -> None:
    async def work() -> None:
        async with FpgaDriver("127.0.0.1", interface="nosuch0"):
            pass

    with pytest.raises(DriverError, match=r"the board at 127.0.0.1: No such device \(by nosuch0"):
        asyncio.run(work())


def test_counts_are_by_kind_and_reason() -> None:
    async def work(driver: FpgaDriver, registers: Registers) -> None:
        before = await driver.counts(2)
        registers.values |= {0x180: 9, 0x188: 7, 0x190: 2, 0x192: 1, 0x19A: 3, 0x124: 6}
        counts = (await driver.counts(2)).since(before)
        assert counts.of("drop")["random-loss"] == 1
        assert (counts.of("mark")["threshold-time"], counts.arrived, counts.waiting) == (3, 12, 2)
        assert (counts.rows, counts.events[Direction.LEFT]) == (22, 6)

    run(work)
