"""What a port with an SDRAM must do: the same as one with block RAM, in each cycle."""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.triggers import ClockCycles

from tests.fpga.bench.frames import frame
from tests.fpga.bench.port_bench import Given, PortBench
from tests.fpga.core import Settings

GIGABIT = Settings(10**9, ("bytes", 10**6), "wire")
GAP_CYCLES = 12
"""Preamble, check sequence and gap on the wire, in words of two bytes."""
DELAY_PS = 6_000_000
"""The least delay of a board with an SDRAM."""


async def started(dut: Any) -> PortBench:
    """A bench whose SDRAM is set up, at a gigabit."""
    bench = PortBench(dut, delay_ps=DELAY_PS)
    await bench.start()
    await bench.set(GIGABIT)
    await ClockCycles(dut.clk, 40)
    return bench


async def check(bench: PortBench, frames: int) -> None:
    """All frames left, as the specification says and as from block RAM; no rule was broken."""
    dut = bench.dut
    await bench.idle(frames, 1_000_000)
    assert len(bench.sent) == frames
    dropped = {row.number for row in bench.rows if row.kind == "drop"}
    kept = [data for n, (_, data) in enumerate(bench.arrived) if n not in dropped]
    assert [sent.frame for sent in bench.sent] == kept
    assert int(dut.differences.value) == 0
    assert (int(dut.violations.value), int(dut.starved.value)) == (0, 0)
    assert max(bench.late_ps) < bench.period_ps
    dut._log.info(
        f"{frames} frames, notice of at least {int(dut.least_notice.value) / 1000} ns, "
        f"{int(dut.refreshes.value)} refreshes"
    )


async def backlog(bench: PortBench, packets: int) -> None:
    """A queue of so many full frames, at least."""
    await bench.set(Settings(10**8, ("bytes", 10**6), "wire"))
    await ClockCycles(bench.dut.clk, 40)
    bench.waiting += [Given(frame(1518, n), idle_cycles=GAP_CYCLES) for n in range(packets)]
    while bench.waiting:
        await ClockCycles(bench.dut.clk, 100)
    await ClockCycles(bench.dut.clk, 1000)


@cocotb.test()
async def every_size_passes_back_to_back(dut: Any) -> None:
    bench = await started(dut)
    sizes = [60] * 60 + list(range(60, 140)) + [1518] * 12 + [64, 1518, 65, 1517, 61, 1516] * 3
    bench.waiting += [
        Given(frame(size, n), idle_cycles=GAP_CYCLES + size % 2) for n, size in enumerate(sizes)
    ]
    await check(bench, len(sizes))


@cocotb.test()
async def short_frames_come_and_leave_at_the_line_rate(dut: Any) -> None:
    bench = await started(dut)
    await backlog(bench, 6)
    await bench.set(GIGABIT)
    # The queue stays at six full frames: each cycle of the line has a byte in and a byte out.
    bench.waiting += [Given(frame(60, n), idle_cycles=GAP_CYCLES) for n in range(400)]
    await check(bench, 406)


@cocotb.test()
async def full_frames_come_and_leave_at_the_line_rate(dut: Any) -> None:
    bench = await started(dut)
    # A memory as large as the board's holds more than the 32 kB of block RAM.
    packets = 24 if int(dut.MEMORY_LOG2.value) > 16 else 10
    await backlog(bench, packets)
    await bench.set(GIGABIT)
    bench.waiting += [Given(frame(1518, n), idle_cycles=GAP_CYCLES) for n in range(packets)]
    await check(bench, 2 * packets)


@cocotb.test()
async def frames_that_are_taken_back_are_written_over(dut: Any) -> None:
    rng = random.Random(7)
    bench = await started(dut)
    await bench.set(Settings(5 * 10**8, ("packets", 3), "wire", loss_threshold=1 << 51,
                             loss_state=(1, 2, 3, 4)))  # fmt: skip
    for n in range(70):
        data = frame(rng.choice((60, 61, 62, 63, rng.randint(60, 200))), n)
        kind = rng.randint(0, 9)
        if kind == 0:
            data = data[: rng.randint(1, 59)]
        if kind == 1 and n < 20:
            data += bytes(1519 + rng.randint(0, 20) - len(data))
        idle = rng.choice((0, 1, 12, 13, 60))
        bench.waiting.append(Given(data, has_error=kind == 2, idle_cycles=idle))
    while bench.waiting:
        await ClockCycles(dut.clk, 100)
    await ClockCycles(dut.clk, 1000)
    drops = [row.reason for row in bench.rows if row.kind == "drop"]
    assert set(drops) == {"random-loss", "queue-full"}
    assert set(bench.events) == {"is_errored", "is_runt", "is_giant"}
    await check(bench, len(bench.arrived) - len(drops))


async def change_settings(bench: PortBench, frames: int, pause_cycles: int) -> None:
    """Changes of the rate and the marks, at so many short frames of the line's full load."""
    bench.waiting += [Given(frame(60, n), idle_cycles=GAP_CYCLES) for n in range(frames)]
    for rate in (10**9, 10**9 - 1, 999_999_937, 10**9):
        await ClockCycles(bench.dut.clk, pause_cycles)
        await bench.set(Settings(rate, ("bytes", 10**6), "wire", (3, None, 10**6)))
    await bench.idle(frames, 1_000_000)
    assert [sent.frame for sent in bench.sent] == [data for _, data in bench.arrived]
    assert (int(bench.dut.violations.value), int(bench.dut.starved.value)) == (0, 0)


# The decisions take 170 cycles for new settings. They catch up one with each short frame.
@cocotb.test()
async def settings_change_under_full_load(dut: Any) -> None:
    bench = await started(dut)
    await change_settings(bench, 450, 4000)
    assert int(dut.differences.value) == 0
    dut._log.info(f"notice of at least {int(dut.least_notice.value) / 1000} ns")


# A port with block RAM has frames that are late, too, if the changes come so close.
@cocotb.test()
async def close_changes_of_settings_lose_no_frame(dut: Any) -> None:
    bench = await started(dut)
    await change_settings(bench, 110, 900)


@cocotb.test()
async def the_ring_wraps_at_the_end_of_the_memory(dut: Any) -> None:
    bench = PortBench(dut, delay_ps=DELAY_PS)
    await bench.start()
    dut.starts_late.value = 1
    await ClockCycles(dut.clk, 2)
    dut.starts_late.value = 0
    first = int(dut.ring_at.value)
    assert first > 10_000
    await bench.set(GIGABIT)
    await ClockCycles(dut.clk, 40)
    sizes = [1518, 61, 333, 60, 1517, 99, 60, 61, 62, 63, 700]
    bench.waiting += [
        Given(frame(size, n), idle_cycles=GAP_CYCLES + size % 2) for n, size in enumerate(sizes)
    ]
    await check(bench, len(sizes))
    assert int(dut.ring_at.value) < first
