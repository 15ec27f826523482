"""A request to stop that a signal handler may make."""

from __future__ import annotations

import queue
from contextlib import suppress


class Stop:
    """Set once, by a signal handler or by any thread.

    `threading.Event` does not serve: its `set` takes a lock, and the interrupted thread may hold
    that lock in `wait`. The handler would wait for the thread that it interrupts, for ever.
    `SimpleQueue.put` may interrupt itself and `get` (Python's documentation of `queue`).
    """

    def __init__(self) -> None:
        self._requests = queue.SimpleQueue[None]()
        self._is_set = False

    def set(self) -> None:
        """Requests the stop."""
        self._is_set = True
        self._requests.put(None)

    def is_set(self) -> bool:
        """True from the first `set` on."""
        return self._is_set

    def wait(self, timeout_s: float) -> bool:
        """Waits for `set`, at most so long; true if it was called."""
        if not self._is_set:
            with suppress(queue.Empty):
                self._requests.get(timeout=timeout_s)
        return self._is_set
