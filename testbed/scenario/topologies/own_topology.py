"""A custom topology: `[[switch]]`, `[[link]]` and `[[host]]`.

A switch has its links on ports 1, 2, ... in the file's order, then one port for all its hosts.
Hosts are 10.0.0.0/15, in order.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import narrows.controller.topology as net
from narrows.testbed.problems import Problem
from narrows.testbed.scenario.flows import Flow
from narrows.testbed.scenario.network import Link
from narrows.testbed.scenario.topologies.layout import Builder, Layout, LayoutError

MAX_LINKS = 500
"""Maximum links per switch; the program has 512 ports."""


class OwnTopology(Builder):
    """Builds a custom topology."""

    def layout(self) -> Layout:
        """Places switches, then links, then hosts. Raises `LayoutError`."""
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
                self.problems.append(Problem(f"link.{index}", f"connects {link.to} to itself"))
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
                self.problems.append(Problem(f"link.{index}", f"{name} already exists"))
            self.links[name] = ends
        if there.port > MAX_LINKS or back.port > MAX_LINKS:
            what = f"a switch has at most {MAX_LINKS} links"
            self.problems.append(Problem(f"link.{index}", what))
        return there

    def unique(self, key: str, names: list[str]) -> None:
        """Collects duplicate names."""
        for index, name in enumerate(names):
            if name in names[:index]:
                self.problems.append(Problem(f"{key}.{index}.name", "already exists", name))

    def hosts_for(
        self, number: int, copy: int, flow: Flow, key: str
    ) -> tuple[net.Host, net.Host] | None:
        """The flow's hosts; lists are cycled through pair by pair."""
        keys = (("delay", flow.delay), ("reverse", flow.reverse), ("link", flow.link))
        for own, given in keys:
            if given is not None:
                what = "is for a dumbbell or a parking lot; here a [[host]] has place and delay"
                self.problems.append(Problem(f"{key}.{own}", what))
                return None
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


def listed(names: str | list[str] | None) -> Sequence[str | None]:
    """One name, or none, as a list of one."""
    return names if isinstance(names, list) else [names]
