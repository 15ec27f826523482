"""Builds the bitstream of a board: `make fpga BOARD=...` (docs/guide/hardware-bottleneck.md).

Yosys synthesizes, nextpnr-ecp5 places and routes with each seed, and ecppack makes the bitstream of
the fastest result. Each of them is the one on PATH, or else PyPI's (`make fpga-test` says how). The
variables YOSYS, NEXTPNR_ECP5 and ECPPACK name another program.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FPGA = ROOT / "fpga"
OUT = ROOT / "target/fpga"
FOLDERS = ("decisions", "datapath", "sdram", "mac", "management", "board")
PACKAGES = ("narrows_pkg.sv", "narrows_types.sv", "narrows_board_pkg.sv")
MHZ = 125.0
"""The clock of the line and of both receivers. The core has half of it."""


@dataclass(frozen=True)
class Board:
    """A board: its folder in `boards/`, and nextpnr's options for its FPGA."""

    name: str
    device: str
    options: tuple[str, ...]


BOARDS = {
    board.name: board
    for board in (
        Board(
            "colorlight-5a-75b",
            "LFE5U-25F-6BG256C",
            ("--25k", "--package", "CABGA256", "--speed", "6"),
        ),
        Board(
            "colorlight-5a-75b-sdram",
            "LFE5U-25F-6BG256C",
            ("--25k", "--package", "CABGA256", "--speed", "6"),
        ),
        Board(
            "ecp5-versa",
            "LFE5UM5G-45F-8BG381C",
            ("--um5g-45k", "--package", "CABGA381", "--speed", "8"),
        ),
    )
}


@dataclass(frozen=True)
class Routed:
    """What a seed gave: the lowest clock, each scaled to a constraint of `MHZ`; 0 if it was not
    routed in time.
    """

    seed: int
    mhz: float
    config: Path

    @property
    def is_closed(self) -> bool:
        """Whether every clock of the design reached its constraint."""
        return self.mhz >= MHZ


class BuildError(RuntimeError):
    """A tool is missing or failed."""


def tool(name: str) -> str:
    """The path of a tool: the one that its variable names, the native one, or PyPI's.

    The variable of `nextpnr-ecp5` is `NEXTPNR_ECP5`, and so on. Raises `BuildError` if the named
    program is missing, or all of them are.
    """
    variable = name.upper().replace("-", "_")
    here = str(Path(sys.executable).parent)
    if chosen := os.environ.get(variable):
        for candidate in (shutil.which(chosen), shutil.which(chosen, path=here)):
            if candidate:
                return candidate
        raise BuildError(f"{variable}: {chosen} is not installed")
    for candidate in (shutil.which(name), shutil.which(f"yowasp-{name}", path=here)):
        if candidate:
            return candidate
    raise BuildError(f"{name} is not installed: make fpga-test installs yowasp-{name}")


def run(command: list[str], log: Path, limit_s: float | None = None) -> str:
    """Runs a tool; its output goes to `log` as it comes.

    Raises `BuildError` if it fails, and `subprocess.TimeoutExpired` if it takes longer than the
    limit.
    """
    with log.open("w") as file:
        done = subprocess.run(
            command, cwd=ROOT, stdout=file, stderr=subprocess.STDOUT, check=False, timeout=limit_s
        )
    said = log.read_text()
    if done.returncode:
        raise BuildError(f"{Path(command[0]).name} failed; see {log}\n{said[-2000:]}")
    return said


def sources(board: str) -> list[str]:
    """The SystemVerilog of a board, relative to the root."""
    files = [FPGA / "rtl" / name for name in PACKAGES]
    for folder in FOLDERS:
        files += sorted((FPGA / "rtl" / folder).glob("*.sv"))
    files += sorted((FPGA / "boards/ecp5").glob("*.sv"))
    return [str(path.relative_to(ROOT)) for path in [*files, FPGA / "boards" / board / "top.sv"]]


def synthesize(board: Board, out: Path) -> Path:
    """The netlist of a board. What was routed of an older one is removed."""
    for old in out.glob("seed-*"):
        old.unlink()
    netlist = out / "top.json"
    script = (
        f"read_verilog -sv -DECP5 {' '.join(sources(board.name))}; "
        # Without pairs of LUTs that must be neighbours: 754 less for 31 LUTs more on the 5A-75B.
        f"synth_ecp5 -nowidelut -top top -json {netlist.relative_to(ROOT)}"
    )
    run([tool("yosys"), "-p", script], out / "yosys.log")
    return netlist


def route(board: Board, netlist: Path, seed: int, out: Path, limit_s: float | None) -> Routed:
    """Places and routes a netlist with a seed. Some seeds leave no way for the last connections."""
    config, report = out / f"seed-{seed}.config", out / f"seed-{seed}.json"
    pins = FPGA / "boards" / board.name / "pins.lpf"
    command = [
        tool("nextpnr-ecp5"), *board.options, "--json", str(netlist.relative_to(ROOT)),
        "--lpf", str(pins.relative_to(ROOT)), "--textcfg", str(config.relative_to(ROOT)),
        "--report", str(report.relative_to(ROOT)), "--freq", str(MHZ), "--seed", str(seed),
        "--timing-allow-fail",
    ]  # fmt: skip
    try:
        run(command, out / f"seed-{seed}.log", limit_s)
    except subprocess.TimeoutExpired:
        return Routed(seed, 0.0, config)
    return Routed(seed, lowest_mhz(json.loads(report.read_text())), config)


def lowest_mhz(report: dict[str, dict[str, dict[str, float]]]) -> float:
    """The lowest frequency of nextpnr's report, scaled where a constraint is not `MHZ`."""
    clocks = report["fmax"].values()
    return min(clock["achieved"] * MHZ / clock["constraint"] for clock in clocks)


def pack(routed: Routed, out: Path) -> Path:
    """The bitstream of a routed design, and an SVF for JTAG."""
    bitstream, svf = out / "bottleneck.bit", out / "bottleneck.svf"
    run(
        [tool("ecppack"), "--compress", "--svf", str(svf.relative_to(ROOT)),
         str(routed.config.relative_to(ROOT)), str(bitstream.relative_to(ROOT))],
        out / "ecppack.log",
    )  # fmt: skip
    return bitstream


def utilization(log: str) -> dict[str, tuple[int, int]]:
    """What a design takes of the FPGA, and what the FPGA has (nextpnr's log)."""
    lines = re.findall(r"Info:\s+(\w+):\s+(\d+)/\s*(\d+)", log)
    return {name: (int(used), int(most)) for name, used, most in lines}


def build(board: Board, seeds: list[int], limit_s: float | None) -> list[Routed]:
    """Builds a board with each seed; prints what came out. The fastest is packed.

    Raises `BuildError` if no seed was routed within the limit.
    """
    out = OUT / board.name
    out.mkdir(parents=True, exist_ok=True)
    netlist = synthesize(board, out)
    found: list[Routed] = []
    for seed in seeds:
        found.append(route(board, netlist, seed, out, limit_s))
        result = f"{found[-1].mhz:.1f} MHz" if found[-1].mhz else "not routed in time"
        print(f"{board.name}: seed {seed}: {result}", flush=True)
    best = max(found, key=lambda routed: routed.mhz)
    if not best.mhz:
        raise BuildError(f"{board.name}: no seed was routed in time: try more minutes or seeds")
    median = statistics.median(routed.mhz for routed in found)
    print(f"{board.name}: median {median:.1f} MHz of {len(found)} seeds, best {best.mhz:.1f} MHz")
    print(f"{board.name}: {pack(best, out)}")
    if not best.is_closed:
        print(f"{board.name}: timing is not closed at {MHZ:g} MHz; do not use the bitstream")
    return found


def positive(text: str) -> int:
    """A number from 1 on. Raises `argparse.ArgumentTypeError` for another text."""
    if text.isascii() and text.isdigit() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text}: expected a number from 1 on")


def main() -> int:
    """Builds the board of the command line; 1 if timing is not closed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("board", choices=BOARDS)
    add = parser.add_argument
    add("--seeds", type=positive, default=10, help="how many seeds nextpnr gets")
    add("--minutes", type=positive, help="the most that a seed gets (default: any)")
    given = parser.parse_args()
    try:
        limit_s = 60 * given.minutes if given.minutes else None
        found = build(BOARDS[given.board], list(range(1, given.seeds + 1)), limit_s)
    except BuildError as error:
        print(error, file=sys.stderr)
        return 2
    return 0 if max(routed.mhz for routed in found) >= MHZ else 1


if __name__ == "__main__":
    sys.exit(main())
