"""The same dumbbells in our simulator, ns-2, ns-3 and htsim (`bench/peers/`), in turns.

Our time is that of the engine's thread, theirs that of the whole process.
"""

from __future__ import annotations

from typing import Any

from bench.measure import NO_TABLES, once
from bench.peers import Dumbbell, Peer, htsim, ns2, ns3
from bench.section import Json, Options, Section
from bench.sections.whole import DUMBBELL, LEDGER

Case = tuple[Dumbbell, dict[str, Any], dict[str, Peer]]

#: Each dumbbell, our tables, and the peers that run it. A bottleneck's queue is one
#: bandwidth-delay product.
CASES: dict[str, Case] = {
    "5 flows, 100 Mb/s, ledger": (
        Dumbbell(5, 100_000_000, 167, 60), LEDGER, {"ns-2": ns2, "ns-3": ns3, "htsim": htsim},
    ),
    "5 flows, 100 Mb/s": (Dumbbell(5, 100_000_000, 167, 60), NO_TABLES, {"htsim": htsim}),
    "1,000 flows, 1 Gb/s": (Dumbbell(1_000, 1_000_000_000, 1_651, 10), NO_TABLES, {"htsim": htsim}),
    "10,000 flows, 10 Gb/s": (
        Dumbbell(10_000, 10_000_000_000, 16_510, 3), NO_TABLES, {"htsim": htsim},
    ),
}  # fmt: skip


def settings(dumbbell: Dumbbell, tables: dict[str, Any]) -> dict[str, Any]:
    """Our scenario's settings."""
    return {
        "flow.count": dumbbell.flows, "bottleneck.rate": f"{dumbbell.rate_bps}bps",
        "access.rate": f"{10 * dumbbell.rate_bps}bps", "telemetry.every": 0,
        "bottleneck.queue": f"{dumbbell.queue_packets}packets",
        "duration": f"{dumbbell.seconds}s", **tables,
    }  # fmt: skip


def compare(case: Case, rounds: int) -> Json:
    """The best round of each simulator, and our speed-up. `None` for one that does not run."""
    dumbbell, tables, peers = case
    found: Json = {}
    absent = set[str]()
    for _ in range(rounds):
        results: Json = {"ours": once(DUMBBELL, settings(dumbbell, tables))}
        for name, peer in peers.items():
            if name in absent:
                continue
            result = peer(dumbbell)
            if isinstance(result, str):
                print(f"  {result}")
                absent.add(name)
            else:
                results[name] = result
        for name, result in results.items():
            found[name] = max(found.get(name, result), result, key=lambda run: run["packets_per_s"])
    ours = found["ours"]["packets_per_s"]
    for name in peers.keys() - absent:
        found[name]["ours_to_it"] = round(ours / found[name]["packets_per_s"], 2)
    return found | dict.fromkeys(absent)


def measure(options: Options) -> Json:
    """Every case: packets per second of each simulator, and our speed-up."""
    found = {}
    print(f"\n{'dumbbells':32} {'packets':>10} {'cpu s':>9} {'packets/s':>11} {'ours':>11}")
    for name, case in CASES.items():
        print(name)
        found[name] = compared = compare(case, options.rounds)
        for simulator, result in compared.items():
            if result is not None:
                cpu_s = result["engine_s" if simulator == "ours" else "cpu_s"]
                ratio = f"{result['ours_to_it']:10.2f}x" if simulator != "ours" else ""
                print(
                    f"  {simulator:30} {result['packets']:10,} {cpu_s:9.3f} "
                    f"{result['packets_per_s']:11,} {ratio}",
                    flush=True,
                )
    return found


SECTION = Section(
    "peers",
    measure,
    lambda found: {name: case["ours"]["packets_per_s"] for name, case in found.items()},
)
