"""DPDK's `dpdk-testpmd` (Debian's `dpdk-dev`): packets per second between two devices.

It runs in its io mode, which receives a burst and sends it, on its own core. It counts the cycles
of polls that had packets (`--record-core-cycles`). Its figures are read and cleared many times; the
median counts, because other load disturbs only some of the spans.
"""

from __future__ import annotations

import re
import shutil
import statistics
import subprocess
import time
from collections.abc import Sequence
from typing import Final

COMMAND: Final = "dpdk-testpmd"
MEMORY_MIB: Final = 256
SPAN_S: Final = 0.005
#: The line that it prints when its ports are up.
READY: Final = "Done\n"
#: A line of testpmd's forwarding statistics.
ACCOUNT: Final = re.compile(r"CPU cycles/packet=(\S+) .* at (\d+) MHz")


def is_installed() -> bool:
    """Whether it is installed."""
    return shutil.which(COMMAND) is not None


def rate(inward: str, outward: str, feed: Sequence[str], *, hugepages: bool) -> float:
    """Packets per second from one device to the other, by its own cycles, while `feed` sends.

    Raises `RuntimeError` if it forwarded nothing.
    """
    memory = ["--in-memory"] if hugepages else ["--no-huge", "--no-shconf"]
    process = subprocess.Popen(
        ["stdbuf", "--output=L", COMMAND, "--lcores", "0,1", "--no-pci", "--no-telemetry",
         "-m", str(MEMORY_MIB), "--file-prefix", "narrows-testpmd", *memory,
         "--vdev", inward, "--vdev", outward, "--", "--interactive",
         "--forward-mode=io", "--record-core-cycles", "--no-lsc-interrupt",
         "--total-num-mbufs=16384"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    assert process.stdin and process.stdout
    begun = ""
    for line in process.stdout:
        begun += line
        if line == READY:
            break
    else:
        raise RuntimeError(f"{COMMAND} ended with {process.wait()}:\n{begun[-2000:]}")
    with subprocess.Popen(feed, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as feeder:
        process.stdin.write("start\n")
        while feeder.poll() is None:
            time.sleep(SPAN_S)
            process.stdin.write("show fwd stats all\nclear fwd stats all\n")
            process.stdin.flush()
    said, _ = process.communicate("stop\nquit\n", timeout=30)
    told = [(float(cycles), float(mhz) * 1e6) for cycles, mhz in ACCOUNT.findall(said)]
    spans = [clock_hz / cycles for cycles, clock_hz in told if cycles > 0]
    if not spans:
        raise RuntimeError(f"{COMMAND} forwarded nothing:\n{begun}{said[-2000:]}")
    return statistics.median(spans)
