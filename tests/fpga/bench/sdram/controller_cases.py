"""What the SDRAM's controller must do: jobs in their order, and no rule of the SDRAM broken."""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from cocotb.utils import get_sim_time

PERIOD_PS = 8000


class Bench:
    """The controller, what was written, and the words that were read."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.words = dict[int, int]()
        self.expected: list[int] = []
        self.read: list[int] = []
        self.given = self.done = 0

    async def start(self) -> None:
        Clock(self.dut.clk, PERIOD_PS, unit="ps").start()
        self.dut.job_valid.value = 0
        self.dut.rst.value = 1
        await ClockCycles(self.dut.clk, 4)
        self.dut.rst.value = 0
        while not int(self.dut.is_ready.value):
            await RisingEdge(self.dut.clk)
        cocotb.start_soon(self._watch())

    async def give(self, at: int, more: int, number: int | None = None) -> None:
        """A job; it writes the number and the address, or reads."""
        if number is None:
            self.expected += [self.words[at + n] for n in range(more + 1)]
        else:
            for n in range(more + 1):
                self.words[at + n] = (at + n & 1023) << 16 | number
            self.dut.number.value = number
        self.dut.job_is_write.value = int(number is not None)
        self.dut.job_at.value = at
        self.dut.job_more.value = more
        self.dut.job_valid.value = 1
        await RisingEdge(self.dut.clk)
        while not int(self.dut.job_ready.value):
            await RisingEdge(self.dut.clk)
        self.dut.job_valid.value = 0
        self.given += 1

    async def written(self) -> None:
        """Waits until all jobs are done."""
        while self.done < self.given:
            await RisingEdge(self.dut.clk)

    async def check(self) -> None:
        await ClockCycles(self.dut.clk, 60)
        assert self.read == self.expected
        assert int(self.dut.violations.value) == 0

    async def _watch(self) -> None:
        while True:
            await RisingEdge(self.dut.clk)
            self.done += int(self.dut.job_done.value)
            if int(self.dut.read_valid.value):
                self.read.append(int(self.dut.read_data.value))


@cocotb.test()
async def every_address_bit_is_a_place_of_its_own(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    places = [0, *(1 << bit for bit in range(21)), (1 << 21) - 1]
    for number, at in enumerate(places):
        await bench.give(at, 0, number)
        await bench.written()
    for at in places:
        await bench.give(at, 0)
    await bench.check()


@cocotb.test()
async def random_jobs_keep_the_rules(dut: Any) -> None:
    rng = random.Random(3)
    bench = Bench(dut)
    await bench.start()
    lines = [rng.randrange(1 << 17) for _ in range(12)]
    for number, line in enumerate(lines):
        await bench.give(16 * line, 15, number)
        await bench.written()
    for n in range(900):
        first = rng.randrange(16)
        more = rng.choice((0, 15 - first, rng.randint(0, 15 - first)))
        at = 16 * rng.choice(lines) + first
        if rng.random() < 0.5:
            await bench.give(at, more, 100 + n)
            # The number must stand still until the job has taken its words.
            await bench.written()
        else:
            await bench.give(at, more)
        if rng.random() < 0.1:
            await ClockCycles(dut.clk, rng.randint(1, 40))
    await bench.check()
    assert int(dut.refreshes.value) > 8


@cocotb.test()
async def whole_lines_take_twenty_cycles(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    for n in range(8):
        await bench.give(16 * n, 15, 5)
    start = get_sim_time("ps")
    for _ in range(40):
        for n in range(8):
            await bench.give(16 * n, 15, 5 if n & 1 else None)
    cycles = (get_sim_time("ps") - start) // PERIOD_PS
    await bench.check()
    # 19 cycles to read a line, 20 to write one; 14 for each refresh.
    assert cycles <= 320 * 19.5 + (cycles // 1900 + 1) * 14 + 8
