"""What a board with its frames in an SDRAM must do, beside what every board must."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import cocotb

from narrows.controller.drivers.fpga_protocol import DIRECTIONS, Board, Direction
from tests.fpga.bench.board_bench import PERIOD_PS, BoardBench
from tests.fpga.bench.frames import frame


async def started(dut: Any) -> BoardBench:
    """A bench whose board was reset; the SDRAM counts from then on."""
    bench = BoardBench(dut)
    await bench.start()
    dut.chip.violations.value = 0
    return bench


async def check(bench: BoardBench, frames: list[bytes]) -> None:
    """All frames left in their order and in time; the SDRAM saw no broken rule."""
    assert [data for _, data in bench.received[1]] == frames
    assert bench.bad == 0
    for register in (Direction.LATE, Direction.UNDERRUNS, Direction.ERRORED):
        assert await bench.read(DIRECTIONS[0] + register) == 0
    assert await bench.read(Board.FAULTS) == 0
    assert int(bench.dut.violations.value) == 0


@cocotb.test()
async def registers_say_how_deep_the_queue_is(dut: Any) -> None:
    bench = await started(dut)
    assert await bench.read(Board.LAYOUT) == 0x02_02_0A_16_09_0E


@cocotb.test()
async def short_frames_leave_at_the_line_rate(dut: Any) -> None:
    bench = await started(dut)
    frames = [frame(60, n) for n in range(60)]
    bench.send(0, *frames)
    bench.send(1, *frames[:20])
    await bench.idle(40)
    times = [at for at, _ in bench.received[1]]
    assert {b - a for a, b in pairwise(times)} == {84 * PERIOD_PS}
    assert [data for _, data in bench.received[0]] == frames[:20]
    await check(bench, frames)
