"""iperf3 as the application. Its sockets are sampled like ours, through duplicated descriptors.

Each flow has a server in the receiver's namespace and a client in the sender's, with one stream on
the flow's ports. The kernel duplicates a process's socket for us (pidfd_getfd, Linux 5.6). Rows and
reports are therefore the same as for our applications, except for one-way delays. iperf3's control
connection also crosses the bottleneck but belongs to no flow. Bytes beyond a transfer's length
(whole blocks, a cookie of 37 bytes) count as delivered.
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from narrows.testbed.problems import Problem
from narrows.testbed.scenario.packets import ip_version
from narrows.testbed.targets.linux import settings
from narrows.testbed.targets.linux.driver import Driver
from narrows.testbed.targets.linux.hosts import LinuxHosts
from narrows.testbed.targets.linux.sockets import TCP_INFO_BYTES, Connection

if TYPE_CHECKING:
    from narrows._engine import Sockets
    from narrows.schema.plan import FlowPlan, Plan


PIDFD_GETFD = 438
"""The system call's number, the same on every architecture (asm-generic/unistd.h)."""
BYTES_RECEIVED_AT, BYTES_SENT_AT = 128, 200
"""Offsets in struct tcp_info; bytes_retrans follows the latter (linux/tcp.h)."""
U64 = struct.Struct("=Q")
LISTEN = "0A"
"""The state in /proc/net/tcp (net/tcp_states.h)."""
ENDLESS_S = 86_400


def problems(plan: Plan) -> Iterator[Problem]:
    """The parts of a plan that iperf3 does not support."""
    for planned in plan["flows"]:
        flow = planned["flow"]
        if flow["app"]["kind"] != "bulk":
            what = "is not supported by iperf3; expected bulk"
            yield Problem(f"flow {flow['id']}: app.kind", what, flow["app"]["kind"])
    servers = [(planned["to"], planned["flow"]["destination"]["port"]) for planned in plan["flows"]]
    if len(set(servers)) < len(servers):
        yield Problem(
            "dumbbell", "an iperf3 server serves one flow; expected a receiver for each flow"
        )


class Borrowed(Connection):
    """An end with a socket of another process, which we only observe."""

    def __init__(self, driver: Driver, planned: FlowPlan, host: str, sock: socket.socket) -> None:
        super().__init__(driver, planned, host, sock)
        self.counted_bytes = 0
        self.is_open = True
        driver.engine.handle_open(driver.now_ps(), self.host, self.flow)

    def sample(self) -> None:
        """Reports the kernel's state, and the bytes transferred so far."""
        info = self.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_INFO_BYTES)
        if self.is_sender:
            [sent_bytes] = U64.unpack_from(info, BYTES_SENT_AT)
            [again_bytes] = U64.unpack_from(info, BYTES_SENT_AT + U64.size)
            self.count(sent_bytes - again_bytes)
            self.engine.handle_info(self.driver.now_ps(), self.host, self.flow, info)
        else:
            self.count(*U64.unpack_from(info, BYTES_RECEIVED_AT))

    def count(self, total_bytes: int) -> None:
        """The number of bytes sent or received."""
        more, self.counted_bytes = total_bytes - self.counted_bytes, total_bytes
        if self.is_sender:
            now_ps = self.driver.now_ps()
            of_transfer = len(self.engine.poll_send(now_ps, self.host, self.flow, more))
            self.engine.handle_sent(now_ps, self.host, self.flow, of_transfer)
        elif more:
            self.engine.handle_arrived(self.driver.now_ps(), self.host, self.flow, bytes(more))


class Iperf3(Driver):
    """A driver with iperf3 as its applications."""

    def __init__(self, plan: Plan, hosts: LinuxHosts, engine: Sockets) -> None:
        self.processes = list[subprocess.Popen[bytes]]()
        self.awaited: list[tuple[FlowPlan, str, subprocess.Popen[bytes]]] = []
        """Ends that still wait for their sockets."""
        self.servers = dict[int, subprocess.Popen[bytes]]()
        """By flow."""
        self.clients: list[FlowPlan] = []
        """Flows that are due, whose servers do not listen yet."""
        super().__init__(plan, hosts, engine)

    def __exit__(self, *raised: object) -> None:
        super().__exit__(*raised)
        for process in self.processes:
            process.kill()
            process.wait()

    def listen(self, planned: FlowPlan) -> None:
        """A server of one test."""
        port = planned["flow"]["destination"]["port"]
        server = self.start(planned, planned["to"], "--server", "--one-off", "--port", str(port))
        self.servers[planned["flow"]["id"]] = server

    def prepare(self, planned: FlowPlan) -> None:
        """Does nothing: the client starts when it is due."""

    def connect(self, planned: FlowPlan) -> None:
        """A client, once its server listens; it ends when its connection is refused."""
        self.clients.append(planned)
        self.start_clients()

    def start_clients(self) -> None:
        """Starts the clients whose servers listen by now."""
        for planned in list(self.clients):
            flow = planned["flow"]
            if listens(self.servers[flow["id"]].pid, flow["destination"]["port"]):
                self.clients.remove(planned)
                self.start_client(planned)

    def start_client(self, planned: FlowPlan) -> None:
        """Starts a client."""
        flow = planned["flow"]
        source, end = flow["source"], flow["destination"]
        size = flow["app"].get("bytes")
        ends = ["--bytes", str(size)] if size else ["--time", str(ENDLESS_S)]
        options = {
            "--bind": source["ip"], "--cport": source["port"], "--port": end["port"],
            "--congestion": self.congestion[flow["variant"]],
            "--set-mss": settings.segment_option(flow), "--window": flow["window_bytes"],
        }  # fmt: skip
        words = [str(w) for pair in options.items() if pair[1] is not None for w in pair]
        self.start(planned, planned["from"], "--client", end["ip"], *ends, *words)

    def start(self, planned: FlowPlan, host: str, *words: str) -> subprocess.Popen[bytes]:
        """Runs iperf3 inside a host; it ends with the thread that started it."""
        version = f"-{ip_version(planned['flow'])}"
        command = self.namespaces[host].command(
            "setpriv", "--pdeathsig", "KILL", "iperf3", version, *words
        )
        null = subprocess.DEVNULL
        process = subprocess.Popen(command, stdin=null, stdout=null, stderr=null)
        self.processes.append(process)
        self.awaited.append((planned, host, process))
        return process

    def sample(self) -> None:
        """Starts clients, finds new sockets, and reports the kernel's state of each."""
        self.start_clients()
        for wanted in list(self.awaited):
            planned, host, process = wanted
            ends = [planned["flow"]["source"], planned["flow"]["destination"]]
            if host == planned["to"]:
                ends.reverse()
            addresses = [(end["ip"], end["port"]) for end in ends]
            if sock := borrow(process.pid, addresses):
                self.awaited.remove(wanted)
                self.ends[host, planned["flow"]["id"]] = Borrowed(self, planned, host, sock)
        for connection in self.ends.values():
            connection.sample()


class SocketRow(NamedTuple):
    """A TCP socket of a process's network namespace."""

    ports: tuple[int, int]
    """Its own and the peer's; a listener's peer has 0."""
    state: str
    inode: str


def sockets_of(pid: int) -> Iterator[SocketRow]:
    """The TCP sockets of a process's network namespace (proc_pid_net(5))."""
    for family in ("tcp", "tcp6"):
        with suppress(OSError):
            _, *lines = Path(f"/proc/{pid}/net/{family}").read_text().splitlines()
            for _, own, peer, state, _, _, _, _, _, inode, *_ in map(str.split, lines):
                own_port, peer_port = (int(end.rpartition(":")[2], 16) for end in (own, peer))
                yield SocketRow((own_port, peer_port), state, inode)


def listens(pid: int, port: int) -> bool:
    """True if a socket in a process's network namespace listens at this TCP port."""
    return any(row.ports[0] == port and row.state == LISTEN for row in sockets_of(pid))


def borrow(pid: int, addresses: list[tuple[str, int]]) -> socket.socket | None:
    """A duplicate of a process's socket between these two addresses; None if it has none now.

    It duplicates no other socket. A duplicate of iperf3's listener would keep its port in use while
    iperf3 closes it and binds another one.
    """
    ports = tuple(port for _, port in addresses)
    links = {f"socket:[{row.inode}]" for row in sockets_of(pid) if row.ports == ports}
    if not links:
        return None
    libc = ctypes.CDLL(None, use_errno=True)
    with suppress(OSError):
        process = os.pidfd_open(pid)
        try:
            for entry in Path(f"/proc/{pid}/fd").iterdir():
                if str(entry.readlink()) not in links:
                    continue
                copy = libc.syscall(PIDFD_GETFD, process, int(entry.name), 0)
                if copy < 0:
                    continue
                sock = socket.socket(fileno=copy)
                with suppress(OSError):
                    if [sock.getsockname()[:2], sock.getpeername()[:2]] == addresses:
                        return sock
                sock.close()
        finally:
            os.close(process)
    return None
