"""The same dumbbell in our simulator, ns-2 and ns-3 (`bench/peers/`): five SACK flows, 100 Mb/s, 60
s.
"""

from __future__ import annotations

from bench import peers
from bench.measure import cost
from bench.section import Json, Options, Section
from bench.sections.whole import DUMBBELL, LEDGER

OURS = {
    "bottleneck.rate": "100Mbps", "access.rate": "1Gbps", "telemetry.every": 0,
    "bottleneck.queue": f"{peers.QUEUE_PACKETS}packets", "duration": f"{peers.SECONDS}s", **LEDGER,
}  # fmt: skip


def measure(options: Options) -> Json:
    """Packets per second of each, ours with its ledger, and our speed-up."""
    ours = cost(DUMBBELL, OURS, options.rounds)
    found: Json = {"ours": ours}
    print(f"\n{'the same dumbbell':32} {'packets':>10} {'cpu s':>9} {'packets/s':>11} {'ours':>11}")
    print(f"{'ours':32} {ours['packets']:10,} {ours['engine_s']:9.3f} {ours['packets_per_s']:11,}")
    for name, run in (("ns-2", peers.ns2), ("ns-3", peers.ns3)):
        result = run()
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


SECTION = Section("peers", measure, lambda found: {"ours": found["ours"]["packets_per_s"]})
