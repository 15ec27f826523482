"""The program and the server: started, given signals, waited for."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Final

from narrows.testbed.targets.linux.namespaces import Namespace

FORWARDED: Final = frozenset(
    (
        signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1,
        signal.SIGUSR2, signal.SIGWINCH, signal.SIGCONT,
    )
)  # fmt: skip
"""The program receives these from the shell."""
ENDING: Final = frozenset((signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM))
"""Before the program runs, these end the shell itself."""
BY_KERNEL: Final = 0x80
"""`si_code` of a signal from the terminal (SI_KERNEL), which reaches the program as well."""
POLL_S: Final = 0.1
LISTENING: Final = "0A"
"""TCP_LISTEN in /proc/net/tcp."""
SERVER_PATIENCE_S: Final = 5.0
END_PATIENCE_S: Final = 2.0
"""How long a server may take to end after SIGTERM."""


class ServerError(Exception):
    """The server did not start."""


def hold_signals() -> None:
    """Keeps signals for `interrupted` and `wait`; all later threads keep them too."""
    signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED | {signal.SIGCHLD})


def interrupted() -> None:
    """Raises `KeyboardInterrupt` if this process was asked to end."""
    if signal.sigpending() & ENDING:
        while signal.sigtimedwait(ENDING, 0):
            pass
        raise KeyboardInterrupt


def start(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Starts the program with this process's terminal, and no signal held. Returns its id, once it
    has stopped itself, or ended.
    """
    pid = os.posix_spawnp(command[0], list(command), environment, setsigmask=())
    os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    return pid


def wait(pid: int, check: Callable[[], None], tell: Callable[[int, int], None]) -> int:
    """Has the program go on, and forwards signals to it until it ends; returns its exit code, or
    128 and the number of the signal that ended it. `check` is called from time to time; `tell`
    sends a process a signal.
    """
    tell(pid, signal.SIGCONT)
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            return 128 - code if code < 0 else code
        check()
        told = signal.sigtimedwait(FORWARDED | {signal.SIGCHLD}, POLL_S)
        if told is not None and told.si_signo != signal.SIGCHLD and told.si_code != BY_KERNEL:
            tell(pid, told.si_signo)


class Server:
    """The command at the far side, in a session of its own."""

    def __init__(
        self,
        command: Sequence[str],
        inside: Namespace,
        log: IO[bytes],
        tell: Callable[[int, int], None],
    ) -> None:
        self.inside = inside
        self._tell = tell
        self.process = subprocess.Popen(
            inside.command(*command),
            stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
            start_new_session=True, preexec_fn=release_signals,
        )  # fmt: skip

    def wait_until_ready(self) -> None:
        """Waits until it listens on a TCP or UDP port, or until a server that does neither had time
        to start. Raises `ServerError` if it ends.
        """
        deadline = time.monotonic() + SERVER_PATIENCE_S
        while time.monotonic() < deadline:
            interrupted()
            if (status := self.process.poll()) is not None:
                raise ServerError(f"ended with status {status} before the program began")
            if self.inside.call(listens):
                return
            time.sleep(0.01)

    def stop(self) -> None:
        """Ends it."""
        self._tell(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(END_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._tell(self.process.pid, signal.SIGKILL)
            self.process.wait()


def release_signals() -> None:
    """In a child: no signal is held."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def listens() -> bool:
    """Whether a socket in this thread's network namespace waits for peers."""
    for name in ("tcp", "tcp6", "udp", "udp6"):
        path = Path(f"/proc/thread-self/net/{name}")
        lines = path.read_text().splitlines()[1:] if path.exists() else []
        if any(name.startswith("udp") or line.split()[3] == LISTENING for line in lines):
            return True
    return False
