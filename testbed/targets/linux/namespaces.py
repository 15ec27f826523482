"""Network namespaces joined to this machine by veth pairs. They isolate hosts with the kernel's
TCP, and switches that must not be reachable from outside.

Names contain the number of the owner: namespace `narrows-<number>-<host>`, and outside it the
veth's end `nw<number>-<host>`. The owner holds a lock on `/run/narrows/<number>.lock` until it ends
or crashes. Namespaces and veths without a locked owner are stale; the next owner removes them
(`sweep`).
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Self, TypeVar

LOCKS = Path("/run/narrows")
NAMESPACES = Path("/run/netns")
OWNERS = 1000
"""Maximum concurrent runs with namespaces: an interface name has room for three digits."""
MAX_HOST_NAME = 15 - len("nw999-")
"""Linux interface names have at most 15 characters (IFNAMSIZ minus the terminating zero)."""
ROUTER, IPV6_ROUTER = "169.254.0.1", "fe80::1"
"""The next hop of every host. No packet is addressed to it; only its Ethernet address is used."""
SILENT_IPV6 = {
    "accept_ra": "0",
    "router_solicitations": "0",
    "dad_transmits": "0",
    "addr_gen_mode": "1",
    "disable_ipv6": "0",
}
"""Settings of an interface with IPv6 whose kernel sends no packets of its own: in this order, no
routers, no search for duplicates, no link-local address.
"""
CLONE_NEWNET = 0x4000_0000
"""From linux/sched.h."""

Result = TypeVar("Result")


class PlumbingError(Exception):
    """A namespace or link could not be created."""


def missing() -> list[str]:
    """What this machine lacks for namespaces with veths; empty if nothing."""
    lacking = [
        f"{tool} is not installed" for tool in ("ip", "tc", "ethtool") if not shutil.which(tool)
    ]
    if os.geteuid() != 0:
        lacking.append("not root (namespaces need CAP_SYS_ADMIN and CAP_NET_ADMIN)")
    return lacking


@dataclass(frozen=True)
class Inside:
    """A network namespace."""

    name: str

    def command(self, *command: str) -> list[str]:
        """The command line that runs a command inside."""
        return ["ip", "netns", "exec", self.name, *command]

    def run(self, *command: str) -> str:
        """Runs a command inside and returns its output. Raises `PlumbingError`."""
        return run(*self.command(*command))

    def set_sysctl(self, key: str, value: str) -> None:
        """Sets a `net.*` parameter inside, written with dots."""
        path = "/proc/sys/" + key.replace(".", "/")
        self.call(lambda: Path(path).write_text(value))

    def socket(
        self,
        kind: socket.SocketKind = socket.SOCK_STREAM,
        family: socket.AddressFamily = socket.AF_INET,
    ) -> socket.socket:
        """Opens a socket inside, for use anywhere in this process."""
        return self.call(lambda: socket.socket(family, kind))

    def call(self, work: Callable[[], Result]) -> Result:
        """Runs `work` on a thread inside the namespace."""

        def inside() -> Result:
            enter(NAMESPACES / self.name)
            return work()

        with ThreadPoolExecutor(1) as thread:
            return thread.submit(inside).result()


@dataclass(frozen=True)
class Namespace(Inside):
    """A host: a namespace with one interface, `eth0`, the inner end of a veth pair."""

    outside: str
    """The outer end of the veth."""


@dataclass(frozen=True)
class SwitchNamespace(Inside):
    """A switch: a namespace with interfaces `p1` and so on, the inner ends of veth pairs."""

    outside: Mapping[int, str]
    """The outer ends of the veths, by port."""


def router_of(ip: str) -> str:
    """The next hop of a host with this address."""
    return ROUTER if ip_address(ip).version == 4 else IPV6_ROUTER


def host_namespace(owner: int, host: str) -> Namespace:
    """The namespace of an owner's host."""
    return Namespace(f"narrows-{owner}-{host}", outside=f"nw{owner}-{host}")


def enter(path: Path) -> None:
    """Moves this thread into a network namespace. Raises `PlumbingError`."""
    libc = ctypes.CDLL(None, use_errno=True)
    with path.open("rb") as file:
        if libc.setns(file.fileno(), CLONE_NEWNET) != 0:
            raise PlumbingError(f"{path}: setns: {os.strerror(ctypes.get_errno())}")


class Plumbing:
    """The namespaces of one owner; a context manager that removes them, unless another process
    does.
    """

    def __init__(self, *, removes: bool = True) -> None:
        self._stack = ExitStack()
        self._number = -1
        self._removes = removes

    @property
    def number(self) -> int:
        """The owner's number."""
        return self._number

    def __enter__(self) -> Self:
        sweep()
        for number in range(OWNERS):
            if lock := try_lock(number):
                self._number = number
                self._stack.callback(os.close, lock)
                if self._removes:
                    self._stack.callback(remove_all_of, number)
                return self
        raise PlumbingError(f"{LOCKS}: all {OWNERS} numbers are in use by current runs")

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def add_host(self, host: str, ip: str, mac: str, gateway_mac: str) -> Namespace:
        """Creates a host with one address, of IPv4 or IPv6, and a default route through
        `gateway_mac`.

        Offloads are off, so the veth carries the same segments and checksums as a wire. Raises
        `PlumbingError`.
        """
        if not re.fullmatch(rf"[a-z0-9]{{1,{MAX_HOST_NAME}}}", host):
            raise PlumbingError(
                f'host name "{host}"; expected 1 to {MAX_HOST_NAME} lower-case letters and digits'
            )
        namespace = host_namespace(self._number, host)
        add_namespace(namespace)
        add_veth(namespace, namespace.outside, "eth0", mac)
        address, inside = ip_address(ip), ["ip", "-n", namespace.name]
        whole, router = f"{ip}/{address.max_prefixlen}", router_of(ip)
        nodad = ["nodad"] if address.version == 6 else []
        if address.version == 6:
            for key, value in SILENT_IPV6.items():
                namespace.set_sysctl(f"net.ipv6.conf.eth0.{key}", value)
            # Without ARP the kernel joins no multicast group, of which it would report.
            run(*inside, "link", "set", "eth0", "arp", "off")
        run(*inside, "address", "add", whole, "dev", "eth0", *nodad)
        run(*inside, "neighbour", "add", router, "lladdr", gateway_mac, "dev", "eth0")
        run(*inside, "route", "add", "default", "via", router, "dev", "eth0", "onlink")
        return namespace

    def add_switch(self, number: int, ports: Iterable[int]) -> SwitchNamespace:
        """Creates the owner's switch with this number and these ports. Raises `PlumbingError`."""
        name = f"sw{number}"
        outside = {port: f"nw{self._number}-{name}p{port}" for port in ports}
        namespace = SwitchNamespace(f"narrows-{self._number}-{name}", outside)
        add_namespace(namespace)
        for port, interface in outside.items():
            add_veth(namespace, interface, f"p{port}")
        return namespace

    def add_cable(self, name: str) -> tuple[str, str]:
        """Creates a veth pair with both ends outside. Raises `PlumbingError`."""
        near, far = (f"nw{self._number}-{name}{end}" for end in "ab")
        run("ip", "link", "add", near, "type", "veth", "peer", "name", far)
        for interface in (near, far):
            bring_up(interface)
        return near, far


def add_namespace(namespace: Inside) -> None:
    """Creates a namespace without IPv6, so the kernel sends no packets of its own."""
    run("ip", "netns", "add", namespace.name)
    namespace.set_sysctl("net.ipv6.conf.default.disable_ipv6", "1")
    run("ip", "-n", namespace.name, "link", "set", "lo", "up")


def add_veth(namespace: Inside, outside: str, inside: str, mac: str | None = None) -> None:
    """Connects a namespace by a veth pair without offloads and queues, with both ends up."""
    address = ["address", mac] if mac else []
    run("ip", "link", "add", outside, "type", "veth",
        "peer", "name", inside, "netns", namespace.name, *address)  # fmt: skip
    bring_up(outside)
    bring_up(inside, namespace)


def bring_up(interface: str, namespace: Inside | None = None) -> None:
    """Brings an interface up, outside or in a namespace, without IPv6, offloads and queues."""
    side = ["-n", namespace.name] if namespace else []
    if namespace is None:
        Path(f"/proc/sys/net/ipv6/conf/{interface}/disable_ipv6").write_text("1")
    offloads = [word for name in ("tx", "tso", "gso", "gro") for word in (name, "off")]
    command = ["ethtool", "-K", interface, *offloads]
    run(*(namespace.command(*command) if namespace else command))
    run("tc", *side, "qdisc", "replace", "dev", interface, "root", "noqueue")
    run("ip", *side, "link", "set", interface, "up")


def sweep() -> None:
    """Removes namespaces and veths of owners that have ended. Raises `PlumbingError`."""
    lacking = missing()
    if lacking:
        raise PlumbingError("; ".join(lacking))
    LOCKS.mkdir(exist_ok=True)
    for number in sorted({number for number, _ in leftovers()}):
        if lock := try_lock(number):
            remove_all_of(number)
            os.close(lock)


def try_lock(number: int) -> int | None:
    """Locks the file of an owner's number; returns None if another owner holds it."""
    file = os.open(LOCKS / f"{number}.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        return None
    return file


def leftovers() -> list[tuple[int, list[str]]]:
    """All our namespaces and veths: the owner's number, and the command that removes each."""
    found = [
        *((path.name, ["ip", "netns", "delete"]) for path in NAMESPACES.glob("narrows-*")),
        *((path.name, ["ip", "link", "delete"]) for path in Path("/sys/class/net").glob("nw*")),
    ]
    owned = re.compile(r"(?:narrows-|nw)(\d{1,3})-[a-z0-9]+")
    return [
        (int(owner[1]), [*command, name])
        for name, command in sorted(found)
        if (owner := owned.fullmatch(name))
    ]


def remove_all_of(owner: int) -> None:
    """Ends the processes in an owner's namespaces, then removes the namespaces and veths."""
    for pid in pids_of(owner):
        kill(pid)
    for number, command in leftovers():
        if number == owner and command[1] == "netns":
            run(*command)
    for number, command in leftovers():
        if number == owner:
            # The kernel removes a deleted namespace's veths later; do not wait for it.
            subprocess.run(command, capture_output=True, check=False)


def pids_of(owner: int) -> list[int]:
    """The processes in an owner's namespaces."""
    names = [
        command[3] for number, command in leftovers() if number == owner and command[1] == "netns"
    ]
    return [int(pid) for name in names for pid in run("ip", "netns", "pids", name).split()]


def kill(pid: int, number: signal.Signals = signal.SIGKILL) -> None:
    """Sends a signal to a process that may already have ended."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def run(*command: str) -> str:
    """Runs a command and returns its output. Raises `PlumbingError` with its error output."""
    ran = subprocess.run(
        command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    if ran.returncode != 0:
        raise PlumbingError(f"{' '.join(command)}: {ran.stderr.strip() or ran.stdout.strip()}")
    return ran.stdout
