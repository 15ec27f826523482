"""What each queue discipline costs a run: `python -m bench.disciplines`.

The same scenario runs with every discipline in turns, many rounds. A discipline's figure is its
packets per second of the engine's thread in its fastest round over DropTail's in its fastest:
other work on the machine only makes a round slower. Two loads of five flows share 1 Gb/s:

- *losses*: the flows fill the queue, so that each discipline drops as it does.
- *no losses*: the receivers' windows keep 1.2 ms of packets in the queue, below every target. All
  disciplines then forward the same packets, and only their own work differs.

`--instructions` counts instructions per packet under callgrind too. Other programs on the machine
do not change these, so on a busy machine they are the measure, with `--rounds 0`. It needs Debian's
`valgrind`. `--page` writes docs/reports/discipline-cost.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from bench.measure import NO_TABLES, once
from bench.run import commit, cpu
from bench.section import ROOT, output
from bench.sections.whole import DUMBBELL
from narrows.testbed.child_process import environment

PAGE = ROOT / "docs/reports/discipline-cost.md"
FIRST = "drop-tail"
BOUNDS = {"codel": 0.10, "pie": 0.10, "fq-codel": 0.30}
"""How much more time a packet may take than under DropTail, as a share of DropTail's rate."""
DISCIPLINES = (FIRST, "codel", "pie", "fq-codel", "cobalt", "dualpi2", "drr", "red")
QUIET: dict[str, Any] = {"telemetry.every": 0, **NO_TABLES}
LOADS: dict[str, dict[str, Any]] = {
    "losses": QUIET,
    # 1,651 packets are on the path, so 99 of 5 x 350 wait.
    "no losses": QUIET | {"flow.window": "350packets"},
}
WITHOUT_LOSSES = tuple(name for name in DISCIPLINES if name != "red")
"""RED's thresholds are packets: it would drop from a queue of 99."""
COUNTED_S = {"losses": (0.001, 0.5), "no losses": (0.4, 0.8)}
"""Simulated seconds of the two runs under callgrind; their difference has no start in it. The
losses are those of slow start, within the first half second.
"""
ENGINE_ONLY = """\
import sys
from narrows import _engine
summary = _engine.run(open(sys.argv[1]).read(), sys.argv[2], None)
print(summary["bottleneck"]["dequeued"])
"""


@dataclass(frozen=True)
class Cost:
    """A discipline under a load, against DropTail: rates by round, and instructions."""

    rates: list[float]
    """Packets per second."""
    base: list[float]
    """DropTail's of the same rounds."""
    instructions: float | None = None
    """Instructions per packet."""

    @property
    def ratio(self) -> float:
        """The fastest round's rate over DropTail's fastest."""
        return max(self.rates) / max(self.base)

    @property
    def halves(self) -> list[float]:
        """The same ratio of every other round; it is repeatable if the two are close."""
        begins = range(min(2, len(self.rates)))
        return [max(self.rates[at::2]) / max(self.base[at::2]) for at in begins]


def settings(load: str, discipline: str, duration: str) -> dict[str, Any]:
    """The scenario's settings."""
    return {**LOADS[load], "bottleneck.discipline": discipline, "duration": duration}


def disciplines(load: str) -> Sequence[str]:
    """What runs under a load."""
    return DISCIPLINES if load == "losses" else WITHOUT_LOSSES


def in_turns(load: str, rounds: int, duration: str) -> dict[str, list[float]]:
    """Packets per second of every discipline, by round. Every other round runs backwards, so that
    a machine that becomes slower favours none.
    """
    rates = {name: list[float]() for name in disciplines(load)}
    for number in range(rounds):
        names = list(rates) if number % 2 == 0 else list(reversed(rates))
        for name in names:
            run = once(DUMBBELL, settings(load, name, duration))
            rates[name].append(run["packets"] / run["engine_s"])
            print(f"{load}, round {number + 1}: {name:10} {rates[name][-1]:12,.0f} packets/s",
                  flush=True)  # fmt: skip
    return rates


def counted(load: str, discipline: str, seconds: float, folder: Path) -> tuple[int, int]:
    """Instructions and packets of a run under callgrind. Raises `RuntimeError`."""
    from narrows.testbed.scenario import plan, sweep

    given = settings(load, discipline, f"{seconds}s")
    (point,) = sweep.read(DUMBBELL, list(given.items()))
    file, counts = folder / "plan.json", folder / "callgrind.out"
    file.write_text(json.dumps(plan.make_plan(point.scenario, str(DUMBBELL))))
    program = [sys.executable, "-c", ENGINE_ONLY, str(file), str(folder)]
    command = ["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={counts}"]
    # Another seed of Python's hashes would execute other instructions.
    packets = int(output([*command, *program], environment() | {"PYTHONHASHSEED": "0"}))
    return total(counts.read_text()), packets


def total(counts: str) -> int:
    """The instructions of a file of callgrind's."""
    return next(int(line.split()[1]) for line in counts.splitlines() if line.startswith("totals:"))


def instructions(load: str) -> dict[str, float]:
    """Instructions per packet of every discipline, without the start."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in disciplines(load):
            (less, few), (more, many) = (
                counted(load, name, seconds, Path(folder)) for seconds in COUNTED_S[load]
            )
            found[name] = (more - less) / (many - few)
            print(f"{load}: {name:10} {found[name]:10,.0f} instructions a packet", flush=True)
    return found


def measure(rounds: int, duration: str, *, counts: bool) -> dict[str, dict[str, Cost]]:
    """The costs by load and discipline."""
    found = {}
    for load in LOADS:
        rates = in_turns(load, rounds, duration)
        count = instructions(load) if counts else {}
        found[load] = {
            name: Cost(each, rates[FIRST], count.get(name)) for name, each in rates.items()
        }
    return found


def cells(costs: Mapping[str, Cost], name: str) -> list[str]:
    """A discipline's figures under one load."""
    if name not in costs:
        return ["", "", ""]
    cost, base = costs[name], costs[FIRST].instructions
    shown = ["", "", ""]
    if cost.rates:
        shown[0] = f"{cost.ratio:.3f} ({', '.join(f'{half:.3f}' for half in cost.halves)})"
    if cost.instructions is not None and base is not None:
        shown[1:] = [f"{cost.instructions:,.0f}", f"{cost.instructions / base:.3f}"]
    return shown


def table(found: Mapping[str, Mapping[str, Cost]]) -> str:
    """The costs as a Markdown table: a row for each load and discipline."""
    lines = [
        "| load | discipline | packets/s over DropTail's | instructions a packet"
        " | over DropTail's | bound |",
        "|---|---|---|---|---|---|",
    ]
    for load, costs in found.items():
        for name in costs:
            most = BOUNDS.get(name)
            bound = "" if most is None else f"{1 - most:.2f}, {1 / (1 - most):.3f}"
            lines.append("| " + " | ".join([load, f"`{name}`", *cells(costs, name), bound]) + " |")
    return "\n".join(lines)


def too_slow(found: Mapping[str, Mapping[str, Cost]]) -> list[str]:
    """The disciplines beyond their bounds, by instructions where these were counted."""
    worse = []
    for load, costs in found.items():
        base = costs[FIRST].instructions
        for name, bound in BOUNDS.items():
            cost = costs[name]
            if cost.instructions is not None and base is not None:
                ratio = base / cost.instructions
            elif cost.rates:
                ratio = cost.ratio
            else:
                continue
            if ratio < 1 - bound:
                worse.append(f"{load}: {name} has {ratio:.3f} of DropTail's rate, not {1 - bound}")
    return worse


def page(found: Mapping[str, Mapping[str, Cost]], command: str) -> str:
    """The report."""
    worse = too_slow(found)
    bounded = [(costs[name], bound) for costs in found.values() for name, bound in BOUNDS.items()]
    if not all(cost.rates for cost, _ in bounded):
        holds = "All bounds hold by instructions; rates are missing."
    elif any(max(cost.halves) - min(cost.halves) > bound for cost, bound in bounded):
        holds = "All bounds hold by instructions; rates spread too far to tell."
    elif any(cost.ratio < 1 - bound for cost, bound in bounded):
        holds = "All bounds hold by instructions, not all by rates."
    else:
        holds = "All bounds hold."
    verdict = holds if not worse else "Beyond its bound: " + "; ".join(worse) + "."
    spans = ", ".join(f"{few:g} to {many:g} s ({load})" for load, (few, many) in COUNTED_S.items())
    lines = [
        "# What queue disciplines cost",
        "",
        "CoDel and PIE may cost 10 % of DropTail's packets per second, FQ-CoDel 30 %.",
        verdict,
        "",
        f"Made by `{command}` on {date.today()},",
        f"commit {commit()}, on {cpu()} with {os.cpu_count()} cores, {platform.system()}"
        f" {platform.release()}.",
        "",
        *(__doc__ or "").splitlines()[2:9],
        "",
        "In brackets is the same ratio of the odd and of the even rounds. Instructions are",
        "callgrind's, of everything that a run does for a packet: hosts, switch and queue.",
        f"They are counted between two times of a run: {spans}.",
        "A bound is the least ratio of rates and the greatest of instructions.",
        "",
        table(found),
    ]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures and prints the table. Returns 1 if a discipline is beyond its bound."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20, help="runs of each discipline (20)")
    parser.add_argument("--duration", default="2s", help="simulated time of a run (2s)")
    parser.add_argument("--instructions", action="store_true", help="count instructions too")
    parser.add_argument("--page", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    given = parser.parse_args(arguments)
    if given.instructions and shutil.which("valgrind") is None:
        print("disciplines: needs valgrind (Debian: apt-get install valgrind)", file=sys.stderr)
        return 2
    found = measure(given.rounds, given.duration, counts=given.instructions)
    print(table(found))
    print("\n".join(too_slow(found)) or "within the bounds")
    if given.page:
        words = ["python -m bench.disciplines", *(sys.argv[1:] if arguments is None else arguments)]
        PAGE.write_text(page(found, " ".join(words)))
    return 1 if too_slow(found) else 0


if __name__ == "__main__":
    sys.exit(main())
