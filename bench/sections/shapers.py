"""Lateness of packets from a shaper: our switch on veths and the kernel's tbf, by the same stamps.

A packet socket sends frames of one length at three times the shaper's rate, so that a stalled
sender does not empty the queue. The kernel stamps the frames on output. After the first quarter,
the n-th frame is due n transmission times after the first. The earliest frame relative to this
schedule has error zero.
"""

from __future__ import annotations

import json
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.section import ROOT, output
from bench.sections.switch import BOTTLENECK, frame
from narrows.schema.summary import LatenessSummary
from narrows.testbed.targets.bmv2.clock import SO_TIMESTAMPNS, packet_socket
from narrows.testbed.targets.ledger_from_reports import quantiles
from narrows.testbed.targets.linux.namespaces import Plumbing, run

LENGTH = 1250
COUNT = 1000
FIRST = COUNT // 4
OVERLOAD = 3
RATES_MBPS = (10, 100)
SO_RCVBUFFORCE, RECEIVE_BYTES = 33, 1 << 24
QUIET_S = 0.5
TICKS_HZ = 250
"""The bucket holds the bytes of one kernel tick (tc-tbf(8), `burst`)."""
FORWARD = "NarrowsIngress.forward"
#: The frames' destination is 10.0.2.1.
ROUTE = {
    "table": f"{FORWARD}.ipv4_lpm",
    "matches": {"hdr.ipv4.dst_addr": {"lpm": ["0x0a000201", 32]}},
    "action": f"{FORWARD}.route",
    "params": {"port": "2", "src_mac": "0x020000000001", "dst_mac": "0x020000000002"},
}
P4INFO = BOTTLENECK.with_suffix(".p4info.txtpb")


def late_us(into: str, out_of: str, rate_bps: int) -> LatenessSummary | None:
    """Lateness of frames on output; None if some are lost."""
    spacing_ns = 8 * LENGTH * 1e9 / rate_bps
    packet = frame(LENGTH)
    with packet_socket(out_of) as sink, packet_socket(into) as source:
        sink.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BYTES)
        sink.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        begun_ns = time.perf_counter_ns()
        for number in range(COUNT):
            while time.perf_counter_ns() - begun_ns < number * spacing_ns / OVERLOAD:
                time.sleep(min(spacing_ns / 1e10, 1e-4))
            source.send(packet)
        sink.settimeout(QUIET_S + COUNT * spacing_ns / 1e9)
        stamps = list[int]()
        while len(stamps) < COUNT:
            try:
                got, ancillary, _, _ = sink.recvmsg(2048, 64)
            except TimeoutError:
                return None
            if len(got) == LENGTH:
                stamps += [
                    seconds * 10**9 + ns
                    for _, kind, data in ancillary
                    if kind == SO_TIMESTAMPNS
                    for seconds, ns in [struct.unpack("@qq", data)]
                ]
    after = [at - number * spacing_ns for number, at in enumerate(stamps)][FIRST:]
    return quantiles([(at - min(after)) / 1000 for at in after])


def tbf(plumbing: Plumbing) -> dict[int, LatenessSummary | None]:
    """The kernel's lateness, by rate in Mb/s."""
    near, far = plumbing.add_cable("tbf")
    found = {}
    for mbps in RATES_MBPS:
        burst = max(LENGTH, mbps * 10**6 // 8 // TICKS_HZ)
        bucket = ["rate", f"{mbps}mbit", "burst", str(burst), "limit", str(COUNT * LENGTH)]
        run("tc", "qdisc", "replace", "dev", near, "root", "tbf", *bucket)
        found[mbps] = late_us(near, far, mbps * 10**6)
    return found


def ours(plumbing: Plumbing) -> dict[int, LatenessSummary | None]:
    """The lateness of `narrows switch`."""
    (into, port1), (out_of, port2) = (plumbing.add_cable(name) for name in ("in", "out"))
    found = {}
    for mbps in RATES_MBPS:
        shaped = ("--rate", f"2={mbps}Mbps", "--queue", f"2={COUNT}packets")
        with switch("-i", f"1@{port1}", "-i", f"2@{port2}", *shaped) as address:
            route(address)
            found[mbps] = late_us(into, out_of, mbps * 10**6)
    return found


@contextmanager
def switch(*arguments: str) -> Iterator[str]:
    """A `narrows switch` without a program; its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "narrows", "switch", "--no-p4",
         "--grpc-server-addr", "127.0.0.1:0", *arguments],
        cwd=ROOT, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout
        lines = (line for line in process.stdout if " controllers at " in line)
        yield next(lines).rpartition(" at ")[2].strip()
    finally:
        process.terminate()
        process.communicate(timeout=20)


def route(address: str) -> None:
    """Pushes the bottleneck's program with the frames' route."""
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder, "state.json")
        state.write_text(json.dumps({"entries": [ROUTE]}))
        controller = [sys.executable, "-m", "narrows.controller", "--address", address]
        program = ["--p4info", str(P4INFO), "--json", str(BOTTLENECK)]
        output([*controller, *program, "push", "--state", str(state)])
