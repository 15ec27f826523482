"""One run on one and on two cores (`narrows run --cores`): wall-clock time, in turns.

The time includes building the network. The results have the same bytes (tests/runs/test_cores.py).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from bench.measure import NO_TABLES
from bench.section import ROOT, Json, Options, Section, output
from bench.sections.whole import DUMBBELL
from narrows.testbed.child_process import environment

CORES = (1, 2)

QUIET = {"telemetry.every": 0, **NO_TABLES}
PLAIN = {
    "flow.sink": "TCPSink",
    "link.reverse.discipline": "drop-tail",
    "host.0.access.reconstruct_acks": False,
}
"""One point of the scenario with two switches."""
LONG = {"duration": "1000s", **QUIET}
SCENARIOS = ROOT / "scenarios"

RUNS: dict[str, tuple[Path, dict[str, Any]]] = {
    "1,000 flows": (DUMBBELL, {"flow.count": 1_000, **QUIET}),
    "10,000 flows": (DUMBBELL, {"flow.count": 10_000, **QUIET}),
    "parking lot, 1,000 s": (SCENARIOS / "parking-lot.toml", LONG),
    "two switches, 1,000 s": (SCENARIOS / "asymmetric.toml", LONG | PLAIN),
}
"""Each run's scenario and settings; those without a duration take the option's."""


def measure(options: Options) -> Json:
    """The fastest wall-clock seconds of each run by the number of cores, and their ratio."""
    found: Json = {}
    print(f"\n{'one run':32} " + " ".join(f"{f'{cores} cores':>9}" for cores in CORES) + "   gain")
    for name, (scenario, settings) in RUNS.items():
        told = {"duration": options.duration} | settings
        walls: dict[int, list[float]] = {cores: [] for cores in CORES}
        for _ in range(options.rounds):
            for cores in CORES:
                walls[cores].append(wall_s(scenario, told, cores))
        fastest = {str(cores): min(each) for cores, each in walls.items()}
        gain = fastest["1"] / fastest["2"]
        found[name] = {"wall_s": fastest, "gain": round(gain, 2)}
        print(f"{name:32} " + " ".join(f"{each:9.2f}" for each in fastest.values()), f"{gain:6.2f}")
    return found


def wall_s(scenario: Path, settings: dict[str, Any], cores: int) -> float:
    """The wall-clock seconds of a run in its own process."""
    command = [sys.executable, "-m", "bench.measure", str(scenario), json.dumps(settings)]
    return float(json.loads(output([*command, str(cores)], environment()))["wall_s"])


SECTION = Section(
    "cores",
    measure,
    lambda found: {name: 1 / run["wall_s"]["1"] for name, run in found.items()},
)
