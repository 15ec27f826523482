"""A daemon ends at the first signal, in every state of its main thread."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from narrows.testbed.tools.switch.stop import Stop

SCRIPT = """
import random, signal, time
from narrows.testbed.tools.switch.stop import Stop

draw = random.Random(1)
signal.signal(signal.SIGALRM, lambda *_: stop.set())
end = time.monotonic() + 5
for tried in range(2000):
    if time.monotonic() > end and tried > 20:
        break
    stop = Stop()
    signal.setitimer(signal.ITIMER_REAL, draw.uniform(0.0001, 0.001))
    while not stop.wait(0.00002):
        pass
"""
"""A signal at a random place of a loop of short waits: 2,000 times, or for 5 s on busy cores."""


SHORTEST = """
from narrows.testbed.tools.switch.stop import Stop

for _ in range(20_000):
    assert not Stop().wait(1e-9)
"""
"""Waits whose time is often up before they begin."""


@pytest.mark.parametrize("script", [SCRIPT, SHORTEST])
def test_a_wait_ends_at_a_signal_and_at_its_time(script: str) -> None:
    """The first script hangs with `threading.Event` in place of `Stop`, the second with CPython
    3.11's `SimpleQueue`.
    """
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_each_thread_that_waits_goes_on() -> None:
    stop = Stop()
    with ThreadPoolExecutor(3) as threads:
        waits = [threads.submit(stop.wait, 60.0) for _ in range(3)]
        stop.set()
        stop.set()
        assert [wait.result(timeout=30) for wait in waits] == [True] * 3
    assert stop.wait(0.0) and stop.is_set()
