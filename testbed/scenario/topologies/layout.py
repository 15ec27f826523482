"""The layout of a scenario: switches, ports, cables, hosts and flows, with their addresses.

`dumbbell.py` and `own_topology.py` place switches, links and hosts; this module has their common
part. The collector's port is always a switch's last.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import TYPE_CHECKING

import narrows.controller.topology as net
from narrows.controller.routes import Paths, Routes, routes
from narrows.controller.stages import TELEMETRY
from narrows.schema.units import PS_PER_S, Queue
from narrows.testbed import catalogue
from narrows.testbed.problems import Problem
from narrows.testbed.scenario.draws import draw, exponential
from narrows.testbed.scenario.flows import Flow
from narrows.testbed.scenario.network import Access, Bottleneck, Link, ParkingLot, Port
from narrows.testbed.scenario.packets import full_packet_bytes, to_packets
from narrows.testbed.scenario.schema import Scenario

if TYPE_CHECKING:
    from narrows.schema.switch import QueueLimit

SENDER_PORTS = range(10_001, 60_001)
FIRST_RECEIVER_PORT = 5001
COLLECTOR_MAC = 0x02C0_0000_0001
IPV6_NETWORK = 0xFD00 << 112
"""fd00::/96, a private network (RFC 4193): the last 32 bits are a host's IPv4 address."""


@dataclass(frozen=True)
class PortSettings:
    """A switch port with its traffic manager's settings."""

    end: net.End
    scenario: Port | None
    """The scenario's keys; None for a port without a rate, towards hosts or the collector."""
    forward: bool
    """True for a port in the direction of the data."""


@dataclass(frozen=True)
class PlacedHost:
    """A host with its access link; `group` is the set of hosts on the same switch port."""

    host: net.Host
    group: str
    access: Access


@dataclass(frozen=True)
class PlacedFlow:
    """One connection of a `[[flow]]`, with its opening time."""

    flow: net.Flow
    settings: Flow
    start_ps: int


@dataclass(frozen=True)
class Layout:
    """The network of a run."""

    topology: net.Topology
    routes: Routes
    ports: dict[net.End, PortSettings]
    groups: dict[str, tuple[net.End, int]]
    """For each group of hosts: its switch port, and the cable's delay in picoseconds."""
    hosts: list[PlacedHost]
    flows: list[PlacedFlow]
    bottleneck: net.End
    """The port that the summary describes."""
    links: dict[str, tuple[net.End, net.End]]
    """The ports at both ends of a link direction, nearest first: `s1->s2`, and `bottleneck`."""

    @functools.cached_property
    def paths(self) -> Paths:
        """The paths of the flows."""
        return Paths(self.topology, self.routes)

    def queue_limit(self, end: net.End, queue: Queue, rate_bps: int) -> QueueLimit:
        """A limit in the plan's format; BDP multiples use the largest base RTT through the port.

        Raises `ValueError` if the result is zero.
        """
        if queue.unit != "bdp":
            return queue.as_limit()
        base = self.base_rtt_ps(end)
        limit = int(queue.amount * rate_bps * base / (8 * PS_PER_S))
        if limit == 0:
            raise ValueError(f'"{queue}" is less than one byte: the base RTT is {base} ps')
        return {"bytes": limit}

    def base_rtt_ps(self, end: net.End) -> int:
        """The largest base RTT of flows that send data through this port, or of all flows if none
        does: propagation both ways, without transmission times.
        """
        flows = [placed.flow for placed in self.flows_through(end)]
        return max((self.paths.base_rtt_ps(flow) or 0 for flow in flows), default=0)

    def follows_trace(self, end: net.End) -> bool:
        """True if a port follows a trace: in the direction of the data, or by a link's own settings
        of the other one.
        """
        settings = self.ports[end]
        if settings.scenario is None or settings.scenario.trace is None:
            return False
        return self.is_forward(end)

    def is_forward(self, end: net.End) -> bool:
        """True for a port whose scenario keys are its own: in the direction of the data, or by a
        link's own settings of the other one.
        """
        settings = self.ports[end]
        if settings.scenario is None:
            return False
        return settings.forward or not isinstance(settings.scenario, (Bottleneck, Link, ParkingLot))

    def flows_through(self, end: net.End) -> list[PlacedFlow]:
        """The flows whose data leaves by this port; where there is none, all."""
        return [each for each in self.flows if self._passes(each.flow, end)] or self.flows

    def _passes(self, flow: net.Flow, end: net.End) -> bool:
        """True if a flow's data leaves by this port."""
        source, destination = flow.source.at, flow.destination.at
        between = self.paths.ports(source.switch, destination.switch)
        return end == destination or end in (between or ())


class LayoutError(Exception):
    """A scenario with inconsistent parts."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = problems


class Builder:
    """The layout that both kinds of topology build."""

    def __init__(self, scenario: Scenario, numbers: Sequence[int] = ()) -> None:
        self.scenario = scenario
        self.numbers = numbers
        self.problems = list[Problem]()
        self.ports = dict[net.End, PortSettings]()
        self.cables = list[net.Cable]()
        self.groups = dict[str, tuple[net.End, int]]()
        self.hosts = list[PlacedHost]()
        self.links = dict[str, tuple[net.End, net.End]]()
        self.names = list[str]()
        """The switches'."""

    def add_port(self, switch: str, port: Port | None = None, forward: bool = False) -> net.End:
        """The next port of a switch."""
        before = sum(end.switch == switch for end in self.ports)
        end = net.End(switch, self.numbers[before] if self.numbers else before + 1)
        self.ports[end] = PortSettings(end, port, forward)
        return end

    def add_host(self, name: str, group: str, ip: int, access: Access) -> net.Host:
        """Adds a host behind a group's port; MAC addresses count up. `ip` is its IPv4 address, or
        the last 32 bits of its IPv6 address.
        """
        end, cable_delay_ps = self.groups[group]
        mac = 0x0200_0000_0000 + len(self.hosts) + 1
        address: net.Address = IPv4Address(ip)
        if self.scenario.ip_version == 6:
            address = IPv6Address(IPV6_NETWORK | ip)
        host = net.Host(name, mac, address, end, access.delay + cable_delay_ps)
        self.hosts.append(PlacedHost(host, group, access))
        return host

    def hosts_for(
        self, number: int, copy: int, flow: Flow, key: str
    ) -> tuple[net.Host, net.Host] | None:
        """The source and destination of the scenario's connection `number` (from 1), the flow's
        `copy` (from 0).
        """
        raise NotImplementedError

    def flows(self) -> list[PlacedFlow]:
        """Every `[[flow]]` expanded; ids count from 1."""
        placed = list[PlacedFlow]()
        for index, settings in enumerate(self.scenario.flow):
            arrival = 0
            for copy in range(settings.count):
                number = len(placed) + 1
                ends = self.hosts_for(number, copy, settings, f"flow.{index}")
                if ends is None:
                    break
                lap, offset = divmod(number - 1, len(SENDER_PORTS))
                ports = (SENDER_PORTS[offset], FIRST_RECEIVER_PORT + lap)
                flow = net.Flow(number, *ends, *ports, protocol(settings))
                start = settings.start
                late = draw(self.scenario.seed, f"flow {number} start", start.spread)
                arrival += exponential(self.scenario.seed, f"flow {number} gap", start.poisson)
                at = start.at + copy * start.every + arrival + late
                placed.append(PlacedFlow(flow, settings, at))
        if not placed and not self.problems:
            self.problems.append(Problem("flow", "there are no flows: every count is 0"))
        return placed

    def finish(self, bottleneck: net.End) -> Layout:
        """Builds the layout. Raises `LayoutError` with all problems found so far."""
        flows = self.flows()
        if self.problems:
            raise LayoutError(self.problems)
        reporting = {end.switch for end in self.ports if self.reports(end)}
        collectors = tuple(
            self.collector(self.add_port(name)) for name in self.names if name in reporting
        )
        switches = tuple(self.switch(index + 1, name) for index, name in enumerate(self.names))
        topology = net.Topology(
            switches,
            tuple(self.cables),
            tuple(placed.host for placed in self.hosts),
            tuple(placed.flow for placed in flows),
            collectors,
        )
        found = routes(topology)
        paths = Paths(topology, found)
        problems = []
        for placed in flows:
            source, destination = placed.flow.source, placed.flow.destination
            if paths.base_rtt_ps(placed.flow) is None:
                what = f"no links lead from {source.name} to {destination.name} and back"
                problems.append(Problem("flow", what))
        if problems:
            raise LayoutError(problems)
        ports, groups, links = self.ports, self.groups, self.links
        return Layout(topology, found, ports, groups, self.hosts, flows, bottleneck, links)

    def switch(self, node_id: int, name: str) -> net.Switch:
        """A switch in the controller's topology."""
        return net.Switch(
            name,
            node_id,
            tuple(self.port(node_id, end) for end in self.ports if end.switch == name),
        )

    def port(self, node_id: int, end: net.End) -> net.Port:
        """A port in the controller's topology; only ports in the direction of the data have P4
        stages.
        """
        mac = 0x02FF_0000_0000 + (node_id << 16) + end.port
        settings = self.ports[end]
        if settings.scenario is None or not settings.forward:
            return net.Port(end.port, mac)
        own = settings.scenario
        values = own.stage_values(lambda limit: packets(self.scenario, own, limit, own.rate)) | {
            TELEMETRY: self.reports(end),
            **own.discipline.stages(own.rate),
        }
        on = {stage: value for stage, value in values.items() if value not in (None, stage.off)}
        return net.Port(end.port, mac, on, can_duplicate=self.duplicates_later(end))

    def duplicates_later(self, end: net.End) -> bool:
        """True if an event lets the P4 program duplicate packets towards a port."""
        changes = (each for event in self.scenario.event for each in event.set.by_link())
        there = (name for name, change in changes if change.duplicate and name in self.links)
        return any(self.links[name][0] == end for name in there)

    def reports(self, end: net.End) -> int:
        """The telemetry ratio at a port: one report per so many packets, 0 for none."""
        settings = self.ports[end]
        if settings.scenario is None or not settings.forward:
            return 0
        own = settings.scenario.telemetry
        return self.scenario.telemetry.every if own is None else own

    def collector(self, end: net.End) -> net.Collector:
        """The collector behind a port."""
        address, _, udp_port = self.scenario.telemetry.collector.rpartition(":")
        return net.Collector(end, COLLECTOR_MAC, IPv4Address(address), int(udp_port))


def protocol(settings: Flow) -> int:
    """The transport's protocol number of a flow."""
    return net.PROTOCOL_UDP if catalogue.sender(settings.variant) else net.PROTOCOL_TCP


def packets(scenario: Scenario, port: Port, limit: Queue, rate_bps: int) -> int:
    """A limit at a port as full packets."""
    return to_packets(limit, rate_bps, full_packet_bytes(scenario, port.counts))


def queue_limit(layout: Layout, end: net.End, queue: Queue, rate_bps: int, key: str) -> QueueLimit:
    """A DropTail limit. Raises `LayoutError`."""
    try:
        return layout.queue_limit(end, queue, rate_bps)
    except ValueError as error:
        raise LayoutError([Problem(key, str(error))]) from None
