"""Computes the state of one switch, stage by stage, with the names of `p4/v1model.p4`.

The tables in order (ingress, then egress):

    forward.ipv4_lpm -> identify_flow.flow -> random_loss.loss
    forward.ipv6_lpm -> identify_flow.ipv6_flow -> random_loss.loss
    random_loss.loss -> random_duplicate.duplicate -> (multicast)
    mark_ecn.ecn -> select_report.telemetry -> (clone) make_report.collector
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from narrows.controller.matches import Exact, Lpm, Ternary
from narrows.controller.objects import CloneSession, MulticastGroup, Replica
from narrows.controller.routes import Routes
from narrows.controller.stages import REPORT_SESSION
from narrows.controller.state import SwitchState, TableEntry
from narrows.controller.topology import Collector, Flow, Port, Switch, Topology

FLOW_ENTRIES = 4096
"""Flows that the flow table holds (`FLOWS` in p4/metadata.p4), with two entries each. Flows beyond
it get the id from the program's hash.
"""

FORWARD = "NarrowsIngress.forward"
FLOW = "NarrowsIngress.identify_flow"
REPORT = "NarrowsEgress.make_report"


@dataclass(frozen=True)
class IpTables:
    """The tables of an IP version, and the fields that they match."""

    routes: str
    flows: str
    source: str
    destination: str
    protocol: str


IP_TABLES = {
    4: IpTables(
        f"{FORWARD}.ipv4_lpm",
        f"{FLOW}.flow",
        "hdr.ipv4.src_addr",
        "hdr.ipv4.dst_addr",
        "hdr.ipv4.protocol",
    ),
    6: IpTables(
        f"{FORWARD}.ipv6_lpm",
        f"{FLOW}.ipv6_flow",
        "hdr.ipv6.src_addr",
        "hdr.ipv6.dst_addr",
        "hdr.ipv6.next_header",
    ),
}
"""By IP version."""


def switch_state(topology: Topology, found: Routes, switch: Switch) -> SwitchState:
    """All entries, sessions and groups of one switch of the topology, in a fixed order."""
    entries = [*forwarding(topology, found, switch), *flow_ids(topology.flows)]
    for port in switch.ports:
        entries += [stage.entry(port.number, value) for stage, value in port.stages.items()]
    sessions = []
    for collector in topology.collectors:
        if collector.at.switch == switch.name:
            entries.append(report(switch, collector))
            sessions.append(CloneSession(REPORT_SESSION, (Replica(collector.at.port),)))
    groups = tuple(twice(port) for port in switch.ports if port.duplicates)
    return SwitchState(tuple(entries), tuple(sessions), multicast_groups=groups)


def forwarding(topology: Topology, found: Routes, switch: Switch) -> Iterator[TableEntry]:
    """A host route to each reachable host."""
    far_mac = {}
    for cable in topology.cables:
        far_mac[cable.a] = topology.by_name[cable.b.switch].port(cable.b.port).mac
        far_mac[cable.b] = topology.by_name[cable.a.switch].port(cable.a.port).mac
    for host in topology.hosts:
        if host.at.switch == switch.name:
            end, next_mac = host.at, host.mac
        elif host.at.switch in found[switch.name]:
            end = found[switch.name][host.at.switch]
            next_mac = far_mac[end]
        else:
            continue
        tables = IP_TABLES[host.ip.version]
        yield TableEntry(
            tables.routes,
            {tables.destination: Lpm(int(host.ip), host.ip.max_prefixlen)},
            f"{FORWARD}.route",
            {"port": end.port, "src_mac": switch.port(end.port).mac, "dst_mac": next_mac},
        )


def flow_ids(flows: tuple[Flow, ...]) -> Iterator[TableEntry]:
    """Entries that assign a flow's id to its packets in both directions, up to the table's size."""
    for flow in flows[: FLOW_ENTRIES // 2]:
        tables, mask = IP_TABLES[flow.source.ip.version], (1 << flow.source.ip.max_prefixlen) - 1
        there = (flow.source.ip, flow.destination.ip, flow.source_port, flow.destination_port)
        back = (there[1], there[0], there[3], there[2])
        for source_ip, destination_ip, source_port, destination_port in (there, back):
            yield TableEntry(
                tables.flows,
                {
                    tables.source: Ternary(int(source_ip), mask),
                    tables.destination: Ternary(int(destination_ip), mask),
                    tables.protocol: Ternary(flow.protocol, 0xFF),
                    "meta.src_port": Ternary(source_port, 0xFFFF),
                    "meta.dst_port": Ternary(destination_port, 0xFFFF),
                },
                f"{FLOW}.set_flow",
                {"flow_id": flow.id},
                priority=1,
            )


def twice(port: Port) -> MulticastGroup:
    """The two copies of a packet that the program duplicates towards a port."""
    number = port.number
    return MulticastGroup(number + 1, (Replica(number, 0), Replica(number, 1)))


def report(switch: Switch, collector: Collector) -> TableEntry:
    """The entry that addresses clones at the collector's port."""
    return TableEntry(
        f"{REPORT}.collector",
        {"collector_port": Exact(collector.at.port)},
        f"{REPORT}.send_to",
        {
            "node_id": switch.node_id,
            "src_mac": switch.port(collector.at.port).mac,
            "dst_mac": collector.mac,
            "src_addr": 0x0AFE0000 + switch.node_id,
            "dst_addr": int(collector.ip),
            "udp_port": collector.udp_port,
        },
    )
