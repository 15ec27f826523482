"""A daemon ends at the first signal, in every state of its main thread."""

from __future__ import annotations

import subprocess
import sys

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


def test_a_signal_within_a_wait_stops_it() -> None:
    """The script hangs with `threading.Event` in place of `Stop`."""
    command = [sys.executable, "-c", SCRIPT]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
