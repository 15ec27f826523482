"""Whole runs: packets and events per second of the engine's thread, and peak memory.

Measures the dumbbell of five flows with increasing recording, 1 to 10,000 flows, and windows of 10
to 30,000 packets. Also a long fat path, and a virtual environment of 200 users.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.measure import NO_TABLES, cost
from bench.section import ROOT, Json, Options, Section

DUMBBELL = ROOT / "bench/scenarios/dumbbell.toml"
CVE = ROOT / "bench/scenarios/cve.toml"
LEDGER = NO_TABLES | {"record.queue": True}
ALL = "reports 1:1, all tables"

#: The recorded tables, in the dumbbell of five flows.
RECORDS: dict[str, dict[str, Any]] = {
    "no reports, no tables": {"telemetry.every": 0, **NO_TABLES},
    "no reports, ledger": {"telemetry.every": 0, **LEDGER},
    "reports 1:100, ledger": {"telemetry.every": 100, **LEDGER},
    "reports 1:1, ledger": {"telemetry.every": 1, **LEDGER},
    ALL: {"telemetry.every": 1},
}

FLOWS = (1, 5, 100, 1_000, 10_000)
#: Packets in flight of one flow, and the round trip that results at 1 Gb/s.
WINDOWS = (10, 100, 1_000, 10_000, 30_000)


def window(packets: int) -> dict[str, Any]:
    """One flow limited by the receiver's window; the link is never full."""
    # A frame of 1,514 bytes takes 12.112 us: in the round trip that many leave at half the rate.
    delay_us = max(packets * 12.112, 100) - 50
    return {
        "flow.count": 1, "flow.window": f"{packets}packets", "flow.initial_window": packets,
        "bottleneck.delay": f"{delay_us:.0f}us", "bottleneck.queue": "40000packets",
        "telemetry.every": 0, **NO_TABLES,
    }  # fmt: skip


def setups(duration: str) -> dict[str, tuple[Path, dict[str, Any]]]:
    """Every run by its name: the scenario and its settings."""
    found = {name: (DUMBBELL, {"duration": duration, **s}) for name, s in RECORDS.items()}
    for count in FLOWS:
        settings = {"flow.count": count, "duration": duration, "telemetry.every": 0, **NO_TABLES}
        found[f"flows: {count}"] = DUMBBELL, settings
    for packets in WINDOWS:
        found[f"window: {packets}"] = DUMBBELL, {"duration": duration, **window(packets)}
    found["622 Mb/s, 300 ms, 60 s, ledger"] = DUMBBELL, {
        "bottleneck.rate": "622Mbps", "bottleneck.delay": "149.9ms", "duration": "60s",
        "flow.count": 10, "flow.variant": "cubic", "telemetry.every": 0, **LEDGER,
    }  # fmt: skip
    found["200 users' CVE, 300 s"] = CVE, {}
    found["200 users' CVE, 300 s, reports 1:100, ledger"] = CVE, {"telemetry.every": 100, **LEDGER}
    return found


def measure(options: Options) -> Json:
    """Every set-up with its figures."""
    found = {}
    print(f"{'whole runs':32} {'packets':>10} {'engine s':>9} {'packets/s':>11} "
          f"{'events/s':>11} {'MB':>7}")  # fmt: skip
    for name, (scenario, settings) in setups(options.duration).items():
        found[name] = run = cost(scenario, settings, options.rounds)
        print(
            f"{name:32} {run['packets']:10,} {run['engine_s']:9.3f} {run['packets_per_s']:11,} "
            f"{run['events_per_s']:11,} {run['memory_mb']:7,.0f}",
            flush=True,
        )
    return found


SECTION = Section(
    "runs", measure, lambda found: {name: run["packets_per_s"] for name, run in found.items()}
)
