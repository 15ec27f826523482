"""The guard of a shell: `python -m narrows.testbed.tools.shell.guard OWNER DIRECTORY`.

The shell gives up its privileges before the program runs, and the guard keeps them. Its standard
input has a request of the shell on each line (`Request`). It touches nothing but the owner's
namespaces and the shell's children. At the last one (`DONE`) it removes the namespaces, and ends
what still runs in them. An input that ends without it means that the shell was killed: then the
unfinished run's directory goes, too. A lab has a guard as well.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from narrows.testbed.child_process import environment
from narrows.testbed.targets.linux import checks
from narrows.testbed.targets.linux.namespaces import (
    PlumbingError,
    host_namespace,
    kill,
    pids_of,
    remove_all_of,
    try_lock,
)

MODULE: Final = "narrows.testbed.tools.shell.guard"
DONE: Final = "done"
SIGNAL: Final = "signal"
"""With a process that the shell has started, and a signal's number."""
EXCESSES: Final = "excesses"
"""With names of hosts; answered by a line: what they dropped or queued (`checks.excesses`)."""
Request = list[Any]
"""One of the words above and its arguments, as JSON."""
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
            # A program that has not begun is stopped.
            kill(pid, signal.SIGCONT)
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
    """Serves the shell, waits, and removes what is left."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    owner, directory = int(sys.argv[1]), Path(sys.argv[2])
    for line in sys.stdin:
        if not line.endswith("\n"):
            # The shell was killed while it wrote.
            break
        request: Request = json.loads(line)
        if request[0] == DONE:
            # The shell still has the lock.
            return removed(owner)
        do(owner, request)
    shutil.rmtree(directory, ignore_errors=True)
    lock = lock_of_killed(owner)
    if lock is None:
        # A new owner has removed them.
        return 0
    try:
        return removed(owner)
    finally:
        os.close(lock)


def do(owner: int, request: Request) -> None:
    """Does what the shell asks."""
    match request:
        case [kind, int(pid), int(number)] if kind == SIGNAL:
            if parent_of(pid) == os.getppid():
                kill(pid, signal.Signals(number))
        case [kind, *names] if kind == EXCESSES:
            hosts = {str(name): host_namespace(owner, str(name)) for name in names}
            try:
                found = checks.excesses(hosts)
            except PlumbingError as error:
                found = [str(error)]
            print(json.dumps(found), flush=True)


def parent_of(pid: int) -> int | None:
    """The parent of a process (proc_pid_stat(5)); None if it has ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    return int(text.rpartition(")")[2].split()[1])


def removed(owner: int) -> int:
    """Removes an owner's namespaces, and ends what still runs in them; returns the exit code."""
    try:
        terminate_all_of(owner)
        remove_all_of(owner)
    except PlumbingError as error:
        print(f"narrows shell: {error}", file=sys.stderr)
        return 1
    return 0


class Guard:
    """The shell's handle of its guard."""

    def __init__(self, owner: int, directory: Path) -> None:
        command = [sys.executable, "-m", MODULE, str(owner), str(directory)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=environment(), start_new_session=True,
        )  # fmt: skip

    def signal(self, pid: int, number: int) -> None:
        """Sends a signal to a process that this one has started."""
        self._ask([SIGNAL, pid, number])

    def excesses(self, hosts: Iterable[str]) -> list[str]:
        """What these hosts dropped or queued. Raises `PlumbingError`."""
        self._ask([EXCESSES, *hosts])
        assert self._process.stdout is not None
        answer = self._process.stdout.readline()
        if not answer:
            raise PlumbingError("the guard of this shell has ended")
        found: list[str] = json.loads(answer)
        return found

    def end(self) -> None:
        """Has it remove the namespaces. Raises `PlumbingError`."""
        self._ask([DONE])
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        if self._process.wait() != 0:
            raise PlumbingError("the guard of this shell could not remove its namespaces")

    def _ask(self, request: Request) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise PlumbingError("the guard of this shell has ended") from None


if __name__ == "__main__":
    sys.exit(main())
