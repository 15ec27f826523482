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


def path(topology: Topology, found: Routes, source: str, destination: str) -> list[End] | None:
    """The output ports on the path from `source` to `destination`; None if no path exists."""
    far_end = {cable.a: cable.b for cable in topology.cables}
    far_end |= {cable.b: cable.a for cable in topology.cables}
    ports, at = list[End](), source
    while at != destination:
        port = found[at].get(destination)
        if port is None:
            return None
        ports.append(port)
        at = far_end[port].switch
    return ports


def base_rtt_ps(topology: Topology, found: Routes, flow: Flow) -> int | None:
    """Propagation delay from the flow's source to its destination and back; None without a path."""
    delays = {end: cable.delay_ps for cable in topology.cables for end in (cable.a, cable.b)}
    total = 2 * (flow.source.delay_ps + flow.destination.delay_ps)
    for one, other in ((flow.source, flow.destination), (flow.destination, flow.source)):
        ports = path(topology, found, one.at.switch, other.at.switch)
        if ports is None:
            return None
        total += sum(delays[port] for port in ports)
    return total
