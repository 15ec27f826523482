"""The hosts and links of a lab: network namespaces and veth pairs.

A host is a namespace with `eth0`. A link is a veth pair. Its ends at switches are interfaces of
this machine, `nw0-s1p2` for port 2 of s1, which the switches open.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from narrows.schema import units
from narrows.testbed.targets.linux.namespaces import (
    LOCKS,
    Namespace,
    Plumbing,
    add_namespace,
    add_veth,
    bring_up,
    run,
)
from narrows.testbed.tools.lab.topology import End, Host, Topology
from narrows.testbed.tools.shell.guard import Guard
from narrows.testbed.tools.shell.network import BIND_HOSTS, HOSTS_FILE

COMMAND_PATIENCE_S: Final = 30


@dataclass(frozen=True)
class Hosts:
    """The namespaces of a lab's hosts."""

    owner: int
    """The number in the names of its namespaces and interfaces."""
    directory: Path
    """What exists as long as the lab does."""
    namespaces: dict[str, Namespace] = field(default_factory=dict)

    @property
    def file(self) -> Path:
        """/etc/hosts of every host."""
        return self.directory / "hosts"

    def interface(self, end: End) -> str:
        """The interface of a switch's port."""
        return interface(self.owner, end)

    def command(self, host: str, words: Sequence[str]) -> list[str]:
        """The command line that runs a command at a host."""
        return at_host(self.namespaces[host].name, self.file, words)


def interface(owner: int, end: End) -> str:
    """The interface of a switch's port."""
    return f"nw{owner}-{end.switch}p{end.port}"


def namespace_name(owner: int, host: str) -> str:
    """The namespace of a host."""
    return f"narrows-{owner}-{host}"


def at_host(namespace: str, hosts_file: Path, words: Sequence[str]) -> list[str]:
    """The command line that runs a command in a host's namespace, where hosts have names."""
    inside = ["ip", "netns", "exec", namespace]
    return [*inside, "sh", "-c", BIND_HOSTS, str(hosts_file), *words]


@contextlib.contextmanager
def made(topology: Topology) -> Iterator[Hosts]:
    """Makes the hosts and the links, and removes them at the end, or when this process is killed.
    Raises `PlumbingError`.
    """
    with contextlib.ExitStack() as stack:
        plumbing = stack.enter_context(Plumbing())
        hosts = Hosts(plumbing.number, LOCKS / f"{plumbing.number}.lab")
        stack.callback(remove, hosts.directory)
        stack.callback(Guard(plumbing.number, hosts.directory).end)
        remove(hosts.directory)
        hosts.directory.mkdir(parents=True)
        for host in topology.hosts:
            hosts.namespaces[host.name] = add_host(hosts, host)
        for link in topology.links:
            near, far = map(hosts.interface, link.ends)
            run("ip", "link", "add", near, "type", "veth", "peer", "name", far)
            bring_up(near)
            bring_up(far)
        lines = [HOSTS_FILE.read_text(encoding="utf-8") if HOSTS_FILE.exists() else ""]
        lines += [f"{host.ip.ip} {host.name}" for host in topology.hosts]
        hosts.file.write_text("\n".join([*lines, ""]), encoding="utf-8")
        yield hosts


def remove(directory: Path) -> None:
    """Removes the files of a lab."""
    with contextlib.suppress(FileNotFoundError):
        for path in directory.iterdir():
            path.unlink()
        directory.rmdir()


def add_host(hosts: Hosts, host: Host) -> Namespace:
    """Makes a host with its address. Its own direction of a link with a delay or a rate is the
    kernel's (netem); the other direction is the switch's.
    """
    outside = hosts.interface(host.at)
    namespace = Namespace(namespace_name(hosts.owner, host.name), outside)
    add_namespace(namespace)
    add_veth(namespace, outside, "eth0", host.mac)
    run("ip", "-n", namespace.name, "address", "add", str(host.ip), "dev", "eth0")
    if host.delay_ps or host.rate_bps is not None:
        words = ["delay", f"{host.delay_ps // units.PS_PER_NS}ns"] if host.delay_ps else []
        words += ["rate", f"{host.rate_bps}bit"] if host.rate_bps is not None else []
        run("tc", "-n", namespace.name, "qdisc", "replace", "dev", "eth0", "root", "netem", *words)
    return namespace


def run_commands(hosts: Hosts, topology: Topology, logs: Path) -> list[str]:
    """Runs each host's own commands. What they print is in `logs`; as in the tutorials a failure
    ends nothing. Returns what the reader should know.
    """
    notes = []
    for host in topology.hosts:
        with (logs / f"{host.name}.log").open("w", encoding="utf-8") as log:
            for text in host.commands:
                print(f"$ {text}", file=log, flush=True)
                ran = subprocess.run(
                    hosts.command(host.name, ["sh", "-c", text]), stdin=subprocess.DEVNULL,
                    stdout=log, stderr=subprocess.STDOUT, check=False, timeout=COMMAND_PATIENCE_S,
                )  # fmt: skip
                if ran.returncode == 127:
                    tool = text.split()[0]
                    notes.append(f"{host.name}: {tool} is not installed (route, arp: net-tools)")
    return list(dict.fromkeys(notes))


@dataclass(frozen=True)
class Running:
    """A lab that runs, as its file says."""

    owner: int
    pid: int
    topology: str
    out: str
    hosts: dict[str, str]
    """Addresses by name."""
    controllers: dict[str, str]
    """Where each switch's controllers connect."""

    @property
    def directory(self) -> Path:
        """The files of the lab."""
        return LOCKS / f"{self.owner}.lab"


def running() -> list[Running]:
    """All labs on this machine that are up."""
    found = []
    for path in sorted(LOCKS.glob("*.lab/lab.json")):
        with contextlib.suppress(OSError, ValueError, TypeError):
            lab = Running(**json.loads(path.read_text(encoding="utf-8")))
            if Path(f"/proc/{lab.pid}").exists():
                found.append(lab)
    return found
