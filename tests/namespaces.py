"""Two network namespaces, each with a cable to the live switch: Linux hosts behind our ports.

The switch's ends of the cables stay in the machine's own namespace, as `net_af_packet` takes them.
Offloads are off: a veth hands over segments of 64 KB, their checksums left to the card.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

PROGRAMS = ("ip", "ethtool")
OFFLOADS = ["tx", "off", "rx", "off", "tso", "off", "gso", "off", "gro", "off", "sg", "off"]


@dataclass(frozen=True)
class LinuxHost:
    """A namespace with one interface, `eth0`."""

    namespace: str
    interface: str
    """The switch's end of its cable."""
    ip: str
    mac: str

    def command(self, *arguments: str) -> list[str]:
        """A command that runs in it."""
        return ["ip", "netns", "exec", self.namespace, *arguments]

    def run(self, *arguments: str) -> str:
        """What a command prints there."""
        ran = subprocess.run(
            self.command(*arguments), capture_output=True, text=True, check=False, timeout=60
        )
        assert ran.returncode == 0, f"{arguments}: {ran.stderr}{ran.stdout}"
        return ran.stdout


def missing(*programs: str) -> str | None:
    """Why namespaces can't be had here, if so."""
    if os.geteuid() != 0:
        return "needs root: network namespaces"
    absent = [name for name in (*PROGRAMS, *programs) if shutil.which(name) is None]
    if absent:
        return f"needs {' and '.join(absent)}"
    made = subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False)
    return None if made.returncode == 0 else "needs network namespaces, which are not allowed here"


def needs(*programs: str) -> pytest.MarkDecorator:
    """Leaves a test out, with the reason."""
    reason = missing(*programs)
    return pytest.mark.skipif(reason is not None, reason=reason or "")


def command(*arguments: str) -> None:
    """Runs a command that must succeed."""
    ran = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, f"{' '.join(arguments)}: {ran.stderr}"


@contextmanager
def two_hosts() -> Iterator[tuple[LinuxHost, LinuxHost]]:
    """Two hosts, 10.9.1.1 and 10.9.2.1, each with a route to the other by the switch."""
    name = f"nrw{os.getpid()}"
    hosts = tuple(
        LinuxHost(f"{name}-{n}", f"{name}{n}", f"10.9.{n}.1", f"02:00:0a:09:0{n}:01")
        for n in (1, 2)
    )
    try:
        for host in hosts:
            plug_in(host)
        yield hosts[0], hosts[1]
    finally:
        for host in hosts:
            for words in (f"link delete {host.interface}", f"netns delete {host.namespace}"):
                subprocess.run(["ip", *words.split()], capture_output=True, check=False)


def plug_in(host: LinuxHost) -> None:
    """Makes a namespace with its cable; everything but itself is by the switch."""
    command("ip", "netns", "add", host.namespace)
    command(
        "ip", "link", "add", host.interface, "type", "veth",
        "peer", "name", "eth0", "address", host.mac, "netns", host.namespace,
    )  # fmt: skip
    for interface, inside in ((host.interface, ()), ("eth0", host.command())):
        command(*inside, "ethtool", "-K", interface, *OFFLOADS)
    command("sysctl", "-q", "-w", f"net.ipv6.conf.{host.interface}.disable_ipv6=1")
    command("ip", "link", "set", host.interface, "up")
    gateway = host.ip.rpartition(".")[0] + ".254"
    for line in (
        "sysctl -q -w net.ipv6.conf.eth0.disable_ipv6=1",
        f"ip address add {host.ip}/24 dev eth0",
        "ip link set lo up",
        "ip link set eth0 up",
        f"ip neighbour add {gateway} lladdr 02:00:0a:09:00:fe dev eth0",
        f"ip route add default via {gateway}",
    ):
        command(*host.command(), *line.split())
