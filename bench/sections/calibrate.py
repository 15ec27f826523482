"""The machine's speed: a reference loop for all other figures.

Results of two machines, or of one at two times, differ most in the machine; the ratio of a rate
to this loop's differs little. The loop is Python's own arithmetic and dictionary, as branchy and
as much in the first-level cache as the engine is.
"""

from __future__ import annotations

import time

STEPS = 300_000
ROUNDS = 7


def steps_per_s() -> float:
    """Steps of the loop per second of processor time, the fastest of several rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.thread_time()
        state, seen = 1, dict[int, int]()
        for _ in range(STEPS):
            # The multiplier of Lehmer's generator MINSTD.
            state = state * 48_271 % 2_147_483_647
            seen[state & 255] = state
        best = min(best, time.thread_time() - began)
    return STEPS / best
