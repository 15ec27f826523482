"""Runs the plan's applications on a run's sockets, and reports their activity to the engine.

One loop on one thread serves every socket, senders' and receivers', each in its host's namespace.
"""

from __future__ import annotations

import errno
import os
import select
import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from narrows.schema.units import PS_PER_S
from narrows.testbed.targets.linux import settings, variants
from narrows.testbed.targets.linux.hosts import LinuxHosts
from narrows.testbed.targets.linux.namespaces import Namespace
from narrows.testbed.targets.linux.sockets import (
    TCP_NOTSENT_LOWAT,
    UNSENT_BYTES,
    Connection,
    Datagrams,
    Loop,
)

if TYPE_CHECKING:
    from narrows._engine import Sockets
    from narrows.schema.flow import FlowConfig
    from narrows.schema.plan import FlowPlan, Plan


SO_RCVBUFFORCE = 33
"""asm-generic/socket.h"""
BUFFERS, LEAST_BUFFER_BYTES = 4, 1 << 20
"""Buffer size in windows, and its minimum; short segments occupy several times their length."""
PERIOD_PS = 10**9
"""Interval at which each sender's state is sampled, besides every event: 1 ms, or ..."""
PERIOD_PER_FLOW_PS = 10**8
"""... 0.1 ms per flow, which limits sampling to a tenth of a core."""
PRIORITY = -10
"""The thread's nice value."""


class Driver(Loop):
    """All sockets of a run."""

    def __init__(self, plan: Plan, hosts: LinuxHosts, engine: Sockets) -> None:
        self.engine = engine
        self.namespaces: Mapping[str, Namespace] = hosts.namespaces
        self.congestion = hosts.congestion
        self.epoll = select.epoll()
        self.connections = dict[int, Connection]()
        """By file descriptor, from when they are registered."""
        self.ends = dict[tuple[str, int], Connection]()
        self.listeners = dict[int, tuple[str, socket.socket]]()
        self.by_source: dict[tuple[str, str, int], FlowPlan] = {}
        """Flows by their receiving host, and their sender's address and port."""
        self.to_start = sorted(plan["flows"], key=lambda planned: planned["flow"]["start_ps"])
        self.began_ns = 0
        self.samples_ps = max(PERIOD_PS, PERIOD_PER_FLOW_PS * len(plan["flows"]))
        self.error: BaseException | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sockets")
        self.prepared = dict[tuple[str, int], socket.socket]()
        """Sockets of senders and of datagram receivers, before their start."""
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
        """Raises the error that ended the loop."""
        if self.error:
            raise self.error

    def socket_for(self, planned: FlowPlan, host: str) -> socket.socket:
        """Opens a socket of the flow in the host's namespace, with the flow's options."""
        flow = planned["flow"]
        if settings.is_datagrams(flow):
            return self.datagram_socket(flow, host, is_sender=host == planned["from"])
        sock = self.namespaces[host].socket(family=settings.family(flow))
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        name = self.congestion[flow["variant"]].encode()
        window_bytes = flow["window_bytes"]
        # Without a fixed buffer Linux would tune the window.
        buffer_bytes = window_bytes and max(BUFFERS * window_bytes, LEAST_BUFFER_BYTES)
        options: dict[tuple[int, int], int | bytes | None] = {
            (socket.SOL_SOCKET, SO_RCVBUFFORCE): buffer_bytes,
            **settings.ip_options(flow, is_sender=host == planned["from"]),
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

    def datagram_socket(self, flow: FlowConfig, host: str, *, is_sender: bool) -> socket.socket:
        """Binds a flow's socket to its addresses, which other flows may share."""
        own, peer = flow["source"], flow["destination"]
        if not is_sender:
            own, peer = peer, own
        sock = self.namespaces[host].socket(socket.SOCK_DGRAM, settings.family(flow))
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFERS * LEAST_BUFFER_BYTES)
        for (level, option), value in settings.ip_options(flow, is_sender=is_sender).items():
            if value is not None:
                sock.setsockopt(level, option, value)
        sock.bind((own["ip"], own["port"]))
        sock.connect((peer["ip"], peer["port"]))
        return sock

    def listen(self, planned: FlowPlan) -> None:
        """Opens the receiving end; flows to the same port share a listener."""
        flow, host = planned["flow"], planned["to"]
        source, end = flow["source"], flow["destination"]
        if settings.is_datagrams(flow):
            self.prepared[host, flow["id"]] = self.socket_for(planned, host)
            return
        self.by_source[host, source["ip"], source["port"]] = planned
        address = (end["ip"], end["port"])
        if any(sock.getsockname()[:2] == address for _, sock in self.listeners.values()):
            return
        sock = self.socket_for(planned, host)
        sock.setblocking(False)
        sock.bind(address)
        sock.listen(socket.SOMAXCONN)
        self.listeners[sock.fileno()] = host, sock
        self.epoll.register(sock.fileno(), select.EPOLLIN)

    def prepare(self, planned: FlowPlan) -> None:
        """Opens the sending end's socket, before its start."""
        flow, host = planned["flow"], planned["from"]
        sock = self.socket_for(planned, host)
        if not settings.is_datagrams(flow):
            sock.bind((flow["source"]["ip"], flow["source"]["port"]))
        self.prepared[host, flow["id"]] = sock

    def accept(self, host: str, listener: socket.socket) -> None:
        """Accepts new connections."""
        with suppress(BlockingIOError):
            while True:
                sock, source = listener.accept()
                planned = self.by_source.get((host, *source[:2]))
                if planned is None:
                    sock.close()
                    continue
                connection = self.add(planned, host, sock)
                connection.open()

    def add(self, planned: FlowPlan, host: str, sock: socket.socket) -> Connection:
        """Registers an end."""
        kind = Datagrams if settings.is_datagrams(planned["flow"]) else Connection
        connection = kind(self, planned, host, sock)
        self.ends[host, connection.flow] = connection
        return connection

    def start_due(self, now_ps: int) -> None:
        """Connects the flows that are due."""
        while self.to_start and self.to_start[0]["flow"]["start_ps"] <= now_ps:
            planned = self.to_start.pop(0)
            if settings.is_datagrams(planned["flow"]):
                self.open(planned)
            else:
                self.connect(planned)

    def open(self, planned: FlowPlan) -> None:
        """Opens both ends of a datagram flow, the receiver first."""
        for host in (planned["to"], planned["from"]):
            self.add(planned, host, self.prepared.pop((host, planned["flow"]["id"]))).open()

    def connect(self, planned: FlowPlan) -> None:
        """Connects a flow's sender. Raises `OSError`."""
        flow, host = planned["flow"], planned["from"]
        connection = self.add(planned, host, self.prepared.pop((host, flow["id"])))
        address = (flow["destination"]["ip"], flow["destination"]["port"])
        connection.want(select.EPOLLOUT | select.EPOLLIN)
        if (code := connection.socket.connect_ex(address)) not in (0, errno.EINPROGRESS):
            raise OSError(code, os.strerror(code), f"flow {flow['id']}: connect to {address}")

    def send_ready(self, host: str) -> None:
        """Lets every application of a host send its pending data."""
        for flow in self.engine.poll_ready(host):
            self.ends[host, flow].send()

    def sample(self) -> None:
        """Reports the kernel's state of every sender, and of receivers that also write."""
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
            wait_s = max(0, min(deadlines) - self.now_ps()) / PS_PER_S
            for number, events in self.epoll.poll(wait_s):
                if number in self.listeners:
                    self.accept(*self.listeners[number])
                elif connection := self.connections.get(number):
                    connection.handle_events(events)
