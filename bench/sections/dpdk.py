"""The data path on DPDK relative to the machine's limits without it, as ratios within one run.

Compares packets per second of the switch with those of a loop that only receives and sends
(`engine/benches/forward.rs`), on rings and on veths. On veths it also compares with `dpdk-testpmd`,
and with bmv2 if it is installed. Compares two workers with one, and the goodput of pairs of our
hosts through our switch on one core with iperf3 over a veth. Measures the lateness of packets from
our shaper and from the kernel's tbf. Parts that the machine lacks are named and omitted.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.measure import NO_TABLES
from bench.section import ROOT, Json, Options, Section, output
from bench.sections import bmv2, shapers, testpmd
from bench.sections.switch import BOTTLENECK, ROUTE, bmv2_rate
from bench.sections.whole import DUMBBELL
from narrows.testbed import engine
from narrows.testbed.targets.dpdk.setup import af_packet, free_hugepages_mib
from narrows.testbed.targets.linux.namespaces import Plumbing, PlumbingError, run

FORWARD = ("cargo", "bench", "--quiet", "-p", "narrows-engine", "--bench", "forward", "--")
PIPES = (*FORWARD[:-2], "pipelines", "--")
FORWARDERS = ("switch", "plain", "testpmd")
LENGTHS = (64, 1500)
#: The ways of packets in `pipelines`.
WAYS = {"across": "all cross", "oneway": "all cross one way", "back": "none crosses"}
#: The arguments of `forward`.
HUGEPAGES_MIB = 128
SECONDS = 2
#: Flows, and the packets in flight of each: the rings of cables hold 4,096 packets.
WINDOWS = {1: "1000packets", 1000: "2packets"}
#: Maximum number of streams of one iperf3; several iperf3 processes at once did not finish.
STREAMS = 128
HERE, THERE = "192.0.2.1", "192.0.2.2"


def devices(plumbing: Plumbing | None) -> dict[str, list[str]]:
    """The devices NEAR, IN, OUT and FAR of `forward`, by kind; rings need none."""
    if plumbing is None:
        return {"rings": []}
    ends = [end for name in ("near", "far") for end in plumbing.add_cable(name)]
    return {"rings": [], "veth": [af_packet(n, end) for n, end in enumerate(ends)]}


def forwarding(given: dict[str, list[str]], rounds: int) -> Json:
    """Packets per second of the switch and of the plain loop in alternation, the best of several
    rounds.
    """
    pages = {"": list[str]()}
    if free_hugepages_mib() >= HUGEPAGES_MIB:
        pages[", hugepages"] = ["hugepages"]
    else:
        print(f"hugepages: {HUGEPAGES_MIB} MiB are not free (sysctl -w vm.nr_hugepages=64)")
    if not testpmd.is_installed():
        print(f"{testpmd.COMMAND}: not installed (Debian's dpdk-dev)")
    print(f"\n{'forwarding, packets/s':32} {'switch':>12} {'plain':>12} {'testpmd':>12}   ratios")
    found: Json = {}
    for name, ports in given.items():
        for kind, more in pages.items():
            for length in LENGTHS:
                rows = [forwarded(length, ports, more) for _ in range(rounds)]
                best = {what: max(row[what] for row in rows) for what in rows[0]}
                row = f"{name}{kind}, {length} B"
                ratios = {what: best["switch"] / best[what] for what in list(best)[1:]}
                found[row] = best | {
                    f"to_{what}": round(ratio, 3) for what, ratio in ratios.items()
                }
                cells = [
                    f"{best[what]:12,.0f}" if what in best else " " * 12 for what in FORWARDERS
                ]
                shown = " ".join(f"{ratio:7.3f}" for ratio in ratios.values())
                print(f"{row:32} {' '.join(cells)} {shown}")
    return found


def forwarded(length: int, ports: list[str], more: list[str]) -> dict[str, float]:
    """One round: packets per second of each forwarder, and of testpmd if a process can feed it."""
    words = [str(length), *more]
    row = {what: float(output([*FORWARD, what, *words, *ports])) for what in ("switch", "plain")}
    if ports and testpmd.is_installed():
        near, inward, outward, far = ports
        feed = [*FORWARD, "feed", *words, near, far]
        row["testpmd"] = testpmd.rate(inward, outward, feed, hugepages=bool(more))
    return row


def on_two_cores(rounds: int) -> Json:
    """Packets per second of two workers and of one, on rings (`engine/benches/pipelines.rs`).

    Measured with all packets crossing between cores, from both or from one, and with none; the best
    of several alternating rounds.
    """
    print(f"\n{'two ports, packets/s':32} {'2 workers':>12} {'1 worker':>12} {'ratio':>7}")
    found: Json = {}
    for way, named in WAYS.items():
        for length in LENGTHS:
            best = dict.fromkeys((2, 1), 0.0)
            for _ in range(rounds):
                for workers in best:
                    printed = output([*PIPES, str(workers), str(length), way])
                    best[workers] = max(best[workers], float(printed))
            row, ratio = f"{named}, {length} B", best[2] / best[1]
            found[row] = {"two": best[2], "one": best[1], "ratio": round(ratio, 3)}
            print(f"{row:32} {best[2]:12,.0f} {best[1]:12,.0f} {ratio:7.3f}")
    return found


def beside_bmv2(forwarded: Json) -> Json | None:
    """bmv2's packets per second with the same program, and the speed-up of ours."""
    if bmv2.SWITCH is None or bmv2.CLI is None:
        print("simple_switch: it or its CLI is not installed (bench/sections/bmv2.py)")
        return None
    found: Json = {}
    for length in LENGTHS:
        theirs = bmv2_rate(BOTTLENECK, length, [ROUTE])
        if theirs is None:
            continue
        name = "veth" if f"veth, {length} B" in forwarded else "rings"
        ours = forwarded[f"{name}, {length} B"]["switch"]
        found[f"{length} B"] = {"packets_per_s": theirs, "ours_to_it": round(ours / theirs, 1)}
        print(f"{f'bmv2 file mode, {length} B':32} {theirs:12,.0f} {ours / theirs:20.1f}x")
    return found


def hosts(flows: int) -> float:
    """Goodput of pairs of our hosts through our switch on this machine, in Gb/s."""
    settings: Json = {
        "duration": f"{SECONDS}s", "flow.count": flows, "flow.window": WINDOWS[flows],
        "bottleneck.rate": "100Gbps", "bottleneck.delay": "10us", "bottleneck.queue": "4000packets",
        "access.rate": "100Gbps", "access.delay": "0s", "telemetry.every": 0, **NO_TABLES,
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as out:
        sets = [f"{key}={json.dumps(value)}" for key, value in settings.items()]
        # The run may be void: only the number of packets counts, not their times.
        ran = subprocess.run(
            [sys.executable, "-m", "narrows", "run", str(DUMBBELL), "--target", "dpdk",
             "--out", out, *(word for one in sets for word in ("--set", one))],
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
        summaries = list(Path(out).glob("*/*/summary.json"))
        if not summaries:
            raise RuntimeError(f"narrows run --target dpdk: {ran.stderr.strip()[-2000:]}")
        return float(json.loads(summaries[0].read_text())["aggregate_goodput_bps"]) / 1e9


def iperf3(plumbing: Plumbing, flows: int, *, offloads: bool) -> float:
    """Goodput of the kernel's TCP over a veth, in Gb/s."""
    number = 2 * (int(offloads) + 2 * (flows > 1))
    there, here = plumbing.add_switch(number, (1,)), plumbing.add_switch(number + 1, ())
    cable = there.outside[1]
    run("ip", "link", "set", cable, "netns", here.name)
    here.run("ip", "link", "set", cable, "up")
    for side, interface, address in ((here, cable, HERE), (there, "p1", THERE)):
        side.run("ip", "address", "add", f"{address}/24", "dev", interface)
        if offloads:
            words = [word for name in ("tx", "tso", "gso", "gro") for word in (name, "on")]
            side.run("ethtool", "-K", interface, *words)
    command = there.command("iperf3", "--one-off", "--forceflush", "--server")
    server = subprocess.Popen(command, stdout=subprocess.PIPE)
    try:
        assert server.stdout
        next(line for line in server.stdout if b"listening" in line)
        streams = ("--time", str(SECONDS), "--parallel", str(min(flows, STREAMS)))
        said = json.loads(here.run("iperf3", "--json", "--client", THERE, *streams))
    finally:
        server.kill()
        server.communicate()
    return float(said["end"]["sum_received"]["bits_per_second"]) / 1e9


def throughput(plumbing: Plumbing | None) -> Json:
    """Goodput of ours, and of iperf3 with wire-length segments and with 64 KiB ones, in Gb/s."""
    print(f"\n{'hosts, Gb/s':32} {'ours':>9} {'iperf3':>9} {'offloaded':>9} {'ratio':>7}")
    found: Json = {}
    for flows in WINDOWS:
        row: Json = {"gbps": round(hosts(flows), 3)}
        if plumbing and shutil.which("iperf3"):
            row["iperf3_gbps"] = round(iperf3(plumbing, flows, offloads=False), 3)
            row["iperf3_offloaded_gbps"] = round(iperf3(plumbing, flows, offloads=True), 3)
            row["ratio"] = round(row["gbps"] / row["iperf3_gbps"], 3)
        found[f"flows: {flows}"] = row
        cells = [row["gbps"], row.get("iperf3_gbps"), row.get("iperf3_offloaded_gbps")]
        shown = " ".join(f"{'-' if one is None else one:>9}" for one in cells)
        print(f"{f'flows: {flows}':32} {shown} {row.get('ratio', '-'):>7}")
    return found


def lateness(plumbing: Plumbing) -> Json:
    """Lateness of packets from our shaper and from the kernel's, in microseconds."""
    found = {"switch": shapers.ours(plumbing), "tbf": shapers.tbf(plumbing)}
    print(f"\n{'late by us':32} {'p50':>9} {'p99':>9} {'max':>9}")
    for mbps in shapers.RATES_MBPS:
        for name, late in found.items():
            one = late[mbps]
            cells = [f"{one[key]:9.1f}" for key in ("p50", "p99", "max")] if one else ["lost some"]
            print(f"{f'{name}, {mbps} Mb/s':32} {' '.join(cells)}")
    return {
        name: {f"{mbps} Mb/s": one for mbps, one in late.items()} for name, late in found.items()
    }


def measure(options: Options) -> Json:
    """Measures all parts, or says why not."""
    if engine.dpdk_version() is None:
        print("dpdk: not built in (narrows doctor)")
        return {}
    try:
        with Plumbing() as plumbing:
            return measured(options, plumbing)
    except PlumbingError as error:
        print(f"veths, tbf and iperf3: {error}")
        return measured(options, None)


def measured(options: Options, plumbing: Plumbing | None) -> Json:
    """The parts, those on veths with `plumbing`."""
    forwarded = forwarding(devices(plumbing), options.rounds)
    return {
        "forwarding": forwarded,
        "two_cores": on_two_cores(options.rounds),
        "simple_switch": beside_bmv2(forwarded),
        "hosts": throughput(plumbing),
        "late_us": lateness(plumbing) if plumbing else None,
    }


def rates(found: Json) -> dict[str, float]:
    """Packets per second of the switch."""
    return {row: one["switch"] for row, one in found.get("forwarding", {}).items()}


SECTION = Section("dpdk", measure, rates)
