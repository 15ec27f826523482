"""An end of a flow: a kernel socket, and its reports to the engine.

The engine (`hosts/src/sockets`) decides what to write and what to record; this module handles only
sockets. Constants are from the named Linux headers.
"""

from __future__ import annotations

import os
import select
import socket
import struct
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from narrows._engine import Sockets
    from narrows.schema.plan import FlowPlan


TCP_NOTSENT_LOWAT, TCP_INFO_BYTES = 25, 256
"""linux/tcp.h; larger than today's struct tcp_info."""
SO_TIMESTAMPING = 37
"""asm-generic/socket.h; also the type of the message that has the stamps."""
IP_RECVERR, IPV6_RECVERR = 11, 25
"""linux/in.h, linux/in6.h."""
RECVERR = ((socket.IPPROTO_IP, IP_RECVERR), (socket.IPPROTO_IPV6, IPV6_RECVERR))
TX_SOFTWARE, SOFTWARE, OPT_ID, OPT_TSONLY, OPT_ID_TCP = 1 << 1, 1 << 4, 1 << 7, 1 << 11, 1 << 16
"""linux/net_tstamp.h: SOF_TIMESTAMPING_..."""
SO_EE_ORIGIN_TIMESTAMPING, SCM_TSTAMP_SND = 4, 0
"""linux/errqueue.h: the origin of a message, and the type of a stamp at departure to the device."""
TIMESPEC, EXTENDED_ERROR = struct.Struct("=qq"), struct.Struct("=IBBBBII")
"""struct timespec, struct sock_extended_err (linux/errqueue.h)."""
UINT = struct.Struct("=I")

SND_MSS_AT, SND_CWND_AT = 16, 80
"""Offsets in struct tcp_info (linux/tcp.h)."""

UNSENT_BYTES = 1 << 14
"""Data that a socket buffers beyond its window: this many bytes or one window. It never runs out of
data, and writes leave soon.
"""
MOST_DATAGRAM_BYTES = (1 << 16) - 1
SEND_BYTES, RECEIVE_BYTES = 1 << 14, 1 << 18
CLOCK_READINGS = 3
"""Readings of two clocks, of which the closest is used, since the thread may lose its core between
them.
"""
PROBE_PS = 10**10
"""Interval at which the kernel is asked for a byte's departure time: 10 ms."""


class Connection:
    """An end of a flow: a socket and its registered events."""

    def __init__(self, driver: Loop, planned: FlowPlan, host: str, sock: socket.socket) -> None:
        self.driver, self.engine, self.socket = driver, driver.engine, sock
        self.flow: int = planned["flow"]["id"]
        self.host, self.peer = host, planned["to"]
        self.is_sender = host == planned["from"]
        self.origin: str = planned["from"]
        self.window_bytes: int | None = planned["flow"]["window_bytes"]
        self.has_messages = planned["flow"]["app"]["kind"] != "bulk"
        self.is_open = self.has_ended = False
        self.probed_ps = -PROBE_PS
        self.since_probe_bytes = 0
        self.mask, self.unsent_bytes = 0, UNSENT_BYTES
        sock.setblocking(False)

    def want(self, mask: int) -> None:
        """Registers for these events; with none, unregisters, since a closed socket is always
        ready.
        """
        epoll, number = self.driver.epoll, self.socket.fileno()
        if mask == self.mask:
            return
        if mask == 0:
            epoll.unregister(number)
            del self.driver.connections[number]
        elif self.mask == 0:
            epoll.register(number, mask)
            self.driver.connections[number] = self
        else:
            epoll.modify(number, mask)
        self.mask = mask

    def handle_events(self, events: int) -> None:
        """Handles events from epoll. Raises `OSError`."""
        try:
            if events & select.EPOLLERR:
                self.read_departures()
                if error := self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                    raise OSError(error, os.strerror(error))
            if not self.is_open and events & select.EPOLLOUT:
                self.open()
            if events & select.EPOLLIN:
                self.receive()
            if self.is_open and events & select.EPOLLOUT:
                self.send()
            if self.is_sender:
                self.sample()
        except OSError:
            self.engine.handle_reset(self.host, self.flow)
            self.close()

    def open(self) -> None:
        """Handles an established connection."""
        self.is_open = True
        flags = SOFTWARE | OPT_ID | OPT_TSONLY
        try:
            self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, flags | OPT_ID_TCP)
        except OSError:
            # Before Linux 6.2. Nothing was written yet, so byte numbers are the same.
            self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, flags)
        self.engine.handle_open(self.driver.now_ps(), self.host, self.flow)
        self.send()

    def send(self) -> None:
        """Writes as much as the socket accepts."""
        wanted = 0 if self.has_ended else select.EPOLLIN
        now_ps = self.driver.now_ps()
        while data := self.engine.poll_send(now_ps, self.host, self.flow, SEND_BYTES):
            try:
                self.give(data)
            except BlockingIOError:
                wanted |= select.EPOLLOUT
                break
        if self.engine.must_shut_down(self.host, self.flow):
            self.socket.shutdown(socket.SHUT_WR)
            self.engine.handle_shut_down(self.host, self.flow)
        self.want(wanted)

    def give(self, data: bytes) -> None:
        """Sends some of it, and occasionally requests its last byte's departure time."""
        now_ps = self.driver.now_ps()
        if self.is_sender and now_ps - self.probed_ps >= PROBE_PS:
            self.probe(now_ps, data)
            return
        taken = self.socket.sendmsg([data])
        self.since_probe_bytes += taken
        self.engine.handle_sent(now_ps, self.host, self.flow, taken)

    def probe(self, now_ps: int, data: bytes) -> None:
        """Sends the first part of it and requests the departure time of that part's last byte.

        The kernel stores the number of that byte with its buffer, and stamps a segment of this
        buffer. MSG_EOR makes the byte the buffer's last. Without it, Linux 6.10 and later may move
        the byte, but not its number, to the previous buffer (`tcp_grow_skb`). A retransmission of
        the buffer's rest then counts as the byte's (`tcp_gso_tstamp`). If the kernel accepts a
        write in part, it stamps only the retransmission (`tcp_tx_timestamp` after `tcp_push`).
        """
        self.probed_ps = now_ps
        part = data[: self.probe_bytes()]
        ask = (socket.SOL_SOCKET, SO_TIMESTAMPING, UINT.pack(TX_SOFTWARE))
        taken = self.socket.sendmsg([part], [ask], socket.MSG_EOR)
        sent = self.engine.handle_sent(now_ps, self.host, self.flow, taken)
        if taken == len(part):
            self.since_probe_bytes = 0
            self.watch(sent - 1)
        else:
            self.since_probe_bytes += taken

    def probe_bytes(self) -> int:
        """Bytes to send for a probe: up to the end of a full segment.

        MSG_EOR then does not create a short segment.
        """
        segment_bytes = self.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG)
        return segment_bytes - self.since_probe_bytes % segment_bytes

    def watch(self, number: int) -> None:
        """Makes the receiver record the arrival of this byte."""
        self.engine.watch(self.peer, self.flow, number)

    def number_of(self, key: int) -> int:
        """The lower 32 bits of the byte number, from the kernel's key of a departure."""
        return key

    def read_departures(self) -> None:
        """Reads departure times from the socket's error queue."""
        with suppress(BlockingIOError):
            while True:
                _, messages, _, _ = self.socket.recvmsg(0, 512, socket.MSG_ERRQUEUE)
                found = {(level, kind): data for level, kind, data in messages}
                stamps = found.get((socket.SOL_SOCKET, SO_TIMESTAMPING))
                error = next((found[kind] for kind in RECVERR if kind in found), None)
                if stamps and error:
                    seconds, nanoseconds = TIMESPEC.unpack_from(stamps)
                    _, origin, _, _, _, kind, number = EXTENDED_ERROR.unpack_from(error)
                    if (origin, kind) != (SO_EE_ORIGIN_TIMESTAMPING, SCM_TSTAMP_SND):
                        continue
                    key = self.number_of(number)
                    at_ps = self.driver.wall_ps(seconds * 10**9 + nanoseconds)
                    self.engine.handle_departure(at_ps, self.peer, self.flow, key)

    def receive(self) -> None:
        """Reads received data."""
        for _ in range(8):
            try:
                data = self.socket.recv(RECEIVE_BYTES)
            except BlockingIOError:
                break
            self.handle_arrived(data)
            self.clamp()
            if not data:
                self.has_ended = True
                self.send()
                return
            if len(data) < RECEIVE_BYTES:
                break
        if self.has_messages:
            # Other applications of the host may answer or forward it.
            self.driver.send_ready(self.host)

    def handle_arrived(self, data: bytes) -> None:
        """Reports the data read, after all earlier departures."""
        now_ps = self.driver.now_ps()
        if not self.is_sender:
            sender = self.driver.ends[self.origin, self.flow]
            if sender.is_open:
                sender.read_departures()
        self.engine.handle_arrived(now_ps, self.host, self.flow, data)

    def clamp(self) -> None:
        """Limits the receive window to the flow's; Linux resets it after a segment."""
        option = (socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP)
        if self.window_bytes and self.socket.getsockopt(*option) != self.window_bytes:
            self.socket.setsockopt(*option, self.window_bytes)

    def sample(self) -> None:
        """Reports the kernel's state."""
        if self.is_open:
            info = self.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_INFO_BYTES)
            self.engine.handle_info(self.driver.now_ps(), self.host, self.flow, info)
            [cwnd], [mss_bytes] = (UINT.unpack_from(info, at) for at in (SND_CWND_AT, SND_MSS_AT))
            window_bytes = cwnd * mss_bytes
            if not self.unsent_bytes / 2 <= window_bytes <= self.unsent_bytes:
                self.unsent_bytes = max(2 * window_bytes, UNSENT_BYTES)
                self.socket.setsockopt(socket.IPPROTO_TCP, TCP_NOTSENT_LOWAT, self.unsent_bytes)

    def close(self) -> None:
        """Closes the end."""
        self.want(0)
        self.is_open = False
        self.socket.close()


class Datagrams(Connection):
    """An end of a datagram flow: open from its start, without kernel state to report."""

    def __init__(self, driver: Loop, planned: FlowPlan, host: str, sock: socket.socket) -> None:
        super().__init__(driver, planned, host, sock)
        self.watched = list[int]()
        """The kernel's keys count only the datagrams with a requested stamp."""

    def watch(self, number: int) -> None:
        """Makes the receiver record the arrival of this datagram."""
        self.watched.append(number)
        super().watch(number)

    def probe_bytes(self) -> int:
        """The whole datagram."""
        return MOST_DATAGRAM_BYTES

    def number_of(self, key: int) -> int:
        """The lower 32 bits of the datagram's number."""
        return self.watched[key] & 0xFFFF_FFFF

    def receive(self) -> None:
        """Reads received datagrams."""
        with suppress(BlockingIOError):
            while True:
                self.handle_arrived(self.socket.recv(RECEIVE_BYTES))

    def sample(self) -> None:
        """Does nothing: datagrams have neither window nor round trip."""


class Loop(ABC):
    """The interface of the loop that serves all sockets of a run."""

    engine: Sockets
    epoll: select.epoll
    connections: dict[int, Connection]
    """By file descriptor, from when they are registered."""
    ends: dict[tuple[str, int], Connection]
    """By host and flow."""
    began_ns = 0

    @abstractmethod
    def send_ready(self, host: str) -> None:
        """Lets every application of a host send its pending data."""

    def now_ps(self) -> int:
        """The run's time, by the clock of its data path."""
        return (time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) - self.began_ns) * 1000

    def wall_ps(self, wall_ns: int) -> int:
        """The run's time at this wall-clock time, assuming that the wall clock was not set."""

        def read() -> tuple[int, int]:
            before_ps, now_ns, after_ps = self.now_ps(), time.time_ns(), self.now_ps()
            return after_ps - before_ps, (before_ps + after_ps) // 2 - (now_ns - wall_ns) * 1000

        return min(read() for _ in range(CLOCK_READINGS))[1]
