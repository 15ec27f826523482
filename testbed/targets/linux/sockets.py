"""Drives real sockets by a plan's applications, and tells the engine what they do.

One loop on one thread has every socket of the run, senders' and receivers', each in the namespace
of its host. What to write and when, what a message is, and what goes into which table is the
engine's (`hosts/src/sockets`); this knows sockets only. Constants are Linux's, from the headers
named beside them.
"""

from __future__ import annotations

import errno
import os
import select
import socket
import struct
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from narrows.testbed.targets.linux import settings, variants
from narrows.testbed.targets.linux.hosts import LinuxHosts
from narrows.testbed.targets.linux.namespaces import Namespace

Json = dict[str, Any]

TCP_NOTSENT_LOWAT, TCP_INFO_BYTES = 25, 256
"""linux/tcp.h; room for more than today's struct tcp_info."""
SO_RCVBUFFORCE, SO_TIMESTAMPING = 33, 37
"""asm-generic/socket.h; the latter is also the type of the message that has the stamps."""
IP_RECVERR = 11
"""linux/in.h."""
TX_SOFTWARE, SOFTWARE, OPT_ID, OPT_TSONLY, OPT_ID_TCP = 1 << 1, 1 << 4, 1 << 7, 1 << 11, 1 << 16
"""linux/net_tstamp.h: SOF_TIMESTAMPING_..."""
SO_EE_ORIGIN_TIMESTAMPING, SCM_TSTAMP_SND = 4, 0
"""linux/errqueue.h: whose message it is, and that it tells of a departure to the device."""
TIMESPEC, EXTENDED_ERROR = struct.Struct("=qq"), struct.Struct("=IBBBBII")
"""struct timespec, struct sock_extended_err (linux/errqueue.h)."""
UINT = struct.Struct("=I")

SND_MSS_AT, SND_CWND_AT = 16, 80
"""Where struct tcp_info has them (linux/tcp.h)."""

UNSENT_BYTES = 1 << 14
"""What a socket holds beyond what its window admits: so much or another window, so that it is never
short of data and what is written leaves soon."""
MOST_DATAGRAM_BYTES = (1 << 16) - 1
SEND_BYTES, RECEIVE_BYTES = 1 << 14, 1 << 18
BUFFERS, LEAST_BUFFER_BYTES = 4, 1 << 20
"""A buffer in windows, and at least: short segments take several times their length of it."""
PERIOD_PS = 10**9
"""How often each sender's state is sampled besides at every event: 1 ms, or ..."""
PERIOD_PER_FLOW_PS = 10**8
"""... 0.1 ms for each flow: a tenth of a core at most."""
CLOCK_READINGS = 3
"""Of so many readings of two clocks the closest counts: the thread may lose its core between."""
PROBE_PS = 10**10
"""How often the kernel is asked for the time at which a byte leaves: every 10 ms."""
PRIORITY = -10
"""The thread's nice value."""


class Connection:
    """An end of a flow: a socket, and what it is registered for."""

    def __init__(self, driver: Driver, planned: Json, host: str, sock: socket.socket) -> None:
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
        """Waits for these events, if any: a socket that has ended would tell of it for ever."""
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
        """What epoll said."""
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
        """The connection is established."""
        self.is_open = True
        flags = SOFTWARE | OPT_ID | OPT_TSONLY
        try:
            self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, flags | OPT_ID_TCP)
        except OSError:
            # Before Linux 6.2; nothing was written yet, so bytes have the same numbers.
            self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, flags)
        self.engine.handle_open(self.driver.now_ps(), self.host, self.flow)
        self.send()

    def send(self) -> None:
        """Gives the socket what it takes."""
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
        """Sends some of it, now and then asking when its last byte leaves."""
        now_ps = self.driver.now_ps()
        if self.is_sender and now_ps - self.probed_ps >= PROBE_PS:
            self.probe(now_ps, data)
            return
        taken = self.socket.sendmsg([data])
        self.since_probe_bytes += taken
        self.engine.handle_sent(now_ps, self.host, self.flow, taken)

    def probe(self, now_ps: int, data: bytes) -> None:
        """Sends the first of it and asks when its last byte leaves.

        The kernel keeps the number of that byte with the buffer that has it, and stamps a segment
        of this buffer. MSG_EOR makes the byte the buffer's last. Otherwise Linux 6.10 and later may
        move the byte, not its number, to the buffer before (`tcp_grow_skb`), and a retransmission
        of the buffer's rest counts as the byte's (`tcp_gso_tstamp`). Of a write that the kernel
        takes in part it stamps the retransmission only (`tcp_tx_timestamp` after `tcp_push`).
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
        """How many bytes to send for a probe: up to the end of a full segment.

        So MSG_EOR makes no short segment where segments were full before.
        """
        segment_bytes = self.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG)
        return segment_bytes - self.since_probe_bytes % segment_bytes

    def watch(self, number: int) -> None:
        """The receiver times the byte of this number."""
        self.engine.watch(self.peer, self.flow, number)

    def number_of(self, key: int) -> int:
        """The lower half of the number that the kernel's key of a departure stands for."""
        return key

    def read_departures(self) -> None:
        """Reads when bytes left, from the socket's error queue."""
        with suppress(BlockingIOError):
            while True:
                _, messages, _, _ = self.socket.recvmsg(0, 512, socket.MSG_ERRQUEUE)
                found = {(level, kind): data for level, kind, data in messages}
                stamps = found.get((socket.SOL_SOCKET, SO_TIMESTAMPING))
                error = found.get((socket.IPPROTO_IP, IP_RECVERR))
                if stamps and error:
                    seconds, nanoseconds = TIMESPEC.unpack_from(stamps)
                    _, origin, _, _, _, kind, number = EXTENDED_ERROR.unpack_from(error)
                    if (origin, kind) != (SO_EE_ORIGIN_TIMESTAMPING, SCM_TSTAMP_SND):
                        continue
                    key = self.number_of(number)
                    at_ps = self.driver.wall_ps(seconds * 10**9 + nanoseconds)
                    self.engine.handle_departure(at_ps, self.peer, self.flow, key)

    def receive(self) -> None:
        """Reads what has come."""
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
            # Whoever of the host's applications answers, or sends on.
            self.driver.send_ready(self.host)

    def handle_arrived(self, data: bytes) -> None:
        """Tells what was read, after every departure that came before."""
        now_ps = self.driver.now_ps()
        if not self.is_sender:
            sender = self.driver.ends[self.origin, self.flow]
            if sender.is_open:
                sender.read_departures()
        self.engine.handle_arrived(now_ps, self.host, self.flow, data)

    def clamp(self) -> None:
        """Offers no more than the flow's window: Linux forgets that when it has seen a segment."""
        option = (socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP)
        if self.window_bytes and self.socket.getsockopt(*option) != self.window_bytes:
            self.socket.setsockopt(*option, self.window_bytes)

    def sample(self) -> None:
        """Tells what the kernel knows."""
        if self.is_open:
            info = self.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_INFO_BYTES)
            self.engine.handle_info(self.driver.now_ps(), self.host, self.flow, info)
            [cwnd], [mss_bytes] = (UINT.unpack_from(info, at) for at in (SND_CWND_AT, SND_MSS_AT))
            window_bytes = cwnd * mss_bytes
            if not self.unsent_bytes / 2 <= window_bytes <= self.unsent_bytes:
                self.unsent_bytes = max(2 * window_bytes, UNSENT_BYTES)
                self.socket.setsockopt(socket.IPPROTO_TCP, TCP_NOTSENT_LOWAT, self.unsent_bytes)

    def close(self) -> None:
        """Is no longer driven."""
        self.want(0)
        self.is_open = False
        self.socket.close()


class Datagrams(Connection):
    """An end of a flow of datagrams: open from its start, and told nothing by the kernel."""

    def __init__(self, driver: Driver, planned: Json, host: str, sock: socket.socket) -> None:
        super().__init__(driver, planned, host, sock)
        self.watched = list[int]()
        """The kernel's keys count the datagrams that it was asked about."""

    def watch(self, number: int) -> None:
        """The receiver times the datagram of this number."""
        self.watched.append(number)
        super().watch(number)

    def probe_bytes(self) -> int:
        """The whole datagram."""
        return MOST_DATAGRAM_BYTES

    def number_of(self, key: int) -> int:
        """The lower half of the number of the datagram."""
        return self.watched[key] & 0xFFFF_FFFF

    def receive(self) -> None:
        """Reads the datagrams that have come."""
        with suppress(BlockingIOError):
            while True:
                self.handle_arrived(self.socket.recv(RECEIVE_BYTES))

    def sample(self) -> None:
        """Nothing: there is no window and no round trip."""


class Driver:
    """Every socket of a run."""

    def __init__(self, plan: Json, hosts: LinuxHosts, engine: Any) -> None:
        self.engine = engine
        """`narrows._engine.Sockets`."""
        self.namespaces: Mapping[str, Namespace] = hosts.namespaces
        self.congestion = hosts.congestion
        self.epoll = select.epoll()
        self.connections = dict[int, Connection]()
        """By file descriptor, from when they are registered."""
        self.ends = dict[tuple[str, int], Connection]()
        self.listeners = dict[int, tuple[str, socket.socket]]()
        self.by_source = dict[tuple[str, str, int], Json]()
        """Flows by their receiving host, and their sender's address and port."""
        self.to_start = sorted(plan["flows"], key=lambda planned: planned["flow"]["start_ps"])
        self.began_ns = 0
        self.samples_ps = max(PERIOD_PS, PERIOD_PER_FLOW_PS * len(plan["flows"]))
        self.error: BaseException | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sockets")
        self.prepared = dict[tuple[str, int], socket.socket]()
        """Sockets of senders, and of receivers of datagrams, before their start."""
        for planned in plan["flows"]:
            self.listen(planned)
            self.prepare(planned)

    def __enter__(self) -> Driver:
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._stop.set()
        self._thread.join()
        for connection in self.ends.values():
            if connection.is_open:
                connection.close()
        for _, listener in self.listeners.values():
            listener.close()
        for sock in self.prepared.values():
            sock.close()
        self.epoll.close()

    def check(self) -> None:
        """Raises what ended the loop."""
        if self.error:
            raise self.error

    def now_ps(self) -> int:
        """The run's time, by the clock that its data path goes by."""
        return (time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) - self.began_ns) * 1000

    def wall_ps(self, wall_ns: int) -> int:
        """The run's time when the wall clock, which is not set meanwhile, said this."""

        def read() -> tuple[int, int]:
            before_ps, now_ns, after_ps = self.now_ps(), time.time_ns(), self.now_ps()
            return after_ps - before_ps, (before_ps + after_ps) // 2 - (now_ns - wall_ns) * 1000

        return min(read() for _ in range(CLOCK_READINGS))[1]

    def socket_for(self, planned: Json, host: str) -> socket.socket:
        """A socket of the flow in the host's namespace, with all that it asks for."""
        flow = planned["flow"]
        if settings.is_datagrams(flow):
            return self.datagram_socket(flow, host, is_sender=host == planned["from"])
        sock = self.namespaces[host].socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        name = self.congestion[flow["variant"]].encode()
        window_bytes = flow["window_bytes"]
        # Without a buffer of its own Linux would widen the window as it likes.
        buffer_bytes = window_bytes and max(BUFFERS * window_bytes, LEAST_BUFFER_BYTES)
        options: dict[tuple[int, int], int | bytes | None] = {
            (socket.SOL_SOCKET, SO_RCVBUFFORCE): buffer_bytes,
            (socket.IPPROTO_IP, socket.IP_TTL): flow["ttl"] if host == planned["from"] else None,
            (socket.IPPROTO_TCP, socket.TCP_CONGESTION): name,
            (socket.IPPROTO_TCP, socket.TCP_MAXSEG): settings.segment_option(flow),
            (socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP): window_bytes,
            (socket.IPPROTO_TCP, socket.TCP_NODELAY): 1 if flow["nagle"] is False else None,
            (socket.IPPROTO_TCP, TCP_NOTSENT_LOWAT): UNSENT_BYTES,
            **settings.keep_alive_options(flow),
        }
        for (level, option), value in options.items():
            if value is not None:
                sock.setsockopt(level, option, value)
        if (rate := settings.required_rate(flow)) is not None:
            variants.set_required_rate(sock, rate)
        return sock

    def datagram_socket(self, flow: Json, host: str, *, is_sender: bool) -> socket.socket:
        """A flow's socket between its two addresses: others may share either."""
        own, peer = flow["source"], flow["destination"]
        if not is_sender:
            own, peer = peer, own
        sock = self.namespaces[host].socket(socket.SOCK_DGRAM)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFERS * LEAST_BUFFER_BYTES)
        if is_sender and flow["ttl"] is not None:
            sock.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, flow["ttl"])
        sock.bind((own["ip"], own["port"]))
        sock.connect((peer["ip"], peer["port"]))
        return sock

    def listen(self, planned: Json) -> None:
        """The receiving end waits; flows to the same port share a listener."""
        flow, host = planned["flow"], planned["to"]
        source, end = flow["source"], flow["destination"]
        if settings.is_datagrams(flow):
            self.prepared[host, flow["id"]] = self.socket_for(planned, host)
            return
        self.by_source[host, source["ip"], source["port"]] = planned
        address = (end["ip"], end["port"])
        if any(sock.getsockname() == address for _, sock in self.listeners.values()):
            return
        sock = self.socket_for(planned, host)
        sock.setblocking(False)
        sock.bind(address)
        sock.listen(socket.SOMAXCONN)
        self.listeners[sock.fileno()] = host, sock
        self.epoll.register(sock.fileno(), select.EPOLLIN)

    def prepare(self, planned: Json) -> None:
        """The sending end's socket, before its start."""
        flow, host = planned["flow"], planned["from"]
        sock = self.socket_for(planned, host)
        if not settings.is_datagrams(flow):
            sock.bind((flow["source"]["ip"], flow["source"]["port"]))
        self.prepared[host, flow["id"]] = sock

    def accept(self, host: str, listener: socket.socket) -> None:
        """Takes the connections that have come."""
        with suppress(BlockingIOError):
            while True:
                sock, source = listener.accept()
                planned = self.by_source.get((host, *source))
                if planned is None:
                    sock.close()
                    continue
                connection = self.add(planned, host, sock)
                connection.open()

    def add(self, planned: Json, host: str, sock: socket.socket) -> Connection:
        """An end from now on."""
        kind = Datagrams if settings.is_datagrams(planned["flow"]) else Connection
        connection = kind(self, planned, host, sock)
        self.ends[host, connection.flow] = connection
        return connection

    def start_due(self, now_ps: int) -> None:
        """Flows whose time has come connect."""
        while self.to_start and self.to_start[0]["flow"]["start_ps"] <= now_ps:
            planned = self.to_start.pop(0)
            if settings.is_datagrams(planned["flow"]):
                self.open(planned)
            else:
                self.connect(planned)

    def open(self, planned: Json) -> None:
        """Both ends of a flow of datagrams are there, the receiver first."""
        for host in (planned["to"], planned["from"]):
            self.add(planned, host, self.prepared.pop((host, planned["flow"]["id"]))).open()

    def connect(self, planned: Json) -> None:
        """A flow's sender connects."""
        flow, host = planned["flow"], planned["from"]
        connection = self.add(planned, host, self.prepared.pop((host, flow["id"])))
        address = (flow["destination"]["ip"], flow["destination"]["port"])
        connection.want(select.EPOLLOUT | select.EPOLLIN)
        if (code := connection.socket.connect_ex(address)) not in (0, errno.EINPROGRESS):
            raise OSError(code, os.strerror(code), f"flow {flow['id']}: connect to {address}")

    def send_ready(self, host: str) -> None:
        """Every application of a host that has something for its socket sends it."""
        for flow in self.engine.poll_ready(host):
            self.ends[host, flow].send()

    def sample(self) -> None:
        """Tells what the kernel knows of every sender, and of receivers that write too."""
        for connection in self.ends.values():
            if connection.is_sender or connection.has_messages:
                connection.sample()

    def _run(self) -> None:
        try:
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), PRIORITY)
            while (began_ns := self.engine.began_ns) is None:
                if self._stop.wait(0.001):
                    return
            self.began_ns = began_ns
            self._loop()
        except Exception as error:
            self.error = error

    def _loop(self) -> None:
        hosts = list(self.namespaces)
        next_ps = 0
        while not self._stop.is_set():
            now_ps = self.now_ps()
            self.start_due(now_ps)
            deadlines = [next_ps]
            for host in hosts:
                due_ps = self.engine.poll_timeout(host)
                if due_ps is not None and due_ps <= now_ps:
                    self.engine.handle_timeout(now_ps, host)
                    self.send_ready(host)
                    due_ps = self.engine.poll_timeout(host)
                if due_ps is not None:
                    deadlines.append(due_ps)
            if now_ps >= next_ps:
                self.sample()
                next_ps = now_ps + self.samples_ps
                deadlines[0] = next_ps
            wait_s = max(0, min(deadlines) - self.now_ps()) / 1e12
            for number, events in self.epoll.poll(wait_s):
                if number in self.listeners:
                    self.accept(*self.listeners[number])
                elif connection := self.connections.get(number):
                    connection.handle_events(events)
