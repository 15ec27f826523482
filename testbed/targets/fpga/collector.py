"""Receives a board's reports, and sees which frames the hosts send to it.

It is a process of its own, so that neither a loop of packets nor Python's lock delays it:
`python -m narrows.testbed.targets.fpga.collector INTERFACE DIRECTORY [PORT=INTERFACE ...]`. It
writes each report (64 bytes) to `reports`, and the first bytes of each frame that leaves by an
interface towards the board's port to `frames-PORT`. On standard output it says `{"port": n}`, its
UDP port, once it receives. It ends with its standard input, after what has arrived.
"""

from __future__ import annotations

import fcntl
import json
import selectors
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Final

from narrows.controller.errors import DriverError
from narrows.testbed.child_process import environment
from narrows.testbed.targets.bmv2.clock import attach_filter, packet_socket

REPORT_BYTES: Final = 64
FRAME_BYTES: Final = 64
"""The bytes of a frame that are kept: Ethernet, IPv4 and ports without options, and zeros."""
ROOM_BYTES: Final = 64 << 20
"""What the kernel holds of reports and frames before they are read."""
SIOCGIFADDR: Final = 0x8915
"""linux/sockios.h"""
SO_RCVBUFFORCE: Final = 33
"""asm-generic/socket.h"""
OUTGOING: Final = [(0x28, 0, 0, 0xFFFFF004), (0x15, 0, 1, 4), (0x06, 0, 0, FRAME_BYTES),
                   (0x06, 0, 0, 0)]  # fmt: skip
"""Frames that this machine sends: classic BPF with the packet's type (linux/filter.h)."""
PATIENCE_S: Final = 10.0


def ip_of(interface: str) -> str:
    """An interface's IPv4 address. Raises `DriverError` without one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        request = struct.pack("256s", interface.encode())
        try:
            found = fcntl.ioctl(asking.fileno(), SIOCGIFADDR, request)
        except OSError as error:
            what = f"{interface} has no IPv4 address ({error.strerror})"
            raise DriverError(f"{what}: ip address add 192.168.78.1/24 dev {interface}") from None
    return socket.inet_ntoa(found[20:24])


def mac_of(interface: str) -> int:
    """An interface's Ethernet address as a number."""
    text = Path(f"/sys/class/net/{interface}/address").read_text(encoding="ascii")
    return int(text.strip().replace(":", ""), 16)


@contextmanager
def collecting(interface: str, directory: Path, ports: Mapping[int, str]) -> Iterator[int]:
    """Collects during the context; gives the UDP port. `ports` are the interfaces towards the
    board's ports whose frames are to be seen. Raises `DriverError`.
    """
    named = [f"{port}={name}" for port, name in ports.items()]
    with (
        (directory / "errors").open("w+") as errors,
        subprocess.Popen(
            [sys.executable, "-m", __name__, interface, str(directory), *named],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
            env=environment(),
        ) as child,
    ):  # fmt: skip
        assert child.stdin and child.stdout
        try:
            line = child.stdout.readline()
            if not line:
                errors.seek(0)
                said = errors.read().strip().splitlines()
                raise DriverError(f"{interface}: no reports can be received: {said[-1:]}")
            yield json.loads(line)["port"]
        finally:
            with suppress(BrokenPipeError):
                child.stdin.close()
            try:
                child.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                child.kill()


def udp_socket(interface: str) -> socket.socket:
    """The socket of reports."""
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, interface.encode() + b"\0")
    made.bind((ip_of(interface), 0))
    return made


def frame_socket(interface: str) -> socket.socket:
    """The socket that sees the frames that this machine sends by an interface."""
    made = packet_socket(interface)
    attach_filter(made, OUTGOING)
    return made


def copy(source: socket.socket, to: IO[bytes], *, are_reports: bool) -> None:
    """Writes what has arrived. A datagram of another length is no report."""
    with suppress(BlockingIOError):
        while True:
            data = source.recv(2048)
            if not are_reports:
                data = data[:FRAME_BYTES].ljust(FRAME_BYTES, b"\0")
            if len(data) == REPORT_BYTES:
                to.write(data)


def main() -> int:
    """Runs the process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    interface, directory, *named = sys.argv[1:]
    with ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        reports = stack.enter_context(udp_socket(interface))
        sources = {reports: "reports"}
        for one in named:
            port, _, name = one.partition("=")
            sources[stack.enter_context(frame_socket(name))] = f"frames-{port}"
        files = dict[socket.socket, IO[bytes]]()
        for source, file in sources.items():
            with suppress(PermissionError):
                source.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, ROOM_BYTES)
            source.setblocking(False)
            files[source] = stack.enter_context((Path(directory) / file).open("wb"))
            selector.register(source, selectors.EVENT_READ)
        selector.register(sys.stdin, selectors.EVENT_READ)
        print(json.dumps({"port": reports.getsockname()[1]}), flush=True)
        is_over = False
        while not is_over:
            ready = {key.fileobj for key, _ in selector.select()}
            is_over = sys.stdin in ready
            for source, to in files.items():
                if source in ready or is_over:
                    copy(source, to, are_reports=source is reports)
                    to.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
