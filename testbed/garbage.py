"""Python's collector of garbage in our own processes."""

from __future__ import annotations

import atexit
import gc

THRESHOLDS = (50_000, 20, 50)
"""New objects between two collections, and collections of a generation between two of the next."""


def collect_seldom() -> None:
    """Makes collections rare. A plan of 10,000 flows has some million objects, and none is garbage.
    Python would look through them again and again, for two fifths of the time to make it.

    At exit Python would look through all objects again, several times. So they are frozen first.
    """
    gc.set_threshold(*THRESHOLDS)
    atexit.register(gc.freeze)
