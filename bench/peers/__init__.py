"""The same dumbbell in ns-2 and ns-3, if they are installed (Debian: `ns2`, `libns3-dev`).

Five SACK senders with Reno's window rule, a bottleneck of 100 Mb/s with a queue of one
bandwidth-delay product, access links of ten times its rate, a base round trip of 20 ms, no tracing.
Neither executes a P4 program or records tables.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FLOWS, RATE_BPS, SECONDS = 5, 100_000_000, 60
#: 100 Mb/s times 20 ms in frames of 1,500 bytes.
QUEUE_PACKETS = 167
#: ns-3's speed can be measured in a tenth of the time.
NS3_SECONDS = 6
NS3 = "ns3-core ns3-network ns3-internet ns3-applications ns3-point-to-point ns3-traffic-control"


def timed(command: list[str]) -> tuple[int, float]:
    """A command's output as a number, and the CPU seconds that it took."""
    before = os.times()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    after = os.times()
    spent = after.children_user + after.children_system
    return int(done.stdout), spent - before.children_user - before.children_system


def rate(command: list[str], simulated_s: int) -> dict[str, Any]:
    """The cost of a peer's run."""
    packets, cpu_s = timed(command)
    return {
        "packets": packets,
        "simulated_s": simulated_s,
        "cpu_s": round(cpu_s, 3),
        "packets_per_s": round(packets / cpu_s),
    }


def ns2() -> dict[str, Any] | str:
    """Measures ns-2, or says why not."""
    program = shutil.which("ns")
    if program is None:
        return "ns-2 is not installed (Debian: apt-get install ns2)"
    arguments = [str(n) for n in (FLOWS, RATE_BPS, QUEUE_PACKETS, SECONDS)]
    return rate([program, str(HERE / "dumbbell.tcl"), *arguments], SECONDS)


def ns3() -> dict[str, Any] | str:
    """Measures ns-3, or says why not."""
    if shutil.which("g++") is None or shutil.which("pkg-config") is None:
        return "ns-3 needs g++ and pkg-config"
    found = subprocess.run(
        ["pkg-config", "--cflags", "--libs", *NS3.split()],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if found.returncode != 0:
        return "ns-3 is not installed (Debian: apt-get install libns3-dev)"
    # Debian's files refer to libraries by paths that only other packages install.
    flags = [f for f in found.stdout.split() if not f.startswith("/") or Path(f).exists()]
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "dumbbell")
        build = ["g++", "-O2", "-std=c++17", "-Wl,--as-needed", "-o", str(program)]
        source = str(HERE / "dumbbell.cc")
        made = subprocess.run([*build, source, *flags], capture_output=True, text=True, check=False)
        if made.returncode != 0:
            return f"ns-3: {source} does not compile: {made.stderr.strip()[-300:]}"
        options = {
            "flows": FLOWS, "rate_bps": RATE_BPS, "queue_packets": QUEUE_PACKETS,
            "seconds": NS3_SECONDS,
        }  # fmt: skip
        command = [str(program), *(f"--{name}={value}" for name, value in options.items())]
        return rate(command, NS3_SECONDS)
