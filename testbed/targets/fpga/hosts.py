"""A plan's hosts behind a board, which forwards frames as they are.

A switch writes the Ethernet addresses of the next hop. A board does not: so each host sends to the
address of its only peer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from narrows.testbed.problems import Problem

if TYPE_CHECKING:
    from narrows.schema.plan import Plan


def peers(plan: Plan) -> dict[str, set[str]]:
    """The hosts that each host exchanges packets with."""
    found: dict[str, set[str]] = {host["config"]["name"]: set() for host in plan["hosts"]}
    for flow in plan["flows"]:
        found[flow["from"]].add(flow["to"])
        found[flow["to"]].add(flow["from"])
    return found


def problems(plan: Plan) -> list[Problem]:
    """Hosts with several peers."""
    return [
        Problem("hosts", f"{name} has {len(others)} peers; behind a board a host has one")
        for name, others in peers(plan).items()
        if len(others) > 1
    ]


def with_peers(plan: Plan) -> Plan:
    """The plan with each host's peer in place of its gateway."""
    macs = {host["config"]["name"]: host["config"]["mac"] for host in plan["hosts"]}
    others = peers(plan)
    hosts = []
    for host in plan["hosts"]:
        config = host["config"]
        if len(peer := others[config["name"]]) == 1:
            config = config | {"gateway_mac": macs[next(iter(peer))]}
        hosts.append(host | {"config": config})
    return plan | {"hosts": hosts}


def beside_board(plan: Plan, later_ps: int) -> Plan:
    """The plan for the hosts: without events, which the board carries out, and without delays of
    cables. The receivers' access links add the delay that the board does not, both ways.
    """
    [group] = [
        cable["b"]["group"]
        for cable in plan["cables"]
        if "group" in cable["b"] and cable["a"]["port"] == plan["bottleneck"]["port"]
    ]
    hosts = []
    for host in plan["hosts"]:
        config = host["config"]
        if host["group"] == group:
            access = config["access"]
            longer = access | {"delay_ps": access["delay_ps"] + later_ps}
            config = config | {"access": longer}
        hosts.append(host | {"config": config})
    cables = [cable | {"delay_ps": 0} for cable in plan["cables"]]
    return plan | {"events": [], "hosts": hosts, "cables": cables}
