"""What `make fpga` reads of its tools' outputs."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.world import ROOT


def program_of(name: str) -> ModuleType:
    """A program of fpga/, which is in no package."""
    found = importlib.util.spec_from_file_location(f"fpga_{name}", ROOT / f"fpga/{name}.py")
    assert found and found.loader
    module = importlib.util.module_from_spec(found)
    sys.modules[found.name] = module
    found.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def build() -> ModuleType:
    return program_of("build")


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


@pytest.mark.parametrize("board", ["colorlight-5a-75b", "colorlight-5a-75b-sdram", "ecp5-versa"])
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
        width = re.search(r"\[(\d+):0\]", " ".join(kind))
        wanted += [f"{name}[{n}]" for n in range(int(width[1]) + 1)] if width else [name]
    assert sorted(names) == sorted(wanted)
    assert all((ROOT / source).is_file() for source in build.sources(board))


def test_a_new_netlist_removes_what_was_routed_of_the_old(
    build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "ROOT", tmp_path)
    monkeypatch.setattr(build, "sources", lambda _: [])
    monkeypatch.setenv("YOSYS", program(tmp_path, "yosys"))
    kept = tmp_path / "bottleneck.bit"
    for path in (kept, tmp_path / "seed-1.json", tmp_path / "seed-1.config"):
        path.write_text("")
    build.synthesize(build.BOARDS["colorlight-5a-75b"], tmp_path)
    assert kept.exists() and not list(tmp_path.glob("seed-*"))


OLD_STAT = """
=== bottleneck_port ===

   Number of wires:  9
   Number of cells:               17
     CCU2C                         2
     LUT4                          7
     TRELLIS_FF                    8
"""
NEW_STAT = """
=== bottleneck_port ===

       17 cells
        2   CCU2C
        7   LUT4
        8   TRELLIS_FF
"""


@pytest.mark.parametrize("stat", [OLD_STAT, NEW_STAT], ids=["0.23", "0.70"])
def test_cells_are_those_of_the_last_table(stat: str) -> None:
    report = program_of("report")
    # A carry cell holds two LUTs. Yosys prints the table after synthesis, and again for `stat`.
    expected = {"LUTs": 7 + 2 * 2, "flip-flops": 8, "block RAMs": 0}
    assert report.cells(f"log\n{stat}{stat}end\n") == expected


def test_a_seed_has_the_clock_of_each_net() -> None:
    report = program_of("report")
    nets = {
        "$glbnet$clk": (66.0, 62.5), "board.crossing.out_clk": (126.0, 125.0),
        "eth0_rx_clk$TRELLIS_IO_IN": (180.0, 125.0), "board.rx_clk[1]": (170.0, 125.0),
    }  # fmt: skip
    found = {
        "fmax": {net: {"achieved": mhz, "constraint": least} for net, (mhz, least) in nets.items()}
    }
    expected = {"core": 66.0, "line": 126.0, "receiver 0": 180.0, "receiver 1": 170.0}
    assert report.clocks_of(found) == expected


def test_a_seed_that_is_not_routed_in_time_counts_as_open(
    build: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    slow = tmp_path / "nextpnr"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setattr(build, "tool", lambda _: str(slow))
    monkeypatch.setattr(build, "ROOT", tmp_path)
    monkeypatch.setattr(build, "FPGA", tmp_path / "fpga")
    board = build.BOARDS["ecp5-versa"]
    found = build.route(board, tmp_path / "top.json", 7, tmp_path, 0.1)
    assert (found.seed, found.mhz, found.is_closed) == (7, 0.0, False)
    report = program_of("report")
    clocks = {6: {"core": 66.0}, 7: {}}
    used = dict.fromkeys(report.RESOURCES.values(), (1, 2))
    result = report.BoardResult("ecp5-versa", clocks, [132.0, 0.0], used)
    assert "| 2 | 66.0 | 132.0, 132.0 | 1 of 2 |" in report.boards([result])[-1]
    assert report.seeds([result])[-1].count("not routed") == len(report.CLOCKS)


@pytest.mark.parametrize("words", [("--minutes", "-5"), ("--minutes", "1h"), ("--seeds", "0")])
def test_a_wrong_number_is_named(
    build: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    words: tuple[str, str],
) -> None:  # fmt: skip
    monkeypatch.setattr(sys, "argv", ["build.py", "ecp5-versa", *words])
    with pytest.raises(SystemExit):
        build.main()
    assert f"argument {words[0]}: {words[1]}: expected a number" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("width", "frame_bytes", "gbps"),
    # 40 cycles of 16 ns are 640 ns.
    [
        (16, 1518, 1.0),
        (64, 60, 60 * 8 / 640),
        (64, 1518, 1518 * 8 / (190 * 16)),
        (512, 1518, 18.975),
    ],
)
def test_decisions_limit_frames_of_few_words(width: int, frame_bytes: int, gbps: float) -> None:
    report = program_of("report")
    assert report.line_rate(width, frame_bytes) == pytest.approx(gbps)
