"""Measures the running machine, so that a real-time test can judge itself.

Such a test asserts what holds on any machine: order, conservation, arithmetic, and that a late run
is void. Figures are asserted within `judged` or `Machine.figures`. If the instrument reports that
the machine stalled meanwhile, they are meaningless and the test is skipped.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from narrows.testbed import engine

needs_dpdk = pytest.mark.skipif(
    engine.dpdk_version() is None, reason="needs libdpdk: narrows doctor"
)
STOOD_STILL_US = 20_000
"""If a loop did not poll for longer, it shows nothing about rates and delays."""
STOOD_STILL = f"the machine stood still for over {STOOD_STILL_US // 1000} ms during a measurement"

WATCH = """
import select, sys, time
longest, last = 0.0, time.monotonic()
print(flush=True)
while not select.select([sys.stdin], [], [], 0.001)[0]:
    now = time.monotonic()
    longest, last = max(longest, now - last), now
print(max(longest, time.monotonic() - last))
"""
"""Reads the clock every millisecond until its input ends; prints the longest gap."""


@contextmanager
def judged(*gaps_us: float) -> Iterator[None]:
    """Skips the test if an assertion within fails and a loop did not poll for long.

    Each loop's longest time between two looks tells.
    """
    try:
        yield
    except AssertionError as error:
        if max(gaps_us) > STOOD_STILL_US:
            print(f"{max(gaps_us):.0f} us: {error}")
            pytest.skip(STOOD_STILL)
        raise


def run_delay_us() -> float:
    """The total time that this process's threads have waited for a core; zero if the kernel does
    not count it.
    """
    counts = [path.read_text().split() for path in Path("/proc/self/task").glob("*/schedstat")]
    return sum(int(count[1]) for count in counts) / 1e3


class Machine:
    """How long a test was stalled, measured by a second process and by the kernel.

    The process detects a stall of the machine. A busy thread waits for a core longer than one that
    mostly sleeps; the kernel counts that time.
    """

    def __init__(self) -> None:
        self._watch = subprocess.Popen(
            [sys.executable, "-S", "-c", WATCH],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._watch.stdout
        self._watch.stdout.readline()
        self._longest_us: float | None = None
        self._began_us = run_delay_us()

    def longest_us(self) -> float:
        """Ends the second process; returns the longest stall that either measured."""
        if self._longest_us is None:
            waited_us = run_delay_us() - self._began_us
            printed, _ = self._watch.communicate()
            self._longest_us = max(float(printed) * 1e6, waited_us)
        return self._longest_us

    @contextmanager
    def figures(self) -> Iterator[None]:
        """Skips the test if an assertion within fails and the machine stalled."""
        longest_us = self.longest_us()
        with judged(longest_us):
            yield
