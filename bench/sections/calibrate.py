"""The machine's speed: a reference loop for all other figures.

Rates differ between machines, and on one machine over time; the ratio of a rate to this loop's rate
differs little. The loop uses Python's arithmetic and a dictionary. Like the engine, it has many
branches and stays in the first-level cache.
"""

from __future__ import annotations

import time

STEPS = 300_000
ROUNDS = 7


def steps_per_s() -> float:
    """Steps of the loop per second of CPU time, the fastest of several rounds."""
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
