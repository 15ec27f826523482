"""Shortest paths between switches: fewest cables, then least delay, then cable order.

Dijkstra's algorithm from every switch, over cables in both directions.
"""

from __future__ import annotations

import heapq
from collections import defaultdict

from narrows.controller.topology import End, Flow, Topology

Routes = dict[str, dict[str, End]]
"""For a switch and a destination switch, the output port at the first."""


def routes(topology: Topology) -> Routes:
    """The output port from every switch towards every reachable switch."""
    neighbours = defaultdict[str, list[tuple[int, End, End]]](list)
    for cable in topology.cables:
        neighbours[cable.a.switch].append((cable.delay_ps, cable.a, cable.b))
        neighbours[cable.b.switch].append((cable.delay_ps, cable.b, cable.a))
    return {switch.name: _from(switch.name, neighbours) for switch in topology.switches}


def _from(start: str, neighbours: dict[str, list[tuple[int, End, End]]]) -> dict[str, End]:
    """The port at `start` towards each reachable switch."""
    first: dict[str, End] = {}
    # (cables, delay, order of discovery): the last makes ties deterministic.
    heap: list[tuple[int, int, int, str, End | None]] = [(0, 0, 0, start, None)]
    done, order = set[str](), 0
    while heap:
        hops, delay_ps, _, switch, port = heapq.heappop(heap)
        if switch in done:
            continue
        done.add(switch)
        if port is not None:
            first[switch] = port
        for cable_ps, near, far in neighbours.get(switch, []):
            order += 1
            entry = (hops + 1, delay_ps + cable_ps, order, far.switch, port or near)
            heapq.heappush(heap, entry)
    return first


class Paths:
    """The paths between switches, and their delays. Each is found once for all its flows."""

    def __init__(self, topology: Topology, found: Routes) -> None:
        self._routes = found
        self._far = {cable.a: cable.b for cable in topology.cables}
        self._far |= {cable.b: cable.a for cable in topology.cables}
        self._delays_ps = {
            end: cable.delay_ps for cable in topology.cables for end in (cable.a, cable.b)
        }
        self._ports = dict[tuple[str, str], tuple[End, ...] | None]()
        self._round_trips_ps = dict[tuple[str, str], int | None]()

    def ports(self, source: str, destination: str) -> tuple[End, ...] | None:
        """The output ports on the path from a switch to another; None if no path exists."""
        ends = source, destination
        if ends not in self._ports:
            self._ports[ends] = self._find(source, destination)
        return self._ports[ends]

    def base_rtt_ps(self, flow: Flow) -> int | None:
        """Propagation delay from the flow's source to its destination and back; None without a
        path.
        """
        ends = flow.source.at.switch, flow.destination.at.switch
        if ends not in self._round_trips_ps:
            self._round_trips_ps[ends] = self._round_trip_ps(*ends)
        between_ps = self._round_trips_ps[ends]
        if between_ps is None:
            return None
        return 2 * (flow.source.delay_ps + flow.destination.delay_ps) + between_ps

    def _find(self, source: str, destination: str) -> tuple[End, ...] | None:
        ports, at = list[End](), source
        while at != destination:
            port = self._routes[at].get(destination)
            if port is None:
                return None
            ports.append(port)
            at = self._far[port].switch
        return tuple(ports)

    def _round_trip_ps(self, one: str, other: str) -> int | None:
        there, back = self.ports(one, other), self.ports(other, one)
        if there is None or back is None:
            return None
        return sum(self._delays_ps[port] for port in there + back)
