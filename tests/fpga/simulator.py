"""Runs cocotb's tests of a module: Icarus Verilog compiles the RTL and runs it."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest

from narrows.testbed.targets.rtl.library import rtl_sources
from tests.support.world import ROOT

BENCH = ROOT / "tests/fpga/bench"


PORT = ("decisions", "datapath", "sdram", "mac")
"""The folders of the RTL that a port needs."""


def board_sources(board: str) -> list[Path]:
    """A board's RTL, with models of its vendor's cells."""
    boards = ROOT / "fpga/boards"
    vendors = [*sorted((boards / "ecp5").glob("*.sv")), BENCH / "ecp5_cells.sv"]
    return [*rtl_sources(*PORT, "management", "board"), *vendors, boards / board / "top.sv"]


def deep_sources() -> list[Path]:
    """The RTL of a port with an SDRAM, the pins between them, and the SDRAM's model."""
    pins, memory = (ROOT / f"fpga/boards/ecp5/{name}.sv" for name in ("sdram_pins", "ecp5_memory"))
    names = ("ecp5_cells", "sdram/sdram_board", "sdram/sdram_model", "port_top")
    return [*rtl_sources(*PORT), pins, memory, *(BENCH / f"{name}.sv" for name in names)]


def missing() -> list[str]:
    """What this machine lacks, each with its remedy."""
    lacking = (
        []
        if shutil.which("iverilog")
        else ["iverilog is not installed: apt-get install -y iverilog"]
    )
    lacking += [
        f"{package} is not installed: make fpga-test"
        for package in ("cocotb", "cocotbext")
        if not importlib.util.find_spec(package)
    ]
    return lacking


def run(
    top: str,
    cases: str,
    directory: Path,
    parameters: dict[str, int],
    rtl: list[Path] | None = None,
    testcase: str | list[str] | None = None,
    defines: tuple[str, ...] = (),
) -> None:
    """Runs every test of a module in `bench/`, or some; fails with what the simulator said.

    `rtl` is that of a port with block RAM by default. `ECP5` among the macros selects the vendor's
    cells.
    """
    from cocotb_tools.runner import get_runner

    runner = get_runner("icarus")
    sources = list(dict.fromkeys([*(rtl or rtl_sources(*PORT)), *BENCH.rglob(f"{top}.sv")]))
    runner.build(
        sources=sources, hdl_toplevel=top, build_dir=directory, parameters=parameters,
        build_args=["-g2012", *(f"-D{name}" for name in defines)], timescale=("1ns", "1ps"),
        log_file=directory / "build.log",
    )  # fmt: skip
    log = directory / "run.log"
    try:
        runner.test(
            hdl_toplevel=top, test_module=f"tests.fpga.bench.{cases}", build_dir=directory,
            test_dir=directory, log_file=log, extra_env={"PYTHONPATH": str(ROOT)},
            testcase=testcase,
        )  # fmt: skip
    except SystemExit:
        pytest.fail(log.read_text()[-6000:], pytrace=False)
