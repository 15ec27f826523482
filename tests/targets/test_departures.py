"""The kernel's departure events and their effects, without a kernel."""

from __future__ import annotations

import socket
import struct
from types import SimpleNamespace
from typing import Any

import pytest

from narrows.testbed.targets.linux import sockets
from narrows.testbed.targets.linux.sockets import Connection, Datagrams

PLANNED: Any = {
    "from": "a",
    "to": "b",
    "flow": {"id": 1, "window_bytes": None, "app": {"kind": "bulk"}},
}
SEGMENT_BYTES = 1000


class Kernel:
    """A socket that accepts this many bytes of each write, and reports the events it is given."""

    def __init__(self, *room_bytes: int) -> None:
        self.room_bytes = list(room_bytes)
        self.writes = list[tuple[int, bool, int]]()
        """The number of bytes taken, whether their departure was requested, and the flags."""
        self.errors = list[bytes]()

    def setblocking(self, _: bool) -> None:
        """It never blocks."""

    def getsockopt(self, level: int, option: int) -> int:
        """The segment's length."""
        assert (level, option) == (socket.IPPROTO_TCP, socket.TCP_MAXSEG)
        return SEGMENT_BYTES

    def sendmsg(self, parts: list[bytes], options: Any = (), flags: int = 0) -> int:
        """Accepts the bytes that it has room for."""
        taken = min(len(parts[0]), self.room_bytes.pop(0))
        self.writes.append((taken, bool(options), flags))
        return taken

    def recvmsg(self, *_: int) -> tuple[bytes, list[tuple[int, int, bytes]], int, None]:
        """The next message of the error queue, at one second."""
        if not self.errors:
            raise BlockingIOError
        stamps = (socket.SOL_SOCKET, sockets.SO_TIMESTAMPING, struct.pack("=6q", 1, 0, 0, 0, 0, 0))
        error = (socket.IPPROTO_IP, sockets.IP_RECVERR, self.errors.pop(0))
        return b"", [stamps, error], 0, None


class Engine:
    """Counts the bytes sent, and records the watched sockets and the departures."""

    def __init__(self) -> None:
        self.sent = 0
        self.said = list[tuple[Any, ...]]()

    def handle_sent(self, _now_ps: int, _host: str, _flow: int, taken: int) -> int:
        """So many bytes or datagrams in all."""
        self.sent += taken
        return self.sent

    def watch(self, host: str, flow: int, number: int) -> None:
        """Notes it."""
        self.said.append(("watch", host, flow, number))

    def handle_departure(self, at_ps: int, host: str, flow: int, key: int) -> None:
        """Notes it."""
        self.said.append(("departure", at_ps, host, flow, key))

    def handle_arrived(self, now_ps: int, host: str, flow: int, data: bytes) -> None:
        """Notes it."""
        self.said.append(("arrived", host, flow, len(data)))


def driver() -> Any:
    """A driver with its own clock."""
    made = SimpleNamespace(engine=Engine(), ends={}, at_ps=0)
    made.now_ps = lambda: made.at_ps
    made.wall_ps = lambda wall_ns: wall_ns * 1000
    return made


def sender(kernel: Any, kind: type[Connection] = Connection) -> Connection:
    """The sending end of the flow."""
    return kind(driver(), PLANNED, "a", kernel)


def said(connection: Connection) -> list[tuple[Any, ...]]:
    """The calls that the connection's engine noted."""
    assert isinstance(connection.engine, Engine)
    return connection.engine.said


def told(key: int, *, origin: int = 4, kind: int = 0) -> bytes:
    """The error queue's message about a departure (struct sock_extended_err)."""
    return struct.pack("=IBBBBII", 42, origin, 0, 0, 0, kind, key)


def test_a_probe_ends_a_segment_and_is_the_last_of_its_buffer() -> None:
    kernel = Kernel(9999, 1234, 9999)
    connection = sender(kernel)
    for at_ms in (0, 5, 10):
        connection.driver.at_ps = at_ms * 10**9  # type: ignore[attr-defined]
        connection.give(bytes(5000))
    # After the first probe 1,234 bytes: 766 make the next segment full.
    eor = socket.MSG_EOR
    assert kernel.writes == [(1000, True, eor), (1234, False, 0), (766, True, eor)]
    assert said(connection) == [("watch", "b", 1, 999), ("watch", "b", 1, 2999)]


def test_a_short_message_is_a_probe_as_it_is() -> None:
    kernel = Kernel(9999)
    sender(kernel).give(bytes(200))
    assert kernel.writes == [(200, True, socket.MSG_EOR)]


def test_a_write_taken_in_part_is_no_probe() -> None:
    """The kernel stamps only the retransmission of its last byte."""
    kernel = Kernel(600, 9999)
    connection = sender(kernel)
    connection.give(bytes(5000))
    connection.driver.at_ps = 10**10  # type: ignore[attr-defined]
    connection.give(bytes(5000))
    assert [taken for taken, _, _ in kernel.writes] == [600, 400]
    assert said(connection) == [("watch", "b", 1, 999)]


@pytest.mark.parametrize(
    ("message", "is_departure"),
    [
        (told(999), True),
        (told(999, kind=1), False),
        (told(999, kind=2), False),
        (told(999, origin=2), False),
    ],
    ids=["left", "queued", "acknowledged", "ICMP"],
)
def test_only_a_departure_to_the_device_is_one(message: bytes, *, is_departure: bool) -> None:
    kernel = Kernel()
    kernel.errors = [message]
    connection = sender(kernel)
    connection.read_departures()
    expected = [("departure", 10**12, "b", 1, 999)]
    assert said(connection) == (expected if is_departure else [])


def test_departures_are_told_before_what_they_brought() -> None:
    """They were there before, in epoll's order; later ones are of a retransmission."""
    kernel = Kernel()
    kernel.errors = [told(999), told(999)]
    first = sender(kernel)
    first.is_open = True
    first.driver.ends["a", 1] = first
    receiver = Connection(first.driver, PLANNED, "b", Kernel())  # type: ignore[arg-type]
    receiver.handle_arrived(bytes(1000))
    departures = [("departure", 10**12, "b", 1, 999)] * 2
    assert said(first) == [*departures, ("arrived", "b", 1, 1000)]


def test_a_datagram_is_a_probe_as_a_whole() -> None:
    kernel = Kernel(9999)
    connection = sender(kernel, Datagrams)
    connection.give(bytes(1472))
    assert kernel.writes == [(1472, True, socket.MSG_EOR)]
