"""Drives a board between two PHYs: frames on RGMII in and out, and requests to its management."""

from __future__ import annotations

import logging
import struct
from dataclasses import dataclass, field
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import Timer
from cocotbext.eth import GmiiFrame, RgmiiSink, RgmiiSource

from narrows.controller.drivers import fpga_protocol as protocol
from narrows.controller.drivers.fpga_protocol import DIRECTIONS, Answer, Direction, Operation
from tests.fpga.bench.frames import checksum

PERIOD_PS = 8000
"""A byte's time on the line."""
CORE_PERIOD_PS = 2 * PERIOD_PS
BOARD_MAC = bytes.fromhex("024e42000001")
BOARD_IP = bytes((192, 168, 78, 66))
CLIENT_MAC = bytes.fromhex("020000000009")
CLIENT_IP = bytes((192, 168, 78, 1))
CLIENT_PORT = 4000
COLLECTOR_PORT = 5600


def udp(payload: bytes, to_port: int = protocol.PORT, **changes: bytes | int) -> bytes:
    """A datagram from the client to the board as a frame; `changes` spoil it by name."""
    length = changes.get("length", 28 + len(payload))
    header = struct.pack(
        ">BBHHHBBH4s4s", changes.get("version", 0x45), 0, length, 7, changes.get("fragment", 0),
        64, changes.get("protocol", 17), 0, CLIENT_IP, changes.get("ip", BOARD_IP),
    )  # fmt: skip
    header = header[:10] + struct.pack(">H", checksum(header)) + header[12:]
    ports = struct.pack(">HHHH", CLIENT_PORT, to_port, changes.get("udp", 8 + len(payload)), 0)
    mac = changes.get("mac", BOARD_MAC)
    assert isinstance(mac, bytes)
    return mac + CLIENT_MAC + b"\x08\x00" + header + ports + payload


def arp(address: bytes = BOARD_IP) -> bytes:
    """The client's question for an address."""
    asked = bytes.fromhex("0001080006040001") + CLIENT_MAC + CLIENT_IP + bytes(6) + address
    return b"\xff" * 6 + CLIENT_MAC + b"\x08\x06" + asked


@dataclass
class BoardBench:
    """A board under test. `start` gives it clocks that differ, as PHYs do, and waits for it."""

    dut: Any
    received: list[list[tuple[int, bytes]]] = field(default_factory=lambda: [[], []])
    """What each port sent: the time of the start frame delimiter in ps, and the frame."""
    answers: list[Answer] = field(default_factory=list)
    rows: list[protocol.LedgerRow] = field(default_factory=list)
    arps: list[bytes] = field(default_factory=list)
    bad: int = 0
    tag: int = 0

    async def start(self) -> None:
        dut = self.dut
        Clock(dut.clk, PERIOD_PS, unit="ps").start()
        Clock(dut.rx0_clk, 7998, unit="ps").start()
        Clock(dut.rx1_clk, 8002, unit="ps").start()
        self.sources = [
            RgmiiSource(dut.rx0_data, dut.rx0_ctl, dut.rx0_clk),
            RgmiiSource(dut.rx1_data, dut.rx1_ctl, dut.rx1_clk),
        ]
        # The PLL loses its lock: a reset, clear counts, the first settings.
        locked = dut.board.board.clocks.pll.LOCK
        locked.value = 0
        await Timer(1, unit="us")
        locked.value = 1
        await Timer(8, unit="us")
        self.sinks = [
            RgmiiSink(dut.tx0_data, dut.tx0_ctl, dut.tx0_clk),
            RgmiiSink(dut.tx1_data, dut.tx1_ctl, dut.tx1_clk),
        ]
        for end in (*self.sources, *self.sinks):
            end.log.setLevel(logging.WARNING)
        for port in (0, 1):
            cocotb.start_soon(self._receive(port))

    def send(self, port: int, *frames: bytes) -> None:
        """Sends frames to a port, one after the other."""
        for data in frames:
            self.sources[port].send_nowait(GmiiFrame.from_payload(data))

    def send_raw(self, port: int, data: bytes, errors: list[int] | None = None) -> None:
        """Sends bytes as they are, preamble and check sequence included."""
        self.sources[port].send_nowait(GmiiFrame(bytearray(data), errors))

    async def ask(self, operation: int, address: int, value: int = 0) -> Answer:
        """A request; fails if no answer comes."""
        self.tag += 1
        self.send(0, udp(protocol.request(operation, self.tag, address, value)))
        for _ in range(200):
            await Timer(500, unit="ns")
            for found in self.answers:
                if found.tag == self.tag:
                    return found
        raise AssertionError(f"no answer to {operation} of {address:#x}")

    async def read(self, address: int) -> int:
        """A register's value."""
        found = await self.ask(Operation.READ, address)
        assert found.status == 0
        return found.value

    async def write(self, address: int, value: int) -> None:
        """Writes a register."""
        found = await self.ask(Operation.WRITE, address, value)
        assert found.status == 0, protocol.Status(found.status).name

    async def set(self, direction: int, **values: int) -> None:
        """New settings of a direction, in force when this returns."""
        base = DIRECTIONS[direction]
        for name, value in values.items():
            await self.write(base + Direction[name], value)
        await self.write(base + Direction.COMMIT, 0)
        while await self.read(base + Direction.COMMIT):
            pass

    async def idle(self, microseconds: int = 20) -> None:
        """Waits until the sources have sent everything, and then some time."""
        for source in self.sources:
            await source.wait()
        await Timer(microseconds, unit="us")

    async def _receive(self, port: int) -> None:
        while True:
            frame = await self.sinks[port].recv(compact=False)
            preamble = bytes(frame.get_preamble())
            if preamble != b"\x55" * 7 + b"\xd5" or not frame.check_fcs() or any(frame.error or ()):
                self.bad += 1
                continue
            data = bytes(frame.get_payload())
            if port == 0 and data[6:12] == BOARD_MAC:
                self._keep(data)
            else:
                self.received[port].append((frame.sim_time_start, data))

    def _keep(self, data: bytes) -> None:
        """A frame of the board's own."""
        if data[12:14] == b"\x08\x06":
            self.arps.append(data)
            return
        assert checksum(data[14:34]) == 0
        length = int.from_bytes(data[38:40], "big")
        payload = data[42 : 34 + length]
        if row := protocol.ledger_row(payload):
            self.rows.append(row)
        elif found := protocol.answer(payload):
            self.answers.append(found)
        else:
            raise AssertionError(f"the board sent {data.hex()}")
