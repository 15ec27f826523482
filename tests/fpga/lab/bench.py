"""A lab without a board: the RTL of one by Verilator, in place of it, between two TAP interfaces.

The model runs 1,000 times slower than a board, so its line has 1 Mb/s. Its picoseconds are those of
the machine while that keeps up. All that a test asserts of times is by the model's clock.
"""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from narrows.testbed.targets.bmv2.clock import packet_socket
from narrows.testbed.targets.rtl.board_model import Slowed, board_model

SLOWED = Slowed(1000)
PATIENCE_S = 100.0
PACKET_OUTGOING = 4
"""linux/if_packet.h"""


def run(*command: str) -> str:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, (command, done.stderr[-2000:])
    return done.stdout


@dataclass(frozen=True)
class Bench:
    """A running model, and the two interfaces at its ports."""

    board: subprocess.Popen[str]
    interfaces: tuple[str, str]

    def lab(self, directory: Path, more: str = "") -> Path:
        """The lab's file."""
        path = directory / "lab.toml"
        senders, receivers = self.interfaces
        path.write_text(
            f'[switch]\nkind = "fpga"\n{more}\n'
            f'[port.senders]\nnic = "{senders}"\n[port.receivers]\nnic = "{receivers}"\n'
        )
        return path

    @contextmanager
    def silenced(self, when: Callable[[], bool]) -> Iterator[None]:
        """Stops the board once `when` says so, for the duration of the context. Its cables stay."""
        until = time.monotonic() + PATIENCE_S
        while not when() and time.monotonic() < until:
            time.sleep(0.05)
        self.board.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.board.send_signal(signal.SIGCONT)


@contextmanager
def bench() -> Iterator[Bench]:
    """Starts a model."""
    program = board_model(SLOWED)
    names = tuple(f"nfb{side}{os.getpid() % 100000}" for side in (0, 1))
    with ExitStack() as stack:
        # It ends with its standard input.
        board = stack.enter_context(
            subprocess.Popen(
                [program, *names], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        )
        assert board.stdin and board.stdout
        stack.callback(board.stdin.close)
        assert board.stdout.readline() == "ready\n"
        for name in names:
            run("sysctl", "-qw", f"net.ipv6.conf.{name}.disable_ipv6=1")
            run("ip", "link", "set", name, "up")
        run("ip", "address", "add", "192.168.78.1/24", "dev", names[0])
        yield Bench(board, (names[0], names[1]))


class Wire:
    """Sees the frames of IPv4 that come by an interface: their lengths, in order."""

    def __init__(self, interface: str) -> None:
        self.lengths = list[int]()
        self._socket = packet_socket(interface)
        self._socket.setsockopt(socket.SOL_SOCKET, 33, 16 << 20)
        self._socket.settimeout(0.1)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Wire:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        # The last frames are on their way to the socket.
        time.sleep(0.2)
        self._over.set()
        self._thread.join()
        self._socket.close()

    def _look(self) -> None:
        while not self._over.is_set():
            try:
                frame, (_, _, kind, *_) = self._socket.recvfrom(2048)
            except TimeoutError:
                continue
            [ether_type] = struct.unpack_from(">H", frame, 12)
            if kind != PACKET_OUTGOING and ether_type == 0x0800:
                self.lengths.append(len(frame))
