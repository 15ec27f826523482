"""The default topology: one P4 switch between the senders and the receivers, as on hardware.

Port 1 leads to the senders and port 2 to the receivers, both with the bottleneck's rate and queue.
Senders are 10.0.0.0/16, receivers 10.1.0.0/16.
"""

from __future__ import annotations

from collections.abc import Sequence

import narrows.controller.topology as net
from narrows.testbed.problems import Problem
from narrows.testbed.scenario.flows import Flow
from narrows.testbed.scenario.schema import Scenario
from narrows.testbed.scenario.topologies.layout import Builder, Layout

HOSTS_PER_SIDE = 65_534


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
        """The sender and receiver of a connection; new hosts for each flow unless they
        are shared.
        """
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
