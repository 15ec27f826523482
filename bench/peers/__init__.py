"""The same dumbbell in ns-2, ns-3 and htsim, if they are installed.

Debian has `ns2` and `libns3-dev`. htsim (github.com/Broadcom/csg-htsim) is a library; the variable
`HTSIM_DUMBBELL` names a program made with it, with the arguments of `dumbbell.tcl`.

Senders with Reno's window rule, access links of ten times the bottleneck's rate, a base round trip
of 20 ms, no tracing. ns-2 and ns-3 have SACK; htsim has NewReno and acknowledges every packet. None
of them executes a P4 program or records tables.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
#: The program made with htsim.
HTSIM = "HTSIM_DUMBBELL"
#: ns-3's speed can be measured in a tenth of the time.
NS3_SHARE = 10
NS3 = "ns3-core ns3-network ns3-internet ns3-applications ns3-point-to-point ns3-traffic-control"


@dataclass(frozen=True)
class Dumbbell:
    """A dumbbell and its simulated time."""

    flows: int
    rate_bps: int
    queue_packets: int
    seconds: int

    def arguments(self) -> list[str]:
        """The arguments of `dumbbell.tcl`."""
        return [str(n) for n in (self.flows, self.rate_bps, self.queue_packets, self.seconds)]


Peer = Callable[[Dumbbell], dict[str, Any] | str]
"""Measures a simulator, or says why not."""


def timed(command: list[str]) -> tuple[int, float]:
    """A command's output as a number, and the CPU seconds that it took."""
    # In microseconds, where os.times() counts hundredths of a second.
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return int(done.stdout), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def rate(command: list[str], simulated_s: int) -> dict[str, Any]:
    """The cost of a peer's run."""
    packets, cpu_s = timed(command)
    return {
        "packets": packets,
        "simulated_s": simulated_s,
        "cpu_s": round(cpu_s, 3),
        "packets_per_s": round(packets / cpu_s),
    }


def ns2(dumbbell: Dumbbell) -> dict[str, Any] | str:
    """Measures ns-2, or says why not."""
    program = shutil.which("ns")
    if program is None:
        return "ns-2 is not installed (Debian: apt-get install ns2)"
    return rate([program, str(HERE / "dumbbell.tcl"), *dumbbell.arguments()], dumbbell.seconds)


def htsim(dumbbell: Dumbbell) -> dict[str, Any] | str:
    """Measures htsim, or says why not."""
    named = os.environ.get(HTSIM, "")
    program = shutil.which(named)
    if program is None:
        return f"htsim: {HTSIM} names no program: '{named}'"
    return rate([program, *dumbbell.arguments()], dumbbell.seconds)


@cache
def ns3_program() -> tuple[tempfile.TemporaryDirectory[str], Path] | str:
    """The folder of `dumbbell.cc`'s program, and the program; or why there is none."""
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
    folder = tempfile.TemporaryDirectory()
    program = Path(folder.name, "dumbbell")
    build = ["g++", "-O2", "-std=c++17", "-Wl,--as-needed", "-o", str(program)]
    source = str(HERE / "dumbbell.cc")
    made = subprocess.run([*build, source, *flags], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        return f"ns-3: {source} does not compile: {made.stderr.strip()[-300:]}"
    return folder, program


def ns3(dumbbell: Dumbbell) -> dict[str, Any] | str:
    """Measures ns-3 for a tenth of the simulated time, or says why not."""
    made = ns3_program()
    if isinstance(made, str):
        return made
    shorter = replace(dumbbell, seconds=dumbbell.seconds // NS3_SHARE)
    names = ("flows", "rate_bps", "queue_packets", "seconds")
    options = zip(names, shorter.arguments(), strict=True)
    command = [str(made[1]), *(f"--{name}={value}" for name, value in options)]
    return rate(command, shorter.seconds)
