"""Runs all benchmarks: `python -m bench.run` (`make bench`).

`SECTIONS` are the parts. Results go to `bench/results.json`. `--check` compares with this file
instead, relative to the machine's speed, and fails if a rate fell by a third. `--only` measures
some of the sections and keeps the others' results.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bench.section import ROOT, Json, Options
from bench.sections import ack, calibrate, cores, dpdk, inner, peers, start, switch, whole

RESULTS = Path(__file__).with_name("results.json")
#: A rate may fall to this share of its earlier value, in units of the calibration loop.
FLOOR = 2 / 3

#: In the order of measurement.
SECTIONS = (
    whole.SECTION,
    cores.SECTION,
    peers.SECTION,
    start.SECTION,
    switch.SECTION,
    ack.SECTION,
    inner.SECTION,
    dpdk.SECTION,
)


def rates(results: Json) -> dict[str, float]:
    """Every rate of a set of results, relative to the calibration loop's speed at that time."""
    parts = results["sections"]
    return {
        f"{section.name}: {name}": rate / parts[section.name]["calibration_steps_per_s"]
        for section in SECTIONS
        if section.name in parts
        for name, rate in section.rates(parts[section.name]["found"]).items()
    }


def slower(before: Json, now: Json) -> list[str]:
    """The rates that fell below `FLOOR` of the earlier ones."""
    old, new = rates(before), rates(now)
    return [
        f"{name}: {new[name] / rate:.2f} of what it was"
        for name, rate in old.items()
        if name in new and new[name] < FLOOR * rate
    ]


def commit() -> str:
    """The measured commit, with `+` if the checkout differs from it."""
    described = subprocess.run(
        ["git", "describe", "--always", "--dirty=+"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return described.stdout.strip()


def cpu() -> str:
    """The processor's name, if Linux reports it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, prints a line per section, and writes the results or compares them."""
    parser = argparse.ArgumentParser(description="Runs all benchmarks.")
    parser.add_argument(
        "--rounds", type=int, default=3, help="rounds, of which the cheapest counts"
    )
    parser.add_argument("--duration", default="10s", help="simulated time of most runs")
    names = [section.name for section in SECTIONS]
    parser.add_argument("--only", nargs="+", choices=names, default=names, help="some sections")
    parser.add_argument("--check", action="store_true", help="fail if a rate got slower")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args(arguments)
    began, options = time.perf_counter(), Options(given.rounds, given.duration)
    parts = dict[str, Json]()
    for section in SECTIONS:
        if section.name in given.only:
            steps_per_s = round(calibrate.steps_per_s())
            parts[section.name] = {
                "commit": commit(),
                "rounds": given.rounds,
                "calibration_steps_per_s": steps_per_s,
                "found": section.measure(options),
            }
    print(f"\n{time.perf_counter() - began:.0f} s")
    known: Json = json.loads(RESULTS.read_text())
    if given.check:
        worse = slower(known, {"sections": parts})
        print("\n".join(worse) or "nothing got slower by a third")
        return 1 if worse else 0
    results = {
        "schema": 3,
        "machine": {"cpu": cpu(), "cores": os.cpu_count(), "system": platform.platform()},
        "sections": known["sections"] | parts,
    }
    given.out.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    print(f"written to {os.path.relpath(given.out)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
