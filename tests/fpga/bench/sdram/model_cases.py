"""The SDRAM's model finds what breaks a rule: each is broken once, by a cycle."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, Timer

PERIOD_PS = 8000
NOP, ACTIVATE, READ, WRITE, PRECHARGE, REFRESH, LOAD_MODE = 7, 3, 5, 4, 2, 1, 0
CLOSES = 1 << 10
MODE = 0x30
"""A latency of three, bursts of one word."""


class Chip:
    """The chip, and commands to it: one in each cycle."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut

    async def start(self, rest_ns: int = 1_000, refreshes: int = 8, mode: int = MODE) -> None:
        """Sets the chip up."""
        await Timer(1, unit="ns")
        self.dut.violations.value = 0
        self.dut.chip.violations.value = 0
        self.dut.drives.value = 0
        await self.command(NOP)
        await self.idle(rest_ns // 8)
        await self.command(PRECHARGE, address=CLOSES)
        await self.idle(2)
        for _ in range(refreshes):
            await self.command(REFRESH)
            await self.idle(8)
        await self.command(LOAD_MODE, address=mode)
        await self.idle(2)

    async def command(self, command: int, bank: int = 0, address: int = 0) -> None:
        """A command for one cycle."""
        for bit, pin in enumerate((self.dut.we_n, self.dut.cas_n, self.dut.ras_n)):
            pin.value = command >> bit & 1
        self.dut.bank.value = bank
        self.dut.address.value = address
        await FallingEdge(self.dut.clk)

    async def idle(self, cycles: int) -> None:
        """Cycles without a command."""
        for _ in range(cycles):
            await self.command(NOP)

    async def write(self, bank: int, column: int, value: int, closes: bool = True) -> None:
        """Writes a word of the open row."""
        self.dut.drives.value = 1
        self.dut.written.value = value
        await self.command(WRITE, bank, column | CLOSES * closes)
        self.dut.drives.value = 0

    @property
    def broken(self) -> int:
        return int(self.dut.violations.value)


async def a_row(
    chip: Chip, open_cycles: int = 3, more: int = 3, closed_cycles: int = 4, kind: int = READ
) -> None:
    """Opens a row, gives columns, lets the last one close the row, and opens another."""
    await chip.command(ACTIVATE, 1, 77)
    await chip.idle(open_cycles - 1)
    for n in range(more + 1):
        closes = CLOSES * (n == more)
        if kind == WRITE:
            await chip.write(1, n, n, bool(closes))
        else:
            await chip.command(READ, 1, n | closes)
    await chip.idle(closed_cycles - 1)
    await chip.command(ACTIVATE, 1, 78)
    await chip.idle(8)
    await chip.command(PRECHARGE, address=CLOSES)
    await chip.idle(8)


@cocotb.test()
async def commands_in_time_break_no_rule(dut: Any) -> None:
    Clock(dut.clk, PERIOD_PS, unit="ps").start()
    chip = Chip(dut)
    await chip.start()
    await a_row(chip)
    await a_row(chip, closed_cycles=5, kind=WRITE)
    await chip.command(REFRESH)
    await chip.idle(8)
    await chip.command(ACTIVATE, 2, 5)
    await chip.command(NOP)
    await chip.command(ACTIVATE, 3, 5)
    assert chip.broken == 0


@cocotb.test()
async def a_word_comes_three_cycles_after_its_read(dut: Any) -> None:
    Clock(dut.clk, PERIOD_PS, unit="ps").start()
    chip = Chip(dut)
    await chip.start()
    await chip.command(ACTIVATE, 2, 2047)
    await chip.idle(2)
    await chip.write(2, 255, 0x1234ABCD, closes=False)
    await chip.idle(2)
    await chip.command(READ, 2, 255)
    await chip.idle(2)
    # The next edge is 4 ns away: the word is there 6 ns after the edge before, and 2 ns after it.
    await Timer(3, unit="ns")
    assert int(dut.data.value) == 0x1234ABCD
    await Timer(2, unit="ns")
    assert int(dut.data.value) == 0x1234ABCD
    await Timer(2, unit="ns")
    assert not dut.data.value.is_resolvable
    assert chip.broken == 0


@cocotb.test()
async def each_broken_rule_is_counted(dut: Any) -> None:
    Clock(dut.clk, PERIOD_PS, unit="ps").start()
    chip = Chip(dut)
    rows = (
        {"open_cycles": 2}, {"more": 1}, {"closed_cycles": 3},
        {"closed_cycles": 4, "kind": WRITE}, {"open_cycles": 2, "more": 8},
    )  # fmt: skip
    for row in rows:
        await chip.start()
        assert chip.broken == 0
        await a_row(chip, **row)
        assert chip.broken, row
    commands = (
        # A closed bank, one that is open, two banks at once, a refresh of an open bank, no data.
        [(READ, 0, 0)], [(ACTIVATE, 0, 1), *[(NOP, 0, 0)] * 9, (ACTIVATE, 0, 2)],
        [(ACTIVATE, 0, 1), (ACTIVATE, 1, 1)],
        [(ACTIVATE, 0, 1), *[(NOP, 0, 0)] * 9, (REFRESH, 0, 0)],
        [(ACTIVATE, 0, 1), *[(NOP, 0, 0)] * 3, (WRITE, 0, 0)],
        # Another command during a refresh, a column that is not there.
        [(REFRESH, 0, 0), *[(NOP, 0, 0)] * 6, (ACTIVATE, 0, 0)],
        [(ACTIVATE, 0, 1), *[(NOP, 0, 0)] * 3, (READ, 0, 1 << 8)],
    )  # fmt: skip
    for given in commands:
        await chip.start()
        for command in given:
            await chip.command(*command)
        await chip.idle(2)
        assert chip.broken, given
        await chip.command(PRECHARGE, address=CLOSES)
        await chip.idle(20)
    await chip.start()
    await chip.idle(1953 - 12)
    assert chip.broken == 0
    await chip.idle(20)
    assert chip.broken == 1
    await chip.start(mode=MODE | 3)
    assert chip.broken == 1
