"""A switch's state with one of everything, for the controller's tests."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Address

from narrows.controller import topology as net
from narrows.controller.routes import routes
from narrows.controller.stages import ECN, LOSS, TELEMETRY, PortStage
from narrows.controller.state import SwitchState
from narrows.controller.switch import switch_state


def everything_on(
    others: Mapping[PortStage, float] | None = None, ip_version: int = 4
) -> SwitchState:
    """A switch with every feature in use that both architectures have, and with other stages."""
    first = IPv4Address("10.0.0.1") if ip_version == 4 else IPv6Address("fd00::1")
    ports = (
        net.Port(1, 0x02FF00010001),
        net.Port(2, 0x02FF00010002, {LOSS: 1e-7, ECN: 30, TELEMETRY: 100, **(others or {})}),
        net.Port(3, 0x02FF00010003),
    )
    hosts = tuple(net.Host(f"h{n}", n, first + n - 1, net.End("s1", n)) for n in (1, 2))
    flow = net.Flow(1, hosts[0], hosts[1], 10001, 5001)
    collector = net.Collector(net.End("s1", 3), 0x02C000000001, IPv4Address("10.255.0.1"), 5600)
    topology = net.Topology((net.Switch("s1", 1, ports),), (), hosts, (flow,), (collector,))
    return switch_state(topology, routes(topology), topology.switches[0])
