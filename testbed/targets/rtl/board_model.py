"""Builds a board in software: the RTL of a board, by Verilator, between two TAP interfaces.

Its clock and its line are slower than a board's by a factor, so that a machine keeps up. Everything
that a board counts in cycles is longer by that factor: `Slowed` has what follows from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from narrows.testbed.paths import ROOT
from narrows.testbed.targets.rtl.library import cached, compile_model, rtl_sources, verilate

MODEL = ROOT / "fpga/boards/model"
TOP = "bottleneck_board"
FOLDERS = ("decisions", "datapath", "sdram", "mac", "management", "board")
PERIOD_PS = 16_000
"""The period of the clock of a board's core in picoseconds."""
LINE_BPS = 1_000_000_000
LEAST_DELAY_PS = 4_000_000
QUIET_PS = 1_300_000


@dataclass(frozen=True)
class Slowed:
    """A board whose clock is slower by a factor of up to 1,000."""

    factor: int

    @property
    def line_bps(self) -> int:
        """The rate of its line in bits per second."""
        return LINE_BPS // self.factor

    @property
    def least_delay_ps(self) -> int:
        """The shortest propagation delay that it takes, in picoseconds."""
        return LEAST_DELAY_PS * self.factor

    def parameters(self) -> dict[str, str]:
        """The parameters of `bottleneck_board`."""
        return {
            "PERIOD_PS": str(PERIOD_PS * self.factor),
            "LINE_RATE": f"64'd{self.line_bps}",
            "LEAST_DELAY_PS": f"64'd{self.least_delay_ps}",
            "QUIET_PS": str(QUIET_PS * self.factor),
        }


def board_model(slowed: Slowed) -> Path:
    """The program, from the cache or built. Raises `BuildError`."""
    rtl = rtl_sources(*FOLDERS)
    units = sorted(MODEL.iterdir())

    def build(directory: Path) -> Path:
        given = [f"-G{name}={value}" for name, value in slowed.parameters().items()]
        verilate(TOP, rtl, directory, *given)
        options = [f"-DSLOWER={slowed.factor}", f"-I{MODEL}"]
        return compile_model([MODEL / "main.cpp"], options, directory / "board")

    return cached(f"board-{slowed.factor}", "", [*rtl, *units], build)
