"""The controller's view of the network: switches, cables between them, hosts, flows.

An Ethernet address is an integer of 48 bits. Delays are one-way, in picoseconds. A port is
identified by its switch and its number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Address, IPv6Address

from narrows.controller.stages import DUPLICATE, PortStage

PROTOCOL_TCP, PROTOCOL_UDP = 6, 17
Address = IPv4Address | IPv6Address


@dataclass(frozen=True)
class Port:
    """An output port of a switch, and the stages for packets that leave through it."""

    number: int
    mac: int
    stages: Mapping[PortStage, float] = field(default_factory=dict)
    """The stages enabled at the port, in the program's order, and their values."""
    can_duplicate: bool = False
    """True if the stage of duplication may be enabled later."""

    @property
    def duplicates(self) -> bool:
        """True if the port needs a multicast group of two copies."""
        return self.can_duplicate or DUPLICATE in self.stages


@dataclass(frozen=True)
class Switch:
    """A P4 switch."""

    name: str
    node_id: int
    """Its id in telemetry reports."""
    ports: tuple[Port, ...]

    def port(self, number: int) -> Port:
        """The port with this number, which must exist."""
        return next(port for port in self.ports if port.number == number)


@dataclass(frozen=True)
class End:
    """An end of a cable: a switch's port."""

    switch: str
    port: int


@dataclass(frozen=True)
class Cable:
    """A cable between two switches."""

    a: End
    b: End
    delay_ps: int


@dataclass(frozen=True)
class Host:
    """A host and its switch port."""

    name: str
    mac: int
    ip: Address
    at: End
    delay_ps: int = 0
    """One-way propagation between the host and its switch."""


@dataclass(frozen=True)
class Flow:
    """A TCP connection, seen from the host that opens it, or a UDP flow. Both hosts have addresses
    of one IP version.
    """

    id: int
    source: Host
    destination: Host
    source_port: int
    destination_port: int
    protocol: int = PROTOCOL_TCP
    """The transport's protocol number."""


@dataclass(frozen=True)
class Collector:
    """The receiver of a switch's telemetry reports, and its switch port."""

    at: End
    mac: int
    ip: IPv4Address
    udp_port: int


@dataclass(frozen=True)
class Topology:
    """The whole network."""

    switches: tuple[Switch, ...]
    cables: tuple[Cable, ...] = ()
    hosts: tuple[Host, ...] = ()
    flows: tuple[Flow, ...] = ()
    collectors: tuple[Collector, ...] = field(default=())

    @cached_property
    def by_name(self) -> dict[str, Switch]:
        """The switches by name."""
        return {switch.name: switch for switch in self.switches}
