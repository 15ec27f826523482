"""Where everything is: a scenario's switches, ports, cables, hosts and flows, with their addresses.

The default dumbbell is one P4 switch, as on hardware: port 1 towards the senders, port 2 towards
the receivers, both with the bottleneck's rate and queue. In a topology of one's own a switch has
its links on ports 1, 2, ... in the file's order, then one port for all its hosts. The
collector's port is always the last. Addresses: senders 10.0.0.0/16, receivers 10.1.0.0/16, hosts
of one's own topology 10.0.0.0/15, in order.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import narrows.controller.topology as net
from narrows.controller.routes import Routes, base_rtt_ps, routes
from narrows.schema.units import PS_PER_S, Queue
from narrows.testbed import catalogue
from narrows.testbed.problems import Problem
from narrows.testbed.scenario.schema import Access, Flow, Link, Port, Scenario

HOSTS_PER_SIDE = 65_534
MAX_LINKS = 500
"""Per switch; the program has 512 ports."""

SENDER_PORTS = range(10_001, 60_001)
FIRST_RECEIVER_PORT = 5001
COLLECTOR_MAC = 0x02C0_0000_0001


@dataclass(frozen=True)
class PortSettings:
    """A switch port as its traffic manager sees it."""

    end: net.End
    scenario: Port | None
    """The scenario's keys; None for a port without a rate (towards hosts or the collector)."""
    forward: bool
    """True in the direction of the data."""


@dataclass(frozen=True)
class PlacedHost:
    """A host with its access link; `group` is the set of hosts on the same switch port."""

    host: net.Host
    group: str
    access: Access


@dataclass(frozen=True)
class PlacedFlow:
    """One connection of a `[[flow]]`, and when it opens."""

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
    """For each group of hosts the port it is behind, and the cable's delay in picoseconds."""
    hosts: list[PlacedHost]
    flows: list[PlacedFlow]
    bottleneck: net.End
    """The port whose figures the summary gives."""
    links: dict[str, tuple[net.End, net.End]]
    """The ports at both ends of a link direction, nearest first: `s1->s2`, and `bottleneck`."""

    def queue_limit(self, end: net.End, queue: Queue, rate_bps: int) -> dict[str, int]:
        """A limit as the plan has it; BDP multiples with the largest base RTT through the port.

        Raises `ValueError` where that is zero.
        """
        if queue.unit != "bdp":
            return queue.as_limit()
        base = self.base_rtt_ps(end)
        limit = int(queue.amount * rate_bps * base / (8 * PS_PER_S))
        if limit == 0:
            raise ValueError(f'"{queue}" is not one byte: the base RTT is {base} ps')
        return {"bytes": limit}

    def base_rtt_ps(self, end: net.End) -> int:
        """The largest base RTT of the flows whose data leaves by this port (of all flows where
        there is none): propagation both ways, no transmission times.
        """
        through, others = [0], [0]
        far = {cable.a: cable.b for cable in self.topology.cables}
        far |= {cable.b: cable.a for cable in self.topology.cables}
        for placed in self.flows:
            base = base_rtt_ps(self.topology, self.routes, placed.flow) or 0
            others.append(base)
            at = placed.flow.source.at
            while at.switch != placed.flow.destination.at.switch:
                at_port = self.routes[at.switch][placed.flow.destination.at.switch]
                if at_port == end:
                    through.append(base)
                at = far[at_port]
            if placed.flow.destination.at == end:
                through.append(base)
        return max(through) or max(others)


class LayoutError(Exception):
    """A scenario whose parts do not fit together."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = problems


def lay_out(scenario: Scenario, numbers: Sequence[int] = ()) -> Layout:
    """Places everything. `numbers` are a dumbbell's ports 1, 2 and 3 on a switch that has other
    numbers for them. Raises `LayoutError`.
    """
    if scenario.is_dumbbell:
        return Dumbbell(scenario, numbers).layout()
    return Own(scenario).layout()


class Builder:
    """What both kinds of topology collect."""

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
        """A host behind a group's port; its MAC address counts up."""
        end, cable_delay_ps = self.groups[group]
        mac = 0x0200_0000_0000 + len(self.hosts) + 1
        host = net.Host(name, mac, ip, end, access.delay + cable_delay_ps)
        self.hosts.append(PlacedHost(host, group, access))
        return host

    def hosts_for(
        self, number: int, copy: int, flow: Flow, key: str
    ) -> tuple[net.Host, net.Host] | None:
        """The source and destination of the scenario's `number`-th connection, from 1, which is
        the flow's `copy`-th, from 0.
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
            self.problems.append(Problem("flow", "no flow is left: every count is 0"))
        return placed

    def finish(self, bottleneck: net.End) -> Layout:
        """Puts everything together. Raises `LayoutError` with the problems found so far."""
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
        problems = []
        for placed in flows:
            source, destination = placed.flow.source, placed.flow.destination
            if base_rtt_ps(topology, found, placed.flow) is None:
                what = f"no links lead from {source.name} to {destination.name} and back"
                problems.append(Problem("flow", what))
        if problems:
            raise LayoutError(problems)
        ports, groups, links = self.ports, self.groups, self.links
        return Layout(topology, found, ports, groups, self.hosts, flows, bottleneck, links)

    def switch(self, node_id: int, name: str) -> net.Switch:
        """A switch as the controller knows it."""
        return net.Switch(
            name,
            node_id,
            tuple(self.port(node_id, end) for end in self.ports if end.switch == name),
        )

    def port(self, node_id: int, end: net.End) -> net.Port:
        """A port as the controller knows it; loss, marking and reports towards the data only."""
        mac = 0x02FF_0000_0000 + (node_id << 16) + end.port
        settings = self.ports[end]
        if settings.scenario is None or not settings.forward:
            return net.Port(end.port, mac)
        return net.Port(
            end.port,
            mac,
            settings.scenario.loss,
            settings.scenario.ecn_threshold,
            self.reports(end),
        )

    def reports(self, end: net.End) -> int:
        """One packet in so many is reported at a port, 0 none."""
        settings = self.ports[end]
        if settings.scenario is None or not settings.forward:
            return 0
        own = settings.scenario.telemetry
        return self.scenario.telemetry.every if own is None else own

    def collector(self, end: net.End) -> net.Collector:
        """The collector behind a port."""
        address, _, udp_port = self.scenario.telemetry.collector.rpartition(":")
        ip = 0
        for part in address.split("."):
            ip = ip << 8 | int(part)
        return net.Collector(end, COLLECTOR_MAC, ip, int(udp_port))


class Dumbbell(Builder):
    """The default topology."""

    def __init__(self, scenario: Scenario, numbers: Sequence[int] = ()) -> None:
        super().__init__(scenario, numbers)
        self.receivers = dict[int, net.Host]()

    def layout(self) -> Layout:
        """One switch, `s1`."""
        bottleneck = self.scenario.bottleneck
        assert bottleneck is not None, "the schema asks for one"
        self.names = ["s1"]
        back = self.add_port("s1", bottleneck)
        there = self.add_port("s1", bottleneck, forward=True)
        self.groups = {"senders": (back, 0), "receivers": (there, bottleneck.delay)}
        self.links = {"bottleneck": (there, back)}
        return self.finish(there)

    def hosts_for(
        self, number: int, copy: int, flow: Flow, key: str
    ) -> tuple[net.Host, net.Host] | None:
        """A sender and a receiver, new ones for each flow unless they are shared."""
        if flow.from_ or flow.to:
            what = "names a host; a dumbbell places its own (give [[switch]] and [[host]] instead)"
            self.problems.append(Problem(f"{key}.{'from' if flow.from_ else 'to'}", what))
            return None
        shared = self.scenario.dumbbell.receivers
        if self.scenario.dumbbell.hosts == "shared" and self.hosts:
            return self.hosts[0].host, self.hosts[1].host
        if number > HOSTS_PER_SIDE:
            what = f'above {HOSTS_PER_SIDE} flows need [dumbbell] hosts = "shared"'
            self.problems.append(Problem(f"{key}.count", what, flow.count))
            return None
        access = self.scenario.access
        sender = self.add_host(f"sender{number}", "senders", 0x0A00_0000 + number, access)
        turn = number if shared is None else 1 + (number - 1) % shared
        if turn not in self.receivers:
            name = f"receiver{turn}"
            self.receivers[turn] = self.add_host(name, "receivers", 0x0A01_0000 + turn, access)
        return sender, self.receivers[turn]


class Own(Builder):
    """A topology of the scenario's own tables."""

    def layout(self) -> Layout:
        """Switches, links, then hosts."""
        self.names = [switch.name for switch in self.scenario.switch]
        self.unique("switch", self.names)
        self.unique("host", [host.name for host in self.scenario.host])
        marked: net.End | None = None
        for index, link in enumerate(self.scenario.link):
            for key, name in (("from", link.from_), ("to", link.to)):
                if name not in self.names:
                    what = f"no such switch; expected one of {', '.join(self.names)}"
                    self.problems.append(Problem(f"link.{index}.{key}", what, name))
            if link.from_ == link.to:
                self.problems.append(Problem(f"link.{index}", f"joins {link.to} to itself"))
            end = self.add_link(index, link)
            if link.bottleneck and marked:
                self.problems.append(Problem(f"link.{index}.bottleneck", "there can be only one"))
            marked = end if link.bottleneck else marked
        for name in self.names:
            if any(host.switch == name for host in self.scenario.host):
                self.groups[f"{name}-hosts"] = (self.add_port(name), 0)
        for index, host in enumerate(self.scenario.host):
            if host.switch not in self.names:
                what = f"no such switch; expected one of {', '.join(self.names)}"
                self.problems.append(Problem(f"host.{index}.switch", what, host.switch))
                continue
            access = host.access or self.scenario.access
            self.add_host(host.name, f"{host.switch}-hosts", 0x0A00_0001 + index, access)
        if not self.scenario.link:
            self.problems.append(Problem("link", "a topology needs at least one link"))
        if self.problems:
            raise LayoutError(self.problems)
        first = next(iter(self.links.values()))
        bottleneck = marked or first[0]
        self.links["bottleneck"] = next(
            ends for ends in self.links.values() if ends[0] == bottleneck
        )
        return self.finish(bottleneck)

    def add_link(self, index: int, link: Link) -> net.End:
        """A cable and its two ports; returns the one at `from`."""
        reverse = link.reverse or link
        there = self.add_port(link.from_, link, forward=True)
        back = self.add_port(link.to, reverse, forward=link.reverse is not None)
        self.cables.append(net.Cable(there, back, link.delay))
        for name, ends in (
            (f"{link.from_}->{link.to}", (there, back)),
            (f"{link.to}->{link.from_}", (back, there)),
        ):
            if name in self.links:
                self.problems.append(Problem(f"link.{index}", f"{name} is there already"))
            self.links[name] = ends
        if there.port > MAX_LINKS or back.port > MAX_LINKS:
            what = f"a switch has at most {MAX_LINKS} links"
            self.problems.append(Problem(f"link.{index}", what))
        return there

    def unique(self, key: str, names: list[str]) -> None:
        """Notes every name that is there twice."""
        for index, name in enumerate(names):
            if name in names[:index]:
                self.problems.append(Problem(f"{key}.{index}.name", "is there already", name))

    def hosts_for(
        self, number: int, copy: int, flow: Flow, key: str
    ) -> tuple[net.Host, net.Host] | None:
        """The hosts that the flow names; of lists each pair in turn."""
        ends = list[net.Host]()
        hosts = {placed.host.name: placed.host for placed in self.hosts}
        pairs = list(itertools.product(listed(flow.from_), listed(flow.to)))
        for end, name in zip(("from", "to"), pairs[copy % len(pairs)], strict=True):
            if name is None:
                self.problems.append(Problem(f"{key}.{end}", "is missing: the name of a host"))
            elif name not in hosts:
                what = f"no such host; expected one of {', '.join(hosts)}"
                self.problems.append(Problem(f"{key}.{end}", what, name))
            else:
                ends.append(hosts[name])
        if len(ends) < 2:
            return None
        if ends[0] == ends[1]:
            self.problems.append(Problem(f"{key}.to", "is the sender itself", ends[1].name))
            return None
        return ends[0], ends[1]


def protocol(settings: Flow) -> int:
    """The IPv4 protocol number of a flow."""
    return net.PROTOCOL_UDP if catalogue.sender(settings.variant) else net.PROTOCOL_TCP


def listed(names: str | list[str] | None) -> Sequence[str | None]:
    """One name, or none, as a list of one."""
    return names if isinstance(names, list) else [names]


def draw(seed: int, name: str, below: int) -> int:
    """A uniform integer in `0..below` that follows from the seed and the name alone (0 for 0).

    64 bits of SHA-256, scaled; the bias is below `below` / 2^64.
    """
    digest = hashlib.sha256(f"{seed} {name}".encode()).digest()
    return int.from_bytes(digest[:8], "big") * below >> 64


def exponential(seed: int, name: str, mean: int) -> int:
    """An exponential integer of this mean that follows from the seed and the name (0 for 0).

    `-mean ln(u)`, u uniform in (0, 1] in steps of 2^-64; `Decimal`'s logarithm is the same on
    every machine.
    """
    if mean == 0:
        return 0
    share = Decimal(1 + draw(seed, name, 2**64)) / Decimal(2**64)
    return int(-mean * share.ln())
