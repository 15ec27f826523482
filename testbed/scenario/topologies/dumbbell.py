"""The default topology: one P4 switch between the senders and the receivers, as on hardware.

Port 1 leads to the senders and port 2 to the receivers, both with the bottleneck's rate and queue.
Senders are 10.0.0.0/16, receivers 10.1.0.0/16.
"""

from __future__ import annotations

from collections.abc import Sequence

import narrows.controller.topology as net
from narrows.testbed.problems import Problem
from narrows.testbed.scenario.flows import Flow
from narrows.testbed.scenario.network import Access
from narrows.testbed.scenario.schema import Scenario
from narrows.testbed.scenario.topologies.layout import Builder, Layout

HOSTS_PER_SIDE = 65_534
FIRST_IP = {"senders": 0x0A00_0000, "receivers": 0x0A01_0000}
OWN_HOSTS = 'needs hosts of its own; expected [dumbbell] hosts = "per-flow" without receivers'


class Dumbbell(Builder):
    """The default topology."""

    def __init__(self, scenario: Scenario, numbers: Sequence[int] = ()) -> None:
        super().__init__(scenario, numbers)
        self.receivers = dict[int, net.Host]()
        self.delayed = dict[int, Access]()
        """The access link of a sender, by its extra delay."""

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
        """The sender and receiver of a connection; new hosts for each flow unless they
        are shared.
        """
        if flow.from_ or flow.to:
            what = "names a host; a dumbbell places its own (give [[switch]] and [[host]] instead)"
            self.problems.append(Problem(f"{key}.{'from' if flow.from_ else 'to'}", what))
            return None
        if flow.link is not None:
            what = "is for a [parking_lot]; a dumbbell has one link"
            self.problems.append(Problem(f"{key}.link", what, flow.link))
            return None
        shared = self.scenario.dumbbell.receivers
        if problem := self.own_access_problem(flow):
            self.problems.append(Problem(f"{key}.{problem}", OWN_HOSTS))
            return None
        if self.scenario.dumbbell.hosts == "shared" and self.hosts:
            return self.hosts[0].host, self.hosts[1].host
        if number > HOSTS_PER_SIDE:
            what = f'above {HOSTS_PER_SIDE} flows need [dumbbell] hosts = "shared"'
            self.problems.append(Problem(f"{key}.count", what, flow.count))
            return None
        access, extra = self.scenario.access, flow.delay or 0
        if extra not in self.delayed:
            self.delayed[extra] = access.model_copy(update={"delay": access.delay + extra})
        near = self.delayed[extra]
        side, other = ("receivers", "senders") if flow.reverse else ("senders", "receivers")
        sender = self.add_host(f"sender{number}", side, FIRST_IP[side] + number, near)
        turn = number if shared is None else 1 + (number - 1) % shared
        if turn not in self.receivers:
            name, ip = f"receiver{turn}", FIRST_IP[other] + turn
            self.receivers[turn] = self.add_host(name, other, ip, access)
        return sender, self.receivers[turn]

    def own_access_problem(self, flow: Flow) -> str:
        """The key that needs hosts of the flow's own, where these are shared; else empty."""
        dumbbell = self.scenario.dumbbell
        if flow.delay is not None and dumbbell.hosts == "shared":
            return "delay"
        shares = dumbbell.hosts == "shared" or dumbbell.receivers is not None
        return "reverse" if flow.reverse and shares else ""
