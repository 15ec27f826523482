"""Bottleneck packets per second of wall clock: `python -m bench.run`, which `make bench` runs.

The switch by itself comes after that (`bench/switch.py`).

Each set-up of `bench/dumbbell.toml` is run in this process, on one core, `ROUNDS` times; the
fastest counts, since whatever else the machine does can only slow a run down. What is written
to disk is written, to a directory that is then removed. Results go to `bench/results.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench import switch
from testbed import catalogue, plan, points

SCENARIO = Path(__file__).with_name("dumbbell.toml")
RESULTS = Path(__file__).with_name("results.json")
ROUNDS = 3

NO_TABLES = {"record.queue": False, "record.flows": "off", "record.messages": False}

SETUPS: dict[str, dict[str, Any]] = {
    "no reports, no tables": {"telemetry.every": 0, **NO_TABLES},
    "no reports, ledger": {"telemetry.every": 0, **NO_TABLES, "record.queue": True},
    "reports 1:100, no ledger": {"telemetry.every": 100, **NO_TABLES},
    "reports 1:1, no ledger": {"telemetry.every": 1, **NO_TABLES},
    "reports 1:1, all tables": {"telemetry.every": 1},
}


def measure(settings: dict[str, Any]) -> tuple[float, dict[str, Any]]:
    """One run: its wall-clock seconds, and its summary."""
    (point,) = points.read(SCENARIO, list(settings.items()))
    text = json.dumps(plan.make_plan(point.scenario, str(SCENARIO)))
    with tempfile.TemporaryDirectory() as out:
        began = time.perf_counter()
        summary = catalogue.engine().run(text, out, None)
        return time.perf_counter() - began, summary


def commit() -> str:
    """The commit that was measured, `+` where the checkout differs from it."""
    described = subprocess.run(
        ["git", "describe", "--always", "--dirty=+"],
        cwd=SCENARIO.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return described.stdout.strip()


def cpu() -> str:
    """The processor's name, where Linux says it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures every set-up, prints a line each, writes the results."""
    parser = argparse.ArgumentParser(description="Bottleneck packets per wall-clock second.")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--duration", default="10s", help="simulated time of a run")
    parser.add_argument("--no-switch", action="store_true", help="whole runs only")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    found = {}
    print(f"{'set-up':28} {'packets':>10} {'wall s':>8} {'packets/s':>11} {'events/s':>11}")
    for name, settings in SETUPS.items():
        runs = [measure({"duration": options.duration, **settings}) for _ in range(options.rounds)]
        wall_s, summary = min(runs, key=lambda run: run[0])
        packets, events = summary["bottleneck"]["dequeued"], summary["engine"]["events"]
        found[name] = {
            "packets": packets,
            "events": events,
            "wall_s": round(wall_s, 4),
            "packets_per_s": round(packets / wall_s),
            "simulated_s": summary["duration_s"],
            "utilization": summary["bottleneck"]["utilization"],
        }
        rates = f"{packets / wall_s:11,.0f} {events / wall_s:11,.0f}"
        print(f"{name:28} {packets:10,} {wall_s:8.3f} {rates}", flush=True)
    record = {
        "schema": 1,
        "commit": commit(),
        "scenario": SCENARIO.name,
        "rounds": options.rounds,
        "machine": {"cpu": cpu(), "cores": os.cpu_count(), "system": platform.platform()},
        "setups": found,
        "switch": None if options.no_switch else switch.measure(),
    }
    options.out.write_text(json.dumps(record, indent=1) + "\n")
    print(f"written to {os.path.relpath(options.out)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
