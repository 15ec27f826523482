"""What everything costs: `python -m bench.run`, which `make bench` runs.

Whole runs (`bench/measure.py`), the same dumbbell in ns-2 and ns-3 (`bench/peers/`), the start of
`narrows run`, the reading of results, the switch by itself (`bench/switch.py`) and the time of an
ACK. Results go to `bench/results.json`; `--check` compares with those there instead, as ratios to
the machine's own speed (`bench/calibrate.py`), and fails where a rate fell by a third.
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

from bench import calibrate, peers, switch
from bench.measure import NO_TABLES, ROOT, cost

DUMBBELL = Path(__file__).with_name("dumbbell.toml")
CVE = Path(__file__).with_name("cve.toml")
RESULTS = Path(__file__).with_name("results.json")
ROUNDS = 3
#: A rate may fall to this share of what it was, in units of the calibration loop.
FLOOR = 2 / 3

LEDGER = NO_TABLES | {"record.queue": True}

#: What is recorded, in the dumbbell of five flows.
RECORDS: dict[str, dict[str, Any]] = {
    "no reports, no tables": {"telemetry.every": 0, **NO_TABLES},
    "no reports, ledger": {"telemetry.every": 0, **LEDGER},
    "reports 1:100, ledger": {"telemetry.every": 100, **LEDGER},
    "reports 1:1, ledger": {"telemetry.every": 1, **LEDGER},
    "reports 1:1, all tables": {"telemetry.every": 1},
}

FLOWS = (1, 5, 100, 1_000, 10_000)
#: Packets in flight of one flow, and the round trip that makes it so at 1 Gb/s.
WINDOWS = (10, 100, 1_000, 10_000, 30_000)


def windows(packets: int) -> dict[str, Any]:
    """One flow whose window is that of the receiver; the link is never full."""
    # 12.112 us a frame of 1,514 bytes: a round trip in which that many leave at half the rate.
    delay_us = max(packets * 12.112, 100) - 50
    return {
        "flow.count": 1, "flow.window": f"{packets}packets", "flow.initial_window": packets,
        "bottleneck.delay": f"{delay_us:.0f}us", "bottleneck.queue": "40000packets",
        "telemetry.every": 0, **NO_TABLES,
    }  # fmt: skip


def whole_runs(duration: str, rounds: int) -> dict[str, dict[str, Any]]:
    """Every set-up, each with its figures; prints a line each."""
    setups = {name: (DUMBBELL, {"duration": duration, **s}) for name, s in RECORDS.items()}
    for count in FLOWS:
        settings = {"flow.count": count, "duration": duration, "telemetry.every": 0, **NO_TABLES}
        setups[f"flows: {count}"] = DUMBBELL, settings
    for packets in WINDOWS:
        setups[f"window: {packets}"] = DUMBBELL, {"duration": duration, **windows(packets)}
    setups["peers' dumbbell, ledger"] = DUMBBELL, {
        "bottleneck.rate": "100Mbps", "access.rate": "1Gbps", "telemetry.every": 0,
        "bottleneck.queue": f"{peers.QUEUE_PACKETS}packets", "duration": f"{peers.SECONDS}s",
        **LEDGER,
    }  # fmt: skip
    setups["622 Mb/s, 300 ms, 60 s, ledger"] = DUMBBELL, {
        "bottleneck.rate": "622Mbps", "bottleneck.delay": "149.9ms", "duration": "60s",
        "flow.count": 10, "flow.variant": "cubic", "telemetry.every": 0, **LEDGER,
    }  # fmt: skip
    setups["200 users' CVE, 300 s"] = CVE, {}
    found = {}
    print(f"{'whole runs':32} {'packets':>10} {'engine s':>9} {'packets/s':>11} "
          f"{'events/s':>11} {'MB':>7}")  # fmt: skip
    for name, (scenario, settings) in setups.items():
        found[name] = run = cost(scenario, settings, rounds)
        print(
            f"{name:32} {run['packets']:10,} {run['engine_s']:9.3f} {run['packets_per_s']:11,} "
            f"{run['events_per_s']:11,} {run['memory_mb']:7,.0f}",
            flush=True,
        )
    return found


def beside_peers(ours: dict[str, Any]) -> dict[str, Any]:
    """ns-2 and ns-3 on the same dumbbell, and how many times as fast ours is."""
    found: dict[str, Any] = {}
    print(f"\n{'the same dumbbell':32} {'packets':>10} {'cpu s':>9} {'packets/s':>11} {'ours':>11}")
    for name, measure in (("ns-2", peers.ns2), ("ns-3", peers.ns3)):
        result = measure()
        if isinstance(result, str):
            print(f"{name:32} {result}")
            found[name] = None
            continue
        ratio = ours["packets_per_s"] / result["packets_per_s"]
        found[name] = result | {"ours_to_it": round(ratio, 2)}
        print(
            f"{name:32} {result['packets']:10,} {result['cpu_s']:9.3f} "
            f"{result['packets_per_s']:11,} {ratio:10.1f}x",
            flush=True,
        )
    return found


def start_up() -> dict[str, float]:
    """Seconds from `narrows run` to the table of a run of 1 ms, and seconds to read its results."""
    command = [sys.executable, "-m", "testbed.cli", "run", str(DUMBBELL), "--no-figures"]
    load = (
        "import sys; from pathlib import Path; from analysis.load import load; "
        "load(Path(sys.argv[1]))"
    )
    with tempfile.TemporaryDirectory() as out:
        settings = ["--set", "duration=1ms", "--jobs", "1", "--out", out]
        run = fastest([*command, *settings])
        read = fastest([sys.executable, "-c", load, str(Path(out, DUMBBELL.stem))])
    for name, seconds in (("narrows run", run), ("reading results", read)):
        print(f"{name:32} {seconds['wall_s']:9.2f} s, {seconds['cpu_s']:.2f} s of processor time")
    return {"run": run, "read": read}  # type: ignore[dict-item]


def fastest(command: list[str]) -> dict[str, float]:
    """Wall-clock and processor seconds of a command, the least of three."""
    wall_s = cpu_s = float("inf")
    for _ in range(ROUNDS):
        before, began = os.times(), time.perf_counter()
        subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
        wall_s, after = min(wall_s, time.perf_counter() - began), os.times()
        spent = after.children_user + after.children_system
        cpu_s = min(cpu_s, spent - before.children_user - before.children_system)
    return {"wall_s": round(wall_s, 3), "cpu_s": round(cpu_s, 3)}


def rates(results: dict[str, Any]) -> dict[str, float]:
    """Every rate of a set of results, in steps of its calibration loop."""
    found = {name: run["packets_per_s"] for name, run in results["runs"].items()}
    for name, columns in ((results["switch"] or {}).get("packets_per_s") or {}).items():
        found |= {f"switch, {name}, {column}": rate for column, rate in columns.items()}
    return {name: rate / results["calibration_steps_per_s"] for name, rate in found.items()}


def slower(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """What fell below `FLOOR` of what it was."""
    old, new = rates(before), rates(now)
    return [
        f"{name}: {new[name] / rate:.2f} of what it was"
        for name, rate in old.items()
        if name in new and new[name] < FLOOR * rate
    ]


def commit() -> str:
    """The commit that was measured, `+` where the checkout differs from it."""
    described = subprocess.run(
        ["git", "describe", "--always", "--dirty=+"],
        cwd=ROOT,
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
    """Measures, prints a line each, and writes the results or compares them."""
    parser = argparse.ArgumentParser(description="What everything costs.")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--duration", default="5s", help="simulated time of most runs")
    parser.add_argument("--no-switch", action="store_true", help="whole runs only")
    parser.add_argument("--check", action="store_true", help="fail where it got slower")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    calibration = calibrate.steps_per_s()
    runs = whole_runs(options.duration, options.rounds)
    results = {
        "schema": 2,
        "commit": commit(),
        "rounds": options.rounds,
        "machine": {"cpu": cpu(), "cores": os.cpu_count(), "system": platform.platform()},
        "calibration_steps_per_s": round(calibration),
        "runs": runs,
        "peers": beside_peers(runs["peers' dumbbell, ledger"]),
        "start": start_up(),
        "switch": None if options.no_switch else switch.measure(),
    }
    if options.check:
        found = slower(json.loads(RESULTS.read_text()), results)
        print("\n".join(found) or "nothing got slower by a third")
        return 1 if found else 0
    options.out.write_text(json.dumps(results, indent=1) + "\n")
    print(f"written to {os.path.relpath(options.out)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
