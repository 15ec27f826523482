"""SIGINT and SIGTERM end the daemon in time, whatever it is doing."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable

from narrows.schema import budgets
from narrows.testbed.tools.switch.stop import Stop

MARGIN_S = 0.4
"""For the last words and the end of the process."""


def end_in_time(stop: Stop, last_words: Callable[[], None]) -> None:
    """From now on either signal sets `stop`; a process that is still there a little later says its
    last words and ends.

    The main thread may wait for a lock, or for a call that never ends, so another thread learns of
    the signal: Python's handler in C writes to its pipe at once.
    """
    learns, tells = os.pipe()
    os.set_blocking(tells, False)
    signal.set_wakeup_fd(tells, warn_on_full_buffer=False)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    arguments = (learns, stop, last_words)
    threading.Thread(target=watch, args=arguments, name="ending", daemon=True).start()


def watch(learns: int, stop: Stop, last_words: Callable[[], None]) -> None:
    """Waits for a signal, then for the process to end; ends it where it does not."""
    os.read(learns, 1)
    stop.set()
    time.sleep(budgets.END_S - MARGIN_S)
    try:
        last_words()
    finally:
        os._exit(0)
