"""Writes docs/reports/fpga.md: what the hardware bottleneck takes of an FPGA, and how fast it is.

`make fpga-report` synthesizes the port at each width for two families, and takes the boards' clocks
from what `make fpga` left in target/fpga. A board that was not built is left out.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
from collections.abc import Iterable
from dataclasses import dataclass

from narrows.fpga import build

REPORT = build.ROOT / "docs/reports/fpga.md"
WIDTHS = (8, 64, 128, 512)
FAMILIES = {"ECP5": "synth_ecp5", "Xilinx 7": "synth_xilinx"}
CELLS = {
    "LUTs": r"LUT[1-6]|CCU2C|TRELLIS_COMB",
    "flip-flops": r"TRELLIS_FF|FD[RSCP]E",
    "block RAMs": r"DP16KD|RAMB18E1|RAMB36E1",
}
"""What a row of the table counts: names of cells. A CCU2C holds two LUTs."""
RESOURCES = {
    "LUTs": "TRELLIS_COMB",
    "flip-flops": "TRELLIS_FF",
    "block RAMs": "DP16KD",
}
"""The same of a routed board, by nextpnr's names."""


@dataclass(frozen=True)
class BoardResult:
    """What `make fpga` left of a board."""

    name: str
    mhz: list[float]
    """Of each seed."""
    used: dict[str, tuple[int, int]]
    """Resources: used, and of how many."""


def board_result(board: build.Board) -> BoardResult | None:
    """A board's result, or None if it was not built."""
    out = build.OUT / board.name
    reports = sorted(out.glob("seed-*.json"))
    if not reports:
        return None
    mhz = [build.lowest_mhz(json.loads(path.read_text())) for path in reports]
    used = build.utilization(reports[0].with_suffix(".log").read_text())
    return BoardResult(board.name, mhz, used)


def cells(stat: str) -> dict[str, int]:
    """Counts of cells by kind, from the last table of Yosys's `stat`, old or new."""
    table = stat.rsplit("===", 1)[-1]
    counts = re.findall(r"^\s+(\w+)\s+(\d+)\s*$", table, re.MULTILINE)
    if not counts:
        counts = [
            (name, n) for n, name in re.findall(r"^\s+(\d+)\s+(\w+)\s*$", table, re.MULTILINE)
        ]
    total = dict.fromkeys(CELLS, 0)
    for name, count in counts:
        for kind, pattern in CELLS.items():
            if re.fullmatch(pattern, name):
                total[kind] += int(count) * (2 if name == "CCU2C" else 1)
    return total


def synthesized(width: int, command: str) -> dict[str, int]:
    """What a port of a width takes, by Yosys's count of cells."""
    out = build.OUT / "port"
    out.mkdir(parents=True, exist_ok=True)
    files = [build.FPGA / "rtl" / name for name in build.PACKAGES]
    for folder in ("decisions", "datapath"):
        files += sorted((build.FPGA / "rtl" / folder).glob("*.sv"))
    names = " ".join(str(path.relative_to(build.ROOT)) for path in files)
    script = (
        f"read_verilog -sv {names}; chparam -set DATA_WIDTH {width} bottleneck_port; "
        f"{command} -top bottleneck_port -flatten; stat"
    )
    return cells(build.run([build.tool("yosys"), "-p", script], out / f"{command}-{width}.log"))


def boards(results: Iterable[BoardResult]) -> list[str]:
    """The table of the boards."""
    lines = [
        "| board | seeds | median MHz | lowest, highest | closed at 125 | "
        + " | ".join(RESOURCES) + " |",
        "|---" * (5 + len(RESOURCES)) + "|",
    ]  # fmt: skip
    for result in results:
        median = statistics.median(result.mhz)
        closed = sum(mhz >= build.MHZ for mhz in result.mhz)
        used = [
            f"{count:,} of {most:,} ({100 * count / most:.0f} %)"
            for count, most in (result.used[cell] for cell in RESOURCES.values())
        ]
        lines.append(
            f"| {result.name} | {len(result.mhz)} | {median:.1f} | {min(result.mhz):.1f}, "
            f"{max(result.mhz):.1f} | {closed} of {len(result.mhz)} | {' | '.join(used)} |"
        )
    return lines


def ports() -> list[str]:
    """The table of the ports, by width and family."""
    lines = [
        "| width | at 125 MHz | family | " + " | ".join(CELLS) + " |",
        "|---" * (3 + len(CELLS)) + "|",
    ]
    for width in WIDTHS:
        for family, command in FAMILIES.items():
            counts = synthesized(width, command)
            rate = width / 8
            lines.append(
                f"| {width} bits | {rate:g} Gb/s | {family} | "
                + " | ".join(f"{counts[kind]:,}" for kind in CELLS) + " |"
            )  # fmt: skip
            print(lines[-1], flush=True)
    return lines


def main() -> int:
    """Writes the report."""
    results = [found for board in build.BOARDS.values() if (found := board_result(board))]
    port_lines = ports()
    lines = ["# The hardware bottleneck: resources and clock", "",
             "Written by `make fpga-report`. No board has run a bitstream of it.", ""]  # fmt: skip
    if results:
        lines += ["## Boards", "",
                  "Placed and routed by nextpnr-ecp5. A seed's clock is the lowest of its three.",
                  "", *boards(results), ""]  # fmt: skip
    lines += ["## The port by width", "",
              "One direction without MAC and registers, by Yosys's count of cells, 32 kB of memory",
              "and 512 frames. The rate is the stream's; decisions take 48 cycles a frame.",
              "", *port_lines, ""]  # fmt: skip
    REPORT.write_text("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
