"""The addresses of a shell, and the plan that uses them.

Every shell has a block of 198.18.0.0/15, which RFC 2544 keeps for benchmarks. The block's first two
addresses are the program's and the far side's. Shells inside the program take the second to fourth
quarter, so a packet's address tells its way through all of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Address, IPv4Network
from typing import TYPE_CHECKING, Final

from narrows.controller.matches import Lpm
from narrows.controller.state import TableEntry
from narrows.controller.switch import FORWARD
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.tools.shell.options import FAR, PROGRAM

if TYPE_CHECKING:
    from narrows.schema.plan import Plan

ALL: Final = IPv4Network("198.18.0.0/15")
OUTERMOST: Final = 24
"""The prefix length of a block outside all others."""
SMALLER: Final = 2
"""By how many bits a prefix is longer inside a shell."""
SMALLEST: Final = 30
"""The longest prefix, with room for two hosts."""
INSIDE: Final = "NARROWS_SHELL"
"""The variable of the program's environment that holds the block of the innermost shell."""


def own_block() -> IPv4Network | None:
    """The block of the shell that this process is in; None outside."""
    text = os.environ.get(INSIDE)
    return IPv4Network(text) if text else None


def blocks(owner: int) -> Iterator[IPv4Network]:
    """The blocks that a new shell may take, by the number of its namespaces' owner. Raises
    `InputError` where shells are nested too deeply.
    """
    outer = own_block()
    if outer is None:
        free = list(ALL.subnets(new_prefix=OUTERMOST))
        yield free[owner % len(free)]
        return
    if outer.prefixlen + SMALLER > SMALLEST:
        levels = 1 + (SMALLEST - OUTERMOST) // SMALLER
        problem = Problem("", f"there are {levels} shells around this one; expected fewer")
        raise InputError("narrows shell", [problem])
    inner = outer.subnets(SMALLER)
    next(inner)  # the outer shell's own hosts
    yield from inner


def addressed(plan: Plan, addresses: Mapping[str, IPv4Address], block: IPv4Network) -> Plan:
    """The plan with these hosts' addresses and no flows of its own.

    The program's side has its own address and the block, the far side all others.
    """
    flowless: Plan = {**plan, "flows": []}
    macs = {}
    for host in flowless["hosts"]:
        config = host["config"]
        config["ip"] = str(addresses[config["name"]])
        macs[config["name"]] = config["mac"]
    groups = {c["b"]["group"]: c["a"]["port"] for c in plan["cables"] if "group" in c["b"]}
    links = {c["a"]["switch"]: c["a"]["port"] for c in plan["cables"] if "switch" in c["b"]}
    links |= {c["b"]["switch"]: c["b"]["port"] for c in plan["cables"] if "switch" in c["b"]}
    ways = {
        IPv4Network(addresses[FAR]): FAR,
        IPv4Network(addresses[PROGRAM]): PROGRAM,
        block: PROGRAM,
        IPv4Network("0.0.0.0/0"): FAR,
    }
    for switch in flowless["switches"]:
        name = switch["name"]
        kept = [entry for entry in switch["entries"] if not entry["table"].startswith(ROUTED)]
        for network, to in ways.items():
            port = groups[f"{name}-hosts"] if to == name else links[name]
            mac = macs[to] if to == name else "02:ff:ff:ff:ff:ff"
            kept.append(route(network, port, mac).as_json())
        switch["entries"] = kept
    return flowless


ROUTED: Final = (f"{FORWARD}.", "NarrowsIngress.identify_flow.")
"""Tables whose entries a plan has for hosts and flows."""


def route(network: IPv4Network, port: int, mac: str) -> TableEntry:
    """An entry that sends packets to a network out of a port, to this Ethernet address."""
    return TableEntry(
        f"{FORWARD}.ipv4_lpm",
        {"hdr.ipv4.dst_addr": Lpm(int(network.network_address), network.prefixlen)},
        f"{FORWARD}.route",
        {"port": port, "src_mac": 0x02FF_0000_0001, "dst_mac": int(mac.replace(":", ""), 16)},
    )
