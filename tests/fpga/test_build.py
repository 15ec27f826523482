"""What `make fpga` reads of its tools' outputs."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.world import ROOT


@pytest.fixture(scope="module")
def build() -> ModuleType:
    """fpga/build.py, which is a program and in no package."""
    found = importlib.util.spec_from_file_location("fpga_build", ROOT / "fpga/build.py")
    assert found and found.loader
    module = importlib.util.module_from_spec(found)
    sys.modules[found.name] = module
    found.loader.exec_module(module)
    return module


def test_the_slowest_clock_counts(build: ModuleType) -> None:
    clocks = {
        "core": {"achieved": 130.0, "constraint": 125.0},
        "phy": {"achieved": 140.0, "constraint": 125.0},
        # 24 of 25 MHz are as far as 120 of 125.
        "oscillator": {"achieved": 24.0, "constraint": 25.0},
    }
    assert build.lowest_mhz({"fmax": clocks}) == 120.0


def program(folder: Path, name: str) -> str:
    """A program of that name in a folder."""
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_each_tool_can_be_chosen_alone(
    build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    native = [program(tmp_path, name) for name in ("yosys", "nextpnr-ecp5")]
    other = program(tmp_path, "other-yosys")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert [build.tool("yosys"), build.tool("nextpnr-ecp5")] == native
    monkeypatch.setenv("YOSYS", "other-yosys")
    assert [build.tool("yosys"), build.tool("nextpnr-ecp5")] == [other, native[1]]
    monkeypatch.setenv("NEXTPNR_ECP5", "missing")
    with pytest.raises(build.BuildError, match="NEXTPNR_ECP5: missing is not installed"):
        build.tool("nextpnr-ecp5")


def test_utilization_is_read_from_the_log(build: ModuleType) -> None:
    log = "Info: \t          TRELLIS_IO:       4/    197     2%\nInfo:   DP16KD:  5/  56   8%\n"
    assert build.utilization(log) == {"TRELLIS_IO": (4, 197), "DP16KD": (5, 56)}


@pytest.mark.parametrize("board", ["colorlight-5a-75b", "ecp5-versa"])
def test_every_port_of_a_board_has_a_pin(build: ModuleType, board: str) -> None:
    folder = ROOT / "fpga/boards" / board
    pins = (folder / "pins.lpf").read_text()
    located = [line.split('"')[1::2] for line in pins.splitlines() if line.startswith("LOCATE")]
    names, sites = zip(*located, strict=True)
    assert len(set(sites)) == len(sites)
    top = (folder / "top.sv").read_text()
    wanted = []
    for line in top[top.index("module top") : top.index(");")].splitlines()[1:]:
        *kind, name = line.strip().rstrip(",").split()
        wanted += [f"{name}[{n}]" for n in range(4)] if "[3:0]" in kind else [name]
    assert sorted(names) == sorted(wanted)
    assert all((ROOT / source).is_file() for source in build.sources(board))
