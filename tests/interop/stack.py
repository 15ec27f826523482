"""Our TCP at one end of a veth, the kernel's at the other, and one loop for both.

The loop of `Pair.run_until` does everything. Frames pass through the port to our connections, and
the applications of both sides (`Ours`, `Theirs`) write their data and read what has arrived.
"""

from __future__ import annotations

import selectors
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, Self, cast

from narrows._engine import Connection
from narrows.schema.flow import FlowConfig
from narrows.testbed.targets.linux.namespaces import Plumbing
from tests.interop.port import Faults, Port, Tcp, now_ns

OUR_IP, THEIR_IP = "10.0.0.1", "10.0.0.2"
OUR_IPV6, THEIR_IPV6 = "fd00::1", "fd00::2"
OUR_MAC, THEIR_MAC = "02:00:00:00:00:01", "02:00:00:00:00:02"
CHUNK_BYTES = 65_536
PATIENCE_S = 15.0
SO_RCVBUFFORCE = 33
"""asm-generic/socket.h: a receive buffer beyond the machine's limit; for root."""


def flow(source: tuple[str, int], destination: tuple[str, int], **options: Any) -> FlowConfig:
    """A flow in the plan's words: Linux's profile unless told otherwise."""
    defaults = {"variant": "cubic", "recovery": "sack", "profile": "linux", "sack": True}
    planned = {
        "id": 1,
        "source": {"ip": source[0], "port": source[1]},
        "destination": {"ip": destination[0], "port": destination[1]},
        "app": {"kind": "bulk"},
        **defaults,
        **options,
    }
    return cast("FlowConfig", planned)


@dataclass
class Ours:
    """A connection of ours with its application."""

    connection: Connection
    to_write: bytearray = field(default_factory=bytearray)
    closes: bool = False
    """It closes when all data is written."""
    reads: bool = True
    received: bytearray = field(default_factory=bytearray)

    def work(self) -> None:
        if self.connection.state in ("SYN-SENT", "SYN-RECEIVED", "LISTEN"):
            return
        if self.to_write and self.connection.unacked_bytes < 64 * CHUNK_BYTES:
            self.connection.write(bytes(self.to_write[: 16 * CHUNK_BYTES]))
            del self.to_write[: 16 * CHUNK_BYTES]
        if self.closes and not self.to_write:
            self.connection.close()
            self.closes = False
        if self.reads:
            self.received += self.connection.read()

    def figure(self, name: str) -> Any:
        """A state value of the connection now; None if it has none, such as a first ssthresh."""
        return self.connection.figures(now_ns() * 1000)[name]


@dataclass
class Theirs:
    """A socket of the kernel with its application."""

    socket: socket.socket
    to_write: bytearray = field(default_factory=bytearray)
    closes: bool = False
    """It shuts its sending direction down when all data is written."""
    reads: bool = True
    received: bytearray = field(default_factory=bytearray)
    has_closed: bool = False
    has_ended: bool = False
    """Whether the peer has closed and all data was read."""
    error: OSError | None = None

    def work(self) -> None:
        if self.error:
            return
        try:
            self._work()
        except (BlockingIOError, InterruptedError):
            pass
        except OSError as error:
            self.error = error

    def _work(self) -> None:
        if error := self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            raise OSError(error, "")
        while self.reads and not self.has_ended:
            try:
                data = self.socket.recv(CHUNK_BYTES)
            except BlockingIOError:
                break
            self.received += data
            self.has_ended = not data
        while self.to_write:
            del self.to_write[: self.socket.send(self.to_write[:CHUNK_BYTES])]
        if self.closes:
            self.socket.shutdown(socket.SHUT_WR)
            self.closes, self.has_closed = False, True

    def info(self) -> TcpInfo:
        return TcpInfo.of(self.socket)


@dataclass(frozen=True)
class TcpInfo:
    """The kernel's state of a connection: the first fields of linux/tcp.h's tcp_info."""

    state: int
    options: int
    snd_wscale: int
    rcv_wscale: int
    snd_mss: int
    unacked: int
    snd_cwnd: int
    retransmitted: int
    """Segments retransmitted since the connection began."""

    TIMESTAMPS, SACK, WSCALE, ECN = 1, 2, 4, 8
    TIME_WAIT, CLOSE = 6, 7

    @classmethod
    def of(cls, sock: socket.socket) -> TcpInfo:
        data = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
        words = struct.unpack_from("=24I", data, 8)
        return cls(
            state=data[0],
            options=data[5],
            snd_wscale=data[6] & 0xF,
            rcv_wscale=data[6] >> 4,
            snd_mss=words[2],
            unacked=words[4],
            snd_cwnd=words[18],
            retransmitted=words[23],
        )


class Pair:
    """A kernel in a namespace, our TCP on the other end of its veth."""

    def __init__(
        self,
        plumbing: Plumbing,
        faults: Faults | None = None,
        seed: int = 1,
        ip_version: Literal[4, 6] = 4,
    ) -> None:
        by_version = {4: (OUR_IP, THEIR_IP), 6: (OUR_IPV6, THEIR_IPV6)}
        self.our_ip, self.their_ip = by_version[ip_version]
        self._family = socket.AF_INET if ip_version == 4 else socket.AF_INET6
        self.host = plumbing.add_host("kernel", self.their_ip, THEIR_MAC, OUR_MAC)
        self.port = Port(self.host.outside, faults or Faults(), seed, self._handle_frame)
        self.ours: dict[tuple[int, int], Ours] = {}
        self.listeners: dict[int, dict[str, Any]] = {}
        self.accepted: list[Ours] = []
        self.others: list[Theirs] = []
        self.on_step: list[Callable[[], None]] = []
        """Another task of the loop, at least once a millisecond."""
        self._next_port = 40_000
        self._selector = selectors.DefaultSelector()
        self._selector.register(self.port.socket, selectors.EVENT_READ)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for theirs in self.others:
            # Closes with a reset, so that no socket remains to send further data.
            linger = struct.pack("ii", 1, 0)
            theirs.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            theirs.socket.close()
        self.port.socket.close()
        self._selector.close()

    # Our side.

    def connect(self, port: int, **options: Any) -> Ours:
        """Connects from our side to a port of the kernel."""
        self._next_port += 1
        config = flow((self.our_ip, self._next_port), (self.their_ip, port), **options)
        connection = Connection(config, True, (OUR_MAC, THEIR_MAC), self._next_port)
        return self._add(self._next_port, port, connection)

    def listen(self, port: int, **options: Any) -> None:
        """We accept connections to a port, with these options."""
        self.listeners[port] = options

    def _add(self, our_port: int, their_port: int, connection: Connection) -> Ours:
        ours = self.ours[our_port, their_port] = Ours(connection)
        self._transmit(ours)
        return ours

    def _accept(self, tcp: Tcp) -> Ours:
        config = flow(
            (self.their_ip, tcp.source_port), (self.our_ip, tcp.port), **self.listeners[tcp.port]
        )
        connection = Connection(config, False, (OUR_MAC, THEIR_MAC), tcp.source_port)
        ours = self._add(tcp.port, tcp.source_port, connection)
        self.accepted.append(ours)
        return ours

    def _handle_frame(self, frame: bytes) -> None:
        tcp = Tcp.of(frame)
        ours = self.ours.get((tcp.port, tcp.source_port))
        if ours is None and tcp.port in self.listeners and tcp.flags == Tcp.SYN:
            ours = self._accept(tcp)
        if ours:
            ours.connection.handle_frame(now_ns() * 1000, frame)
            self._transmit(ours)

    def _transmit(self, ours: Ours) -> None:
        while frame := ours.connection.poll_transmit(now_ns() * 1000):
            self.port.send(frame)

    # The kernel's side.

    def their_socket(self) -> socket.socket:
        sock = self.host.socket(family=self._family)
        sock.setblocking(False)
        return sock

    def their_connect(self, port: int, sock: socket.socket | None = None) -> Theirs:
        """Connects from the kernel to a port of ours."""
        sock = sock or self.their_socket()
        with suppress(BlockingIOError):
            sock.connect((self.our_ip, port))
        return self._add_theirs(sock)

    def their_listener(self, port: int, buffer_bytes: int | None = None) -> socket.socket:
        """A listening socket of the kernel.

        With `buffer_bytes` its connections have receive buffers of that size. Otherwise the kernel
        tunes them by the reading speed, which depends on the machine's load.
        """
        sock = self.their_socket()
        if buffer_bytes is not None:
            sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, buffer_bytes)
        sock.bind((self.their_ip, port))
        sock.listen()
        return sock

    def their_accept(self, listener: socket.socket) -> Theirs:
        """The kernel's end of the next incoming connection."""
        accepted: list[socket.socket] = []

        def try_accept() -> bool:
            with suppress(BlockingIOError):
                accepted.append(listener.accept()[0])
            return bool(accepted)

        self.run_until(try_accept)
        listener.close()
        accepted[0].setblocking(False)
        return self._add_theirs(accepted[0])

    def _add_theirs(self, sock: socket.socket) -> Theirs:
        self.others.append(Theirs(sock))
        self._selector.register(sock, selectors.EVENT_READ)
        return self.others[-1]

    def forget(self, theirs: Theirs) -> None:
        """The kernel's application closes its socket."""
        self.others.remove(theirs)
        self._selector.unregister(theirs.socket)
        theirs.socket.close()

    # Both.

    def established(
        self,
        we_connect: bool,
        port: int = 5001,
        their_buffer_bytes: int | None = None,
        **options: Any,
    ) -> tuple[Ours, Theirs]:
        """Both ends of a new connection; the kernel's has this buffer if we connect."""
        if we_connect:
            listener = self.their_listener(port, their_buffer_bytes)
            ours = self.connect(port, **options)
            theirs = self.their_accept(listener)
        else:
            self.listen(port, **options)
            theirs = self.their_connect(port)
            self.run_until(lambda: bool(self.accepted))
            ours = self.accepted[-1]
        self.run_until(lambda: ours.connection.state == "ESTABLISHED")
        return ours, theirs

    def run_until(self, condition: Callable[[], bool], patience_s: float = PATIENCE_S) -> None:
        """Runs the loop until `condition` holds; fails if it does not in time."""
        if not self.runs_for(patience_s, condition):
            states = [ours.connection.state for ours in self.ours.values()]
            raise AssertionError(f"{patience_s} s have passed; our states are {states}")

    def runs_for(self, seconds: float, condition: Callable[[], bool] = lambda: False) -> bool:
        """Runs the loop for this long, or until `condition` holds; returns whether it does."""
        end_ns = now_ns() + int(seconds * 1e9)
        self._step(now_ns())
        while now_ns() < end_ns:
            if condition():
                return True
            self._step(end_ns)
        return condition()

    def _step(self, end_ns: int) -> None:
        due = [end_ns]
        for ours in self.ours.values():
            timeout_ps = ours.connection.poll_timeout()
            if timeout_ps is not None:
                due.append(timeout_ps // 1000)
        if (next_ns := self.port.next_ns()) is not None:
            due.append(next_ns)
        # Whether the kernel's socket can be written to is checked every millisecond.
        if self.on_step or any(theirs.to_write or theirs.closes for theirs in self.others):
            due.append(now_ns() + 1_000_000)
        self._selector.select(max(0.0, (min(due) - now_ns()) / 1e9))
        self.port.work()
        for ours in list(self.ours.values()):
            timeout_ps = ours.connection.poll_timeout()
            if timeout_ps is not None and timeout_ps <= now_ns() * 1000:
                ours.connection.handle_timeout(now_ns() * 1000)
            ours.work()
            self._transmit(ours)
        for theirs in self.others:
            theirs.work()
        for work in self.on_step:
            work()
