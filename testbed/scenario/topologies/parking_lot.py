"""A parking lot: switches in a row, a bottleneck between each two.

Link i leads from switch `s<i>` to `s<i+1>`. A flow passes all links, or with `link = i` only that
one. Each connection has its own sender and receiver. Hosts are 10.0.0.0/15.
"""

from __future__ import annotations

import narrows.controller.topology as net
from narrows.testbed.problems import Problem
from narrows.testbed.scenario.flows import Flow
from narrows.testbed.scenario.topologies.layout import Builder, Layout

MOST_CONNECTIONS = 65_534


class ParkingLot(Builder):
    """The topology of `[parking_lot]`."""

    def layout(self) -> Layout:
        """Switches with their links, then a port for each switch's hosts."""
        lot = self.scenario.parking_lot
        assert lot is not None, "the scenario has a parking lot"
        self.names = [f"s{number}" for number in range(1, lot.links + 2)]
        for near, far in zip(self.names, self.names[1:], strict=False):
            there, back = self.add_port(near, lot, forward=True), self.add_port(far, lot)
            self.cables.append(net.Cable(there, back, lot.delay))
            self.links |= {f"{near}->{far}": (there, back), f"{far}->{near}": (back, there)}
        first = self.links["s1->s2"]
        self.links["bottleneck"] = first
        for name in self.names:
            self.groups[f"{name}-hosts"] = (self.add_port(name), 0)
        return self.finish(first[0])

    def hosts_for(
        self, number: int, copy: int, flow: Flow, key: str
    ) -> tuple[net.Host, net.Host] | None:
        """A sender before the flow's first link, and a receiver behind its last."""
        last = len(self.names) - 1
        if flow.link is not None and flow.link > last:
            what = f"expected a link from 1 to {last}"
            self.problems.append(Problem(f"{key}.link", what, flow.link))
        elif flow.from_ or flow.to:
            what = "names a host; a parking lot places its own (expected link instead)"
            self.problems.append(Problem(f"{key}.{'from' if flow.from_ else 'to'}", what))
        elif number > MOST_CONNECTIONS:
            what = f"expected at most {MOST_CONNECTIONS} connections in a parking lot"
            self.problems.append(Problem(f"{key}.count", what, flow.count))
        else:
            begin, end = (1, last + 1) if flow.link is None else (flow.link, flow.link + 1)
            if flow.reverse:
                begin, end = end, begin
            access = self.scenario.access
            near = access.model_copy(update={"delay": access.delay + (flow.delay or 0)})
            group, ip = f"s{begin}-hosts", 0x0A00_0000 + number
            sender = self.add_host(f"sender{number}", group, ip, near)
            group, ip = f"s{end}-hosts", 0x0A01_0000 + number
            return sender, self.add_host(f"receiver{number}", group, ip, access)
        return None
