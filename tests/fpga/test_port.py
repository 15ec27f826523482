"""The data path in the simulator: cocotb runs tests/fpga/bench/port_cases.py on Icarus Verilog."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fpga import simulator
from tests.support import needs

pytestmark = needs.without(simulator.missing())


# Rejected frames are gaps until the next one leaves: at 64 bits they would fill 16 kB.
@pytest.mark.parametrize(
    ("width", "memory_log2"), [(8, 13), (16, 13), (64, 15), (128, 14), (512, 14)]
)
def test_a_port(width: int, memory_log2: int, tmp_path: Path) -> None:
    parameters = {"DATA_WIDTH": width, "MEMORY_LOG2": memory_log2, "DEPTH_LOG2": 8}
    simulator.run("port_top", "port_cases", tmp_path, parameters)
