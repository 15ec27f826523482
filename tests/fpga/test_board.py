"""A board in the simulator: cocotb runs tests/fpga/bench/board_cases.py on Icarus Verilog."""

from __future__ import annotations

from pathlib import Path

from tests.fpga import simulator
from tests.support import needs

pytestmark = needs.without(simulator.missing())


def test_a_board(tmp_path: Path) -> None:
    rtl = simulator.board_sources("colorlight-5a-75b")
    simulator.run("board_top", "board_cases", tmp_path, {}, rtl)
