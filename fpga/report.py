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
WIDTHS = (16, 64, 128, 512)
STEPS = 2
"""Steps of the multiplier in a cycle, as on the Versa."""
FAMILIES = {"ECP5": "synth_ecp5 -nowidelut", "Xilinx 7": "synth_xilinx"}
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
CLOCKS = {
    "receiver 0": r"eth0_rx_clk|rx_clk\[0\]",
    "receiver 1": r"eth1_rx_clk|rx_clk\[1\]",
    "line": "",
    "core": "",
}
"""A board's clocks, each with what its net's name has. The core's is the one of `CORE_MHZ`, and the
line's is the other one."""
CORE_MHZ = build.MHZ / 2
DECISION_CYCLES = 40
"""What an arrival and its departure take of the decisions, with CoDel and two steps: measured by
tests/fpga/bench/port_cases.py."""
SHORTEST, LONGEST = 60, 1518
"""Bytes of a frame without check sequence."""


@dataclass(frozen=True)
class BoardResult:
    """What `make fpga` left of a board."""

    name: str
    clocks: dict[int, dict[str, float]]
    """Of each seed: the MHz that each clock reached; none if it was not routed."""
    mhz: list[float]
    """Of each seed: the lowest of its clocks; 0 if it was not routed."""
    used: dict[str, tuple[int, int]]
    """Resources: used, and of how many."""


def board_result(board: build.Board) -> BoardResult | None:
    """A board's result, or None if it was not built."""
    out = build.OUT / board.name
    reports = {int(path.stem.removeprefix("seed-")): path for path in out.glob("seed-*.json")}
    if not reports:
        return None
    seeds = sorted(int(path.stem.removeprefix("seed-")) for path in out.glob("seed-*.log"))
    read = {seed: json.loads(reports[seed].read_text()) for seed in seeds if seed in reports}
    clocks = {seed: clocks_of(read[seed]) if seed in read else {} for seed in seeds}
    mhz = [build.lowest_mhz(read[seed]) if seed in read else 0.0 for seed in seeds]
    used = build.utilization(reports[min(reports)].with_suffix(".log").read_text())
    return BoardResult(board.name, clocks, mhz, used)


def clocks_of(report: dict[str, dict[str, dict[str, float]]]) -> dict[str, float]:
    """The MHz of each clock in nextpnr's report, by the name of `CLOCKS`."""
    return {clock_name(net, found["constraint"]): found["achieved"]
            for net, found in report["fmax"].items()}  # fmt: skip


def clock_name(net: str, mhz: float) -> str:
    """The name in `CLOCKS` of a clock with a net and a constraint."""
    if mhz == CORE_MHZ:
        return "core"
    return next(title for title, pattern in CLOCKS.items() if re.search(pattern, net))


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
    for folder in ("decisions", "datapath", "sdram", "mac"):
        files += sorted((build.FPGA / "rtl" / folder).glob("*.sv"))
    names = " ".join(str(path.relative_to(build.ROOT)) for path in files)
    script = (
        f"read_verilog -sv {names}; "
        f"chparam -set DATA_WIDTH {width} -set STEPS {STEPS} bottleneck_port; "
        f"{command} -top bottleneck_port -flatten; stat"
    )
    log = out / f"{command.split()[0]}-{width}.log"
    return cells(build.run([build.tool("yosys"), "-p", script], log))


def boards(results: Iterable[BoardResult]) -> list[str]:
    """The table of the boards."""
    lines = [
        "| board | seeds | median MHz | lowest, highest | closed | "
        + " | ".join(RESOURCES) + " |",
        "|---" * (5 + len(RESOURCES)) + "|",
    ]  # fmt: skip
    for result in results:
        routed = [mhz for mhz in result.mhz if mhz]
        median = statistics.median(result.mhz)
        closed = sum(mhz >= build.MHZ for mhz in result.mhz)
        used = [
            f"{count:,} of {most:,} ({100 * count / most:.0f} %)"
            for count, most in (result.used[cell] for cell in RESOURCES.values())
        ]
        lines.append(
            f"| {result.name} | {len(result.mhz)} | {median:.1f} | {min(routed):.1f}, "
            f"{max(routed):.1f} | {closed} of {len(result.mhz)} | {' | '.join(used)} |"
        )
    return lines


def seeds(results: Iterable[BoardResult]) -> list[str]:
    """The table of each seed's clocks."""
    lines = ["| board | seed | " + " | ".join(CLOCKS) + " |", "|---" * (2 + len(CLOCKS)) + "|"]
    for result in results:
        for seed, clocks in result.clocks.items():
            reached = [f"{clocks[name]:.1f}" if name in clocks else "not routed" for name in CLOCKS]
            lines.append(f"| {result.name} | {seed} | {' | '.join(reached)} |")
    return lines


def line_rate(width: int, frame_bytes: int) -> float:
    """The Gb/s of frames of a size: the stream's, or as many as the decisions take."""
    words = -(-frame_bytes * 8 // width)
    cycles = max(words, DECISION_CYCLES)
    return frame_bytes * 8 * CORE_MHZ * 1e6 / cycles / 1e9


def ports() -> list[str]:
    """The table of the ports, by width and family."""
    lines = [
        f"| width | stream | frames of {SHORTEST} bytes | of {LONGEST} bytes | family | "
        + " | ".join(CELLS) + " |",
        "|---" * (5 + len(CELLS)) + "|",
    ]  # fmt: skip
    for width in WIDTHS:
        for family, command in FAMILIES.items():
            counts = synthesized(width, command)
            rates = [
                width * CORE_MHZ / 1e3,
                *(line_rate(width, size) for size in (SHORTEST, LONGEST)),
            ]
            lines.append(
                f"| {width} bits | " + " | ".join(f"{rate:.3g} Gb/s" for rate in rates)
                + f" | {family} | " + " | ".join(f"{counts[kind]:,}" for kind in CELLS) + " |"
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
                  "Placed and routed by nextpnr-ecp5. A seed's clock is the lowest of its four;",
                  f"the core's counts twice, as it needs half of the others' {build.MHZ:g} MHz.",
                  "", *boards(results), "",
                  f"MHz of each clock; the target is {build.MHZ:g}, of the core {CORE_MHZ:g}.",
                  "", *seeds(results), ""]  # fmt: skip
    lines += ["## The port by width", "",
              "One direction without MAC and registers, by Yosys's count of cells, 32 kB of memory",
              f"and 512 frames. Decisions take {DECISION_CYCLES} cycles a frame with CoDel,",
              "measured in a simulator, so they limit frames with fewer words. Rates are at",
              f"{CORE_MHZ:g} MHz, in bytes of frames without gaps.",
              "", *port_lines, ""]  # fmt: skip
    REPORT.write_text("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
