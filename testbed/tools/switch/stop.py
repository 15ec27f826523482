"""A request to stop that a signal handler may make."""

from __future__ import annotations

import threading
from contextlib import suppress


class Stop:
    """Set once, by a signal handler or by any thread.

    `threading.Event` does not serve: its `set` takes a lock, and the interrupted thread may hold
    that lock in `wait`. The handler would wait for the thread that it interrupts, for ever. Here
    `set` only releases a lock. Nor does `queue.SimpleQueue`: in CPython 3.11 its `get` waits for
    ever if its time is up before it begins to wait.
    """

    def __init__(self) -> None:
        self._is_set = False
        self._until_set = threading.Lock()
        self._until_set.acquire()

    def set(self) -> None:
        """Requests the stop."""
        self._is_set = True
        self._release()

    def is_set(self) -> bool:
        """True from the first `set` on."""
        return self._is_set

    def wait(self, timeout_s: float) -> bool:
        """Waits for `set`, at most so long; true if it was called."""
        if not self._is_set and self._until_set.acquire(timeout=timeout_s):
            self._release()  # for other threads that wait
        return self._is_set

    def _release(self) -> None:
        with suppress(RuntimeError):  # it is released already
            self._until_set.release()
