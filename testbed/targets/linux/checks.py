"""Checks that only the switch dropped or queued packets of a run.

Each run creates its namespaces, so their final counters are those of the run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from narrows.testbed.targets.linux.namespaces import Namespace, run

Json = dict[str, Any]
"""Plain JSON: what `ip -j` and `tc -j` print."""

NETSTAT = (
    "TCPBacklogDrop", "TCPRcvQDrop", "TCPZeroWindowDrop", "TCPOFODrop", "PFMemallocDrop",
    "RcvPruned", "OfoPruned",
)  # fmt: skip
"""Counters in TcpExt of /proc/net/netstat for packets that a host lacked memory for."""
SNMP = {
    "Ip": ("InDiscards", "OutDiscards"),
    "Tcp": ("InErrs", "InCsumErrors"),
    "Udp": ("InErrors", "SndbufErrors"),
    "Ip6": ("InDiscards", "OutDiscards"),
    "Udp6": ("InErrors", "SndbufErrors"),
}
"""The same in /proc/net/snmp and /proc/net/snmp6, and counters of corrupt packets."""


def excesses(namespaces: Mapping[str, Namespace]) -> list[str]:
    """Describes drops and queues at hosts, which belong at the switch only."""
    return [f"host {name}: {what}" for name, host in namespaces.items() for what in at_host(host)]


def at_host(host: Namespace) -> Iterator[str]:
    """The same for one host."""
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
    """The JSON output of `ip` or `tc`."""
    tool, *words = command
    found: list[Json] = json.loads(run(tool, "-j", *words) or "[]")
    return found


def counters(host: Namespace) -> Iterator[tuple[str, str, int]]:
    """The namespace's counters: group, name, count."""
    text = host.run("cat", "/proc/net/netstat", "/proc/net/snmp")
    lines = iter(text.splitlines())
    # Each group has a line of names and a line of values.
    for names, values in zip(lines, lines, strict=True):
        group, *words = names.split()
        for name, value in zip(words, values.split()[1:], strict=True):
            yield group.rstrip(":"), name, int(value)
    for line in host.run("cat", "/proc/net/snmp6").splitlines():
        if found := re.fullmatch(r"(Ip6|Udp6)(\w+)\s+(\d+)", line):
            yield found[1], found[2], int(found[3])
