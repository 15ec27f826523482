"""What a port must do, as tests that run in the simulator."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise
from typing import Any

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge

from tests.fpga.bench.frames import frame, marked
from tests.fpga.bench.port_bench import DELAY_PS, Given, PortBench
from tests.fpga.core import DROPS, KINDS, MARKS, CoDel, Settings
from tests.fpga.specification import Port

GIGABIT = Settings(10**9, ("bytes", 100_000), "wire")


def check_departures(bench: PortBench, port: Port) -> None:
    """Each frame leaves within a cycle of its instant, and with its mark."""
    assert len(bench.sent) == len(port.sent)
    for sent, (number, _, end_ps, is_marked) in zip(bench.sent, port.sent, strict=True):
        original = bench.arrived[number][1]
        assert sent.frame == (marked(original) if is_marked else original)
        assert 0 <= sent.at_ps - (end_ps + bench.delay_ps) < bench.period_ps
    assert max(bench.late_ps) < bench.period_ps


def some_settings(rng: random.Random, basis: str) -> Settings:
    limits = (
        ("packets", rng.randint(1, 8)), ("bytes", rng.randint(0, 5000)), ("time_ps", 40 * 10**6),
    )  # fmt: skip
    packets, bytes_, time_ps = (
        most if rng.random() < 0.6 else None for most in (rng.randint(0, 8), 3000, 10**7)
    )
    # The output sends a frame's bytes at 1 Gb/s, of which 46 of 60 count by `ip`.
    rate = rng.randint(3 * 10**8, 7 * 10**8)
    codel = CoDel(rng.randint(1000, 10**7), 3 * 10**7, 1514, rng.random() < 0.5)
    is_controlled = rng.random() < 0.5
    return Settings(
        rate, rng.choice(limits), basis, (packets, bytes_, time_ps),
        codel=codel if is_controlled else None,
    )  # fmt: skip


@cocotb.test()
async def rows_and_departures_are_the_specifications(dut: Any) -> None:
    rng = random.Random(len(dut.in_keep))
    bench = PortBench(dut)
    await bench.start()
    basis = rng.choice(("ip", "frame", "wire"))
    for part in range(5):
        await bench.set(some_settings(rng, basis))
        for n in range(20):
            length = rng.choice((60, rng.randint(60, 300), rng.randint(60, 1518)))
            idle = rng.choice((0, 1, rng.randint(0, 100), rng.randint(0, 600)))
            data = frame(length, 100 * part + n, ecn=rng.choice((0, 1, 2, 3)))
            bench.waiting.append(Given(data, idle_cycles=idle))
        while bench.waiting:
            await ClockCycles(dut.clk, 100)
    await ClockCycles(dut.clk, 2000)
    port = bench.specified()
    await bench.idle(len(port.sent))
    bench.check_rows()
    assert {row.kind for row in port.rows} == set(KINDS)
    check_departures(bench, port)


@cocotb.test()
async def counts_are_those_of_the_rows(dut: Any) -> None:
    bench = PortBench(dut)
    await bench.start()
    await bench.set(Settings(3 * 10**8, ("packets", 4), "frame", (2, None, 10**6)))
    bench.waiting += [Given(frame(60 + 20 * n, n, ecn=n & 3)) for n in range(24)]
    await bench.idle(24, 20_000)
    bench.check_rows()
    kinds = Counter((row.kind, row.reason) for row in bench.rows)
    for kind, reasons in (("enqueue", ("",)), ("dequeue", ("",)), ("drop", DROPS), ("mark", MARKS)):
        for at, reason in enumerate(reasons):
            address = 8 * KINDS.index(kind) + at
            lengths = [row.counted for row in bench.rows if row[1:3] == (kind, reason)]
            assert await bench.count(address) == kinds[kind, reason]
            assert await bench.count(32 + address) == sum(lengths)
    waits = Counter(row.sojourn_ps.bit_length() for row in bench.rows if row.kind == "dequeue")
    assert [await bench.count(64 + bits) for bits in range(64)] == [waits[n] for n in range(64)]


@cocotb.test()
async def bad_frames_are_dropped_and_counted(dut: Any) -> None:
    bench = PortBench(dut)
    await bench.start()
    await bench.set(GIGABIT)
    good = [frame(60, 1), frame(1518, 2), frame(61, 3), frame(700, 4)]
    bench.waiting += [
        Given(good[0]), Given(frame(300, 9), has_error=True), Given(good[1]), Given(good[2][:59]),
        Given(b"\x55"), Given(frame(1519, 9)), Given(good[2]), Given(frame(5000, 9)),
        Given(frame(9000, 9), has_error=True), Given(good[3]),
    ]  # fmt: skip
    await bench.idle(4, 60_000)
    assert [sent.frame for sent in bench.sent] == good
    assert bench.events == {"is_errored": 2, "is_runt": 2, "is_giant": 2}
    bench.check_rows()
    assert [row.number for row in bench.rows if row.kind == "enqueue"] == [0, 1, 2, 3]


@cocotb.test()
async def back_to_back_frames_pass_at_line_rate(dut: Any) -> None:
    bench = PortBench(dut)
    await bench.start()
    await bench.set(GIGABIT)
    # The wire's preamble, check sequence and gap are 24 cycles of eight bits.
    wire_cycles = max(60 // len(dut.in_keep) + 24, 60)
    bench.waiting += [Given(frame(60, n), idle_cycles=wire_cycles) for n in range(100)]
    await bench.idle(100)
    assert [sent.frame for sent in bench.sent] == [data for _, data in bench.arrived]
    check_departures(bench, bench.specified())


@cocotb.test()
async def decisions_take_so_many_cycles_a_frame(dut: Any) -> None:
    if len(dut.in_keep) < 8:
        return
    bench = PortBench(dut)
    await bench.start()
    cycles = {1: 41, 2: 36}[int(dut.STEPS.value)]
    # CoDel that drops nothing takes four more.
    for codel, more in ((None, 0), (CoDel(10**12, 10**13), 4)):
        await bench.set(Settings(10**12, ("packets", 1000), "wire", codel=codel))
        first = len(bench.rows)
        bench.waiting += [Given(frame(60, n)) for n in range(40)]
        await bench.idle(len(bench.sent) + 40)
        # Short frames wait for the decisions, and arrive when these are ready.
        at = [row.at_ps for row in bench.rows[first:] if row.kind == "enqueue"]
        assert len(at) == 40
        assert {b - a for a, b in pairwise(at[20:])} == {(cycles + more) * bench.period_ps}
    bench.check_rows()


@cocotb.test()
async def a_full_memory_drops_and_recovers(dut: Any) -> None:
    bench = PortBench(dut)
    await bench.start()
    await bench.set(Settings(10**8, ("bytes", 10**6), "frame"))
    count = 2 ** int(dut.MEMORY_LOG2.value) // 1518 + 5
    bench.waiting += [Given(frame(1518, n)) for n in range(count)]
    while bench.waiting:
        await ClockCycles(dut.clk, 100)
    await ClockCycles(dut.clk, 3000)
    drops = [row for row in bench.rows if row.kind == "drop"]
    assert {row.reason for row in drops} == {"memory-full"}
    held = count - len(drops)
    assert held * 1518 > 2 ** int(dut.MEMORY_LOG2.value) - 2 * 1518
    await bench.set(GIGABIT)
    await bench.idle(held)
    bench.waiting += [Given(frame(100 + n, n)) for n in range(5)]
    await bench.idle(held + 5)
    dropped = {row.number for row in drops}
    assert [sent.frame for sent in bench.sent] == [
        data for n, (_, data) in enumerate(bench.arrived) if n not in dropped
    ]


@cocotb.test()
async def lost_frames_leave_no_gap_in_the_memory(dut: Any) -> None:
    bench = PortBench(dut)
    await bench.start()
    everything = 1 << 53
    await bench.set(Settings(10**9, loss_threshold=everything, loss_state=(1, 2, 3, 4)))
    # Three times the memory, without a cycle between frames.
    count = 3 * 2 ** int(dut.MEMORY_LOG2.value) // 300
    bench.waiting += [Given(frame(300, n)) for n in range(count)]
    while bench.waiting:
        await ClockCycles(dut.clk, 100)
    await ClockCycles(dut.clk, 500)
    assert Counter(row.reason for row in bench.rows) == {"random-loss": count}
    await bench.set(GIGABIT)
    bench.waiting += [Given(frame(1000, n)) for n in range(3)]
    await bench.idle(3)
    assert [sent.frame for sent in bench.sent] == [data for _, data in bench.arrived[-3:]]


@cocotb.test()
async def frames_that_codel_drops_leave_no_gap_in_the_memory(dut: Any) -> None:
    bench = PortBench(dut)
    await bench.start()
    # A drop for about every other frame, up to a queue that is empty, three times the memory.
    codel = CoDel(20 * 10**6, 20 * 10**6, 0)
    await bench.set(Settings(4 * 10**8, ("packets", 8), "frame", codel=codel))
    count = 3 * 2 ** int(dut.MEMORY_LOG2.value) // 400
    gap = max(4_800_000 // bench.period_ps - 400 // len(dut.in_keep), 0)
    for n in range(count):
        bench.waiting.append(Given(frame(400, n), idle_cycles=5000 if n % 30 == 29 else gap))
    while len(bench.arrived) < count:
        await ClockCycles(dut.clk, 100)
    port = bench.specified()
    await bench.idle(len(port.sent))
    bench.check_rows()
    assert sum(row.reason == "codel" for row in bench.rows) > count // 10
    dropped = {row.number for row in bench.rows if row.kind == "drop"}
    assert [sent.frame for sent in bench.sent] == [
        data for n, (_, data) in enumerate(bench.arrived) if n not in dropped
    ]


@cocotb.test()
async def no_frame_overtakes_after_a_shorter_delay(dut: Any) -> None:
    bench = PortBench(dut)
    await bench.start()
    await bench.set(GIGABIT, delay_ps=20_000_000)
    bench.waiting += [Given(frame(200, n)) for n in range(4)]
    while bench.waiting:
        await RisingEdge(dut.clk)
    await ClockCycles(dut.clk, 8_000_000 // bench.period_ps)
    await bench.set(GIGABIT, delay_ps=DELAY_PS)
    bench.waiting += [Given(frame(200, n)) for n in range(4, 8)]
    await bench.idle(8)
    ends = [end_ps for _, _, end_ps, _ in bench.specified().sent]
    last = ends[3] + 20_000_000
    assert [sent.frame for sent in bench.sent] == [data for _, data in bench.arrived]
    assert 0 <= bench.sent[3].at_ps - last < bench.period_ps
    # The next one has been due for long.
    assert ends[4] + DELAY_PS < bench.sent[3].at_ps < bench.sent[4].at_ps


@cocotb.test()
async def a_ledger_that_nobody_takes_stops_no_frame(dut: Any) -> None:
    bench = PortBench(dut)
    await bench.start()
    dut.row_ready.value = 0
    await bench.set(GIGABIT)
    bench.waiting += [Given(frame(100, n), idle_cycles=60) for n in range(30)]
    await bench.idle(30)
    assert [sent.frame for sent in bench.sent] == [data for _, data in bench.arrived]
    assert bench.events == {"row_lost": 60 - 16}
    check_departures(bench, bench.specified())


@cocotb.test()
async def a_slow_output_loses_and_reorders_nothing(dut: Any) -> None:
    rng = random.Random(3)
    bench = PortBench(dut)
    await bench.start()
    await bench.set(GIGABIT)
    bench.waiting += [Given(frame(rng.randint(60, 400), n)) for n in range(20)]
    while len(bench.sent) < 20:
        dut.out_ready.value = int(rng.random() < 0.3)
        await RisingEdge(dut.clk)
    assert [sent.frame for sent in bench.sent] == [data for _, data in bench.arrived]
    bench.check_rows()
