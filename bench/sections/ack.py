"""Cost of an ACK for a sender in nanoseconds, by variant and window (`hosts/benches/ack.rs`)."""

from __future__ import annotations

import json

from bench.section import Json, Options, Section, output


def measure(options: Options) -> Json:
    """The benchmark's document; prints a line per variant and per recovery."""
    command = ["cargo", "bench", "--quiet", "-p", "narrows-hosts", "--bench", "ack"]
    found: Json = json.loads(output([*command, "--", "--json"]))
    windows = list(next(iter(found["variants"].values())))
    head = " ".join(f"{int(window):10,}" for window in windows)
    print(f"\n{'ns an ACK, window in packets':32} {head}")
    for name, costs in found["variants"].items():
        print(f"{name:32} " + " ".join(f"{costs[window]['ack_ns']:10,.0f}" for window in windows))
    print(f"{'ns an ACK, every other lost':32} {head}")
    for name, costs in found["recoveries"].items():
        print(f"{name:32} " + " ".join(f"{costs[window]['half_ns']:10,.0f}" for window in windows))
    for share, costs in found["datagrams"]["tfrc"].items():
        report_ns, datagram_ns = costs["report_ns"], costs["datagram_ns"]
        print(f"tfrc, {share} lost: {report_ns:.0f} ns a report, {datagram_ns:.0f} a datagram")
    memory = found["memory"]
    print(f"bytes of an idle connection, both ends: {memory['idle_pair_bytes']:,}")
    return found


def rates(found: Json) -> dict[str, float]:
    """ACKs per second."""
    return {
        f"{name}, window of {window}": 1e9 / max(cost["ack_ns"], 1.0)
        for name, costs in found["variants"].items()
        for window, cost in costs.items()
    }


SECTION = Section("ack", measure, rates)
