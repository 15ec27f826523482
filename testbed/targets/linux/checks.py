"""Whether anything but the switch dropped or queued a packet of a run's namespaces.

A namespace is new for its run, so its counters at the end are the run's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from narrows.testbed.targets.linux.namespaces import Namespace, run

Json = dict[str, Any]
"""Plain JSON: what `ip -j` and `tc -j` print."""

NETSTAT = (
    "TCPBacklogDrop", "TCPRcvQDrop", "TCPZeroWindowDrop", "TCPOFODrop", "PFMemallocDrop",
    "RcvPruned", "OfoPruned",
)  # fmt: skip
"""Counters of /proc/net/netstat's TcpExt that say that a host had no room for what came."""
SNMP = {
    "Ip": ("InDiscards", "OutDiscards"),
    "Tcp": ("InErrs", "InCsumErrors"),
    "Udp": ("InErrors", "SndbufErrors"),
}
"""Likewise of /proc/net/snmp, and of packets that came in broken."""


def excesses(namespaces: Mapping[str, Namespace]) -> list[str]:
    """What happened at hosts that should have happened at the switch only, in words."""
    return [f"host {name}: {what}" for name, host in namespaces.items() for what in at_host(host)]


def at_host(host: Namespace) -> Iterator[str]:
    """The same of one host."""
    for side, interface in ((["-n", host.name], "eth0"), ([], host.outside)):
        [link] = shown("ip", *side, "-s", "link", "show", "dev", interface)
        for direction in ("rx", "tx"):
            for kind in ("dropped", "errors"):
                if count := link["stats64"][direction][kind]:
                    yield f"{interface} {direction} {kind}: {count} packets; expected 0"
        for qdisc in shown("tc", *side, "-s", "qdisc", "show", "dev", interface):
            if qdisc["kind"] != "noqueue":
                yield f"{interface} has a queue ({qdisc['kind']}); expected noqueue"
            for kind in ("drops", "qlen"):
                if count := qdisc.get(kind):
                    yield f"{interface} {qdisc['kind']} {kind}: {count} packets; expected 0"
    wanted = {"TcpExt": NETSTAT, **SNMP}
    for group, name, count in counters(host):
        if name in wanted.get(group, ()) and count:
            yield f"{group}{name} = {count}; expected 0"


def shown(*command: str) -> list[Json]:
    """What `ip` or `tc` says, as JSON."""
    tool, *words = command
    found: list[Json] = json.loads(run(tool, "-j", *words) or "[]")
    return found


def counters(host: Namespace) -> Iterator[tuple[str, str, int]]:
    """The namespace's counters: group, name, count."""
    text = host.run("cat", "/proc/net/netstat", "/proc/net/snmp")
    lines = iter(text.splitlines())
    # A group is a line of names and one of values.
    for names, values in zip(lines, lines, strict=True):
        group, *words = names.split()
        for name, value in zip(words, values.split()[1:], strict=True):
            yield group.rstrip(":"), name, int(value)
