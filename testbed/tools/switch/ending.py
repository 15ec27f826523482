"""SIGINT and SIGTERM end the daemon in time, whatever it is doing."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable

from narrows.schema import budgets
from narrows.testbed.tools.switch.stop import Stop

MARGIN_S = 0.6
"""For the last words and the tables' ends."""
EXIT_S = 0.3
"""For the end of the process."""


def end_in_time(stop: Stop, last_words: Callable[[], None]) -> None:
    """From now on either signal sets `stop`; a process that is still there a little later says its
    last words, closes its tables and ends.

    The main thread may wait for a lock, or for a call that never ends. Any thread may keep Python's
    own lock. So a thread of the engine, which never takes that lock, learns of the signal: Python's
    handler in C writes to its pipe at once.
    """
    from narrows.testbed import engine

    closes_s = budgets.END_S - MARGIN_S
    tells, learns = engine.end_in_time(closes_s, budgets.END_S - EXIT_S)
    os.set_blocking(tells, False)
    signal.set_wakeup_fd(tells, warn_on_full_buffer=False)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    arguments = (learns, closes_s, stop, last_words)
    threading.Thread(target=watch, args=arguments, name="ending", daemon=True).start()


def watch(learns: int, patience_s: float, stop: Stop, last_words: Callable[[], None]) -> None:
    """Waits for a signal, then for the process to end; says the last words where it does not."""
    os.read(learns, 1)
    stop.set()
    time.sleep(patience_s)
    last_words()
