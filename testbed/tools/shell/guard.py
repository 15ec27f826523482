"""The guard of a shell: `python -m narrows.testbed.tools.shell.guard OWNER DIRECTORY`.

It waits for its standard input to end. Without a last word (`DONE`) the shell was killed: the guard
ends what still runs in the owner's namespaces, and removes them and the unfinished run's directory.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Final

from narrows.testbed.targets.linux.namespaces import (
    PlumbingError,
    kill,
    pids_of,
    remove_all_of,
    try_lock,
)

DONE: Final = b"done"
PATIENCE_S: Final = 3.0
"""How long processes may take to end after SIGTERM; a shell inside removes its own namespaces.
A killed shell may take as long to release its lock."""
POLL_S: Final = 0.1


def terminate_all_of(owner: int) -> None:
    """Asks the processes in an owner's namespaces to end, and waits a little for it."""
    asked = set[int]()
    deadline = time.monotonic() + PATIENCE_S
    while (left := pids_of(owner)) and time.monotonic() < deadline:
        for pid in set(left) - asked:
            kill(pid, signal.SIGTERM)
        asked |= set(left)
        time.sleep(POLL_S)


def lock_of_killed(owner: int) -> int | None:
    """Takes the lock that a killed shell held; returns None if a new owner keeps it.

    The kernel may close the shell's end of the pipe first, and release its lock a little later.
    """
    deadline = time.monotonic() + PATIENCE_S
    while (lock := try_lock(owner)) is None and time.monotonic() < deadline:
        time.sleep(POLL_S)
    return lock


def main() -> int:
    """Waits, and removes what is left."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    owner, directory = int(sys.argv[1]), Path(sys.argv[2])
    if sys.stdin.buffer.read() == DONE:
        return 0
    shutil.rmtree(directory, ignore_errors=True)
    lock = lock_of_killed(owner)
    if lock is None:
        # A new owner has removed them.
        return 0
    try:
        terminate_all_of(owner)
        remove_all_of(owner)
    except PlumbingError as error:
        print(f"narrows shell: {error}", file=sys.stderr)
        return 1
    finally:
        os.close(lock)
    return 0


if __name__ == "__main__":
    sys.exit(main())
