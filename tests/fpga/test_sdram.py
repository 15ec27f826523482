"""Frames in an SDRAM, in the simulator: its model, its controller, a port and a board with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fpga import simulator
from tests.support import needs

pytestmark = needs.without(simulator.missing())


@pytest.mark.parametrize("part", ["model", "controller"])
def test_a_part(part: str, tmp_path: Path) -> None:
    rtl = simulator.deep_sources()
    simulator.run(f"{part}_top", f"sdram.{part}_cases", tmp_path, {}, rtl)


def test_a_deep_port_does_what_one_with_block_ram_does(tmp_path: Path) -> None:
    rtl = simulator.deep_sources()
    simulator.run(
        "deep_top", "sdram.deep_cases", tmp_path, {"MEMORY_LOG2": 22}, rtl, defines=("ECP5",)
    )


def test_frames_go_round_a_small_ring(tmp_path: Path) -> None:
    cases = [
        "full_frames_come_and_leave_at_the_line_rate",
        "frames_that_are_taken_back_are_written_over",
    ]
    rtl = simulator.deep_sources()
    simulator.run("deep_top", "sdram.deep_cases", tmp_path, {"MEMORY_LOG2": 15}, rtl, cases)


def test_a_deep_port_does_what_the_specification_says(tmp_path: Path) -> None:
    parameters = {
        "DATA_WIDTH": 16, "MEMORY_LOG2": 15, "DEPTH_LOG2": 8, "PERIOD_PS": 16_000,
        "SDRAM_REST_CYCLES": 100,
    }  # fmt: skip
    simulator.run("port_top", "port_cases", tmp_path, parameters, simulator.deep_sources())


def test_a_board_with_an_sdram(tmp_path: Path) -> None:
    model = simulator.BENCH / "sdram/sdram_model.sv"
    rtl = [*simulator.board_sources("colorlight-5a-75b-sdram"), model]
    cases = "sdram.deep_board_cases"
    simulator.run("deep_board_top", cases, tmp_path, {}, rtl, defines=("ECP5",))
