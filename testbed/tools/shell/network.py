"""The two ends of a shell: the program's namespace, and the far side.

Both sides' interfaces lead to the ports of the engine. Namespaces, veths, addresses, neighbours and
routes belong to one owner (`Plumbing`); the guard removes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from pathlib import Path
from typing import TYPE_CHECKING, Final

from narrows.testbed.targets.dpdk.setup import af_packet
from narrows.testbed.targets.linux.namespaces import (
    ROUTER,
    Namespace,
    Plumbing,
    PlumbingError,
    bring_up,
    run,
)
from narrows.testbed.tools.shell import addresses
from narrows.testbed.tools.shell.asker import Asker
from narrows.testbed.tools.shell.guard import Guard
from narrows.testbed.tools.shell.options import FAR, PROGRAM, ShellOptions

if TYPE_CHECKING:
    from narrows.schema.flow import HostConfig
    from narrows.schema.plan import Plan

HOSTS_FILE: Final = Path("/etc/hosts")
SERVER: Final = "server"
"""The name of the far side inside the program's namespace."""
LAN: Final = "lan"
"""The far side's interface on another network."""
BIND_HOSTS: Final = 'mount --bind "$0" /etc/hosts && exec "$@"'
"""`ip netns exec` has made a mount namespace of its own."""
BEGIN_LATER: Final = 'mount --bind "$0" /etc/hosts && kill -STOP $$ && exec "$@"'
"""The program begins at SIGCONT, once the shell has given up the privileges that this needs."""


@dataclass(frozen=True)
class Ends:
    """The two sides, as the engine and the program see them."""

    plan: Plan
    """The plan with the sides' addresses."""
    block: IPv4Network
    program: Namespace
    far: Namespace | None
    """None if the far side is this machine."""
    devices: Mapping[str, str]
    """The device string of each host's port."""
    hosts_file: Path
    guard: Guard

    def command(self, words: Sequence[str], asker: Asker) -> list[str]:
        """The command line that runs a command as the program, and as the user who asked."""
        as_user = asker.command(words)
        return self.program.command("sh", "-c", BEGIN_LATER, str(self.hosts_file), *as_user)

    def inside(self, environment: Mapping[str, str], asker: Asker) -> dict[str, str]:
        """The program's environment."""
        return {**environment, **asker.environment(), addresses.INSIDE: str(self.block)}

    @property
    def sides(self) -> dict[str, tuple[Namespace | None, IPv4Address]]:
        """The namespace and the address of each host, by the plan's names; None: this one."""
        configs = [host["config"] for host in self.plan["hosts"]]
        ips = {config["name"]: IPv4Address(config["ip"]) for config in configs}
        return {PROGRAM: (self.program, ips[PROGRAM]), FAR: (self.far, ips[FAR])}

    @property
    def namespaces(self) -> dict[str, Namespace]:
        """The namespaces by the plan's names."""
        found = {PROGRAM: self.program, FAR: self.far}
        return {name: each for name, each in found.items() if each is not None}


@contextlib.contextmanager
def made(plan: Plan, options: ShellOptions, directory: Path) -> Iterator[Ends]:
    """Makes both ends, and removes them at the end. `directory` is the unfinished run's. Raises
    `PlumbingError` or `InputError`.
    """
    hosts = {host["config"]["name"]: host["config"] for host in plan["hosts"]}
    with contextlib.ExitStack() as stack:
        plumbing = stack.enter_context(Plumbing(removes=False))
        guard = Guard(plumbing.number, directory)
        stack.callback(guard.end)
        far = None
        if options.is_machine:
            block, outside = add_machine_end(plumbing, hosts[FAR])
        else:
            block = next(iter(addresses.blocks(plumbing.number)))
            far = add_side(plumbing, FAR, hosts[FAR], block[2])
            outside = far.outside
        here = {PROGRAM: block[1], FAR: block[2]}
        if options.lan is not None and far is not None:
            here[PROGRAM] = options.lan.ip
            join(far, options.lan, options)
        program = add_side(plumbing, PROGRAM, hosts[PROGRAM], here[PROGRAM])
        # A shell inside the program sends its packets on from here.
        program.set_sysctl("net.ipv4.conf.eth0.forwarding", "1")
        ports = {PROGRAM: program.outside, FAR: outside}
        yield Ends(
            addresses.addressed(plan, here, block),
            block,
            program,
            far,
            {name: af_packet(number, port) for number, (name, port) in enumerate(ports.items())},
            stack.enter_context(hosts_file(options, here[FAR], directory)),
            guard,
        )


def add_side(plumbing: Plumbing, name: str, host: HostConfig, ip: IPv4Address) -> Namespace:
    """A namespace for a side, behind the plan's gateway."""
    return plumbing.add_host(name, str(ip), host["mac"], host["gateway_mac"])


def add_machine_end(plumbing: Plumbing, host: HostConfig) -> tuple[IPv4Network, str]:
    """Gives this namespace an end of the path. Returns the shell's block, and the interface that
    the engine opens. Raises `PlumbingError`.
    """
    near, outside = plumbing.add_cable("far")
    run("ip", "link", "set", near, "address", host["mac"])
    run("ip", "neighbour", "add", ROUTER, "lladdr", host["gateway_mac"], "dev", near)
    refused = None
    for block in addresses.blocks(plumbing.number):
        try:
            run("ip", "route", "add", str(block), "via", ROUTER, "dev", near, "onlink")
        except PlumbingError as error:
            # Another shell at this level has the block.
            refused = error
            continue
        run("ip", "address", "add", f"{block[2]}/32", "dev", near)
        if addresses.own_block() is not None:
            Path(f"/proc/sys/net/ipv4/conf/{near}/forwarding").write_text("1")
        return block, outside
    raise PlumbingError(f"no free addresses: {refused}")


def join(far: Namespace, lan: IPv4Interface, options: ShellOptions) -> None:
    """Connects the far side to an interface's network, where it answers for the program.

    The interface itself is unchanged: a macvlan on it, with its own Ethernet address, belongs to
    the far side's namespace and ends with it.
    """
    assert options.interface is not None
    run("ip", "link", "add", "link", options.interface, "name", LAN, "netns", far.name,
        "type", "macvlan", "mode", "bridge")  # fmt: skip
    bring_up(LAN, far)
    inside = ["ip", "-n", far.name]
    run(*inside, "route", "add", f"{lan.ip}/32", "via", ROUTER, "dev", "eth0", "onlink")
    run(*inside, "route", "add", str(lan.network), "dev", LAN)
    run(*inside, "neighbour", "add", "proxy", str(lan.ip), "dev", LAN)
    run(*inside, "route", "delete", "default")
    if options.gateway is not None:
        run(*inside, "route", "add", "default", "via", options.gateway, "dev", LAN)
    # It answers for the program at once, not after a random time.
    far.set_sysctl(f"net.ipv4.neigh.{LAN}.proxy_delay", "0")
    for interface in ("eth0", LAN):
        far.set_sysctl(f"net.ipv4.conf.{interface}.forwarding", "1")


@contextlib.contextmanager
def hosts_file(options: ShellOptions, far: IPv4Address, directory: Path) -> Iterator[Path]:
    """The program's /etc/hosts: this machine's, and the far side's name. A shell inside another
    keeps the outer one's `server`.
    """
    text = HOSTS_FILE.read_text(encoding="utf-8") if HOSTS_FILE.exists() else ""
    is_inner = options.is_machine and addresses.own_block() is not None
    if options.interface is None and not is_inner:
        lines = [line for line in text.splitlines() if SERVER not in line.split()]
        text = "\n".join([*lines, f"{far} {SERVER}", ""])
    path = directory / "hosts"
    path.write_text(text, encoding="utf-8")
    try:
        yield path.resolve()
    finally:
        path.unlink()
