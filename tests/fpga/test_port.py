"""The data path in the simulator: cocotb runs tests/fpga/bench/port_cases.py on Icarus Verilog."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fpga import simulator
from tests.support import needs

pytestmark = needs.without(simulator.missing())


# Rejected frames are gaps until the next one leaves: at 64 bits they would fill 16 kB.
@pytest.mark.parametrize(
    ("width", "memory_log2", "steps"),
    [(8, 13, 1), (16, 13, 1), (64, 15, 2), (128, 14, 1), (512, 14, 2)],
)
def test_a_port(width: int, memory_log2: int, steps: int, tmp_path: Path) -> None:
    parameters = {
        "DATA_WIDTH": width, "MEMORY_LOG2": memory_log2, "DEPTH_LOG2": 8, "STEPS": steps
    }  # fmt: skip
    simulator.run("port_top", "port_cases", tmp_path, parameters)
