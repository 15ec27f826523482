"""A target of the packet tests: its controller, its traffic manager, its wires."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Address
from typing import TypeVar

from scapy.layers.inet import IP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw

from narrows.controller import topology as net
from narrows.controller.client import SwitchClient
from narrows.controller.drivers import TrafficManager
from narrows.controller.routes import routes
from narrows.controller.state import SwitchState, TableEntry
from narrows.controller.switch import switch_state
from narrows.schema.switch import QueueLimit
from tests.packets.wires import Frames, Wires

T = TypeVar("T")
SOURCE, SINK, REPORTS = 1, 2, 3
"""The ports where packets enter, leave and are reported."""
FAST_BPS = 1_000_000_000
LONG_QUEUE: QueueLimit = {"packets": 1000}
COLLECTOR_UDP = 5600
NODE = 7
FLOW = net.Flow(
    41,
    net.Host("source", 0x02AA00000001, IPv4Address("10.0.1.1"), net.End("s1", SOURCE)),
    net.Host("sink", 0x02AA00000002, IPv4Address("10.0.2.2"), net.End("s1", SINK)),
    10001,
    5001,
)
COLLECTOR = net.Collector(net.End("s1", REPORTS), 0x02CC, IPv4Address("10.0.255.1"), COLLECTOR_UDP)
PORTS = {number: net.Port(number, 0x02FF00010000 + number) for number in (SOURCE, SINK, REPORTS)}
MARKER_SOURCE = bytes([10, 255, 255, 255])
MARKED = {
    port: net.Host(
        f"marked{port}",
        0x02EE00000000 + port,
        IPv4Address(0x0AFF0000 + port),
        net.End("s1", port),
    )
    for port in PORTS
}
"""The destination of markers: the tester's own packets, which show that all earlier packets have
passed.
"""
MARKERS = {
    port: bytes(
        Ether(dst="02:ee:00:00:00:00")
        / IP(src="10.255.255.255", dst=f"10.255.0.{port}", proto=253, len=60)
        / Raw(bytes(32))
    )
    for port in PORTS
}
CHUNK = 24
"""bmv2's ports take 32 packets at once."""
GIVE_UP_S = 20.0

DROPS = "NarrowsIngress.count_drops.drops"
LOSSES = 5
"""`DROP_RANDOM_LOSS` of p4/metadata.p4."""


def mac(number: int) -> str:
    """An Ethernet address in Scapy's form."""
    return number.to_bytes(6, "big").hex(":")


def built(packet: Packet) -> Packet:
    """A packet with its lengths and checksums computed."""
    return Ether(bytes(packet))


def forwarded(packet: Packet, port: int = SINK, to: int = FLOW.destination.mac) -> bytes:
    """The expected output for a packet, computed by Scapy."""
    left = packet.copy()
    left.src, left.dst = mac(PORTS[port].mac), mac(to)
    if IP in left:
        left[IP].ttl -= 1
        del left[IP].chksum
    else:
        left[IPv6].hlim -= 1
    return bytes(left)


def is_marker(frame: bytes) -> bool:
    """True for a marker, and for a report of one: by the IPv4 source, which in a report's copy of
    the packet stands 96 bytes further on.
    """
    return MARKER_SOURCE in (frame[26:30], frame[122:126])


@dataclass
class Target:
    """A running switch. `tick_ns`: the unit of its program's times."""

    name: str
    runner: asyncio.Runner
    client: SwitchClient
    traffic_manager: TrafficManager
    wires: Wires
    tick_ns: int
    state: SwitchState | None = None
    markers: int = 0

    def do(self, work: Awaitable[T]) -> T:
        """Waits for a result of the controller."""

        async def waiting() -> T:
            return await work

        return self.runner.run(waiting())

    def set_up(self, sink: net.Port | None = None, more: Iterable[TableEntry] = ()) -> None:
        """Writes the suite's routes, and port SINK's action on packets."""
        ports = PORTS | ({SINK: sink} if sink else {})
        hosts = (FLOW.source, FLOW.destination, *MARKED.values())
        topology = net.Topology(
            switches=(net.Switch("s1", NODE, tuple(ports.values())),),
            hosts=hosts,
            flows=(FLOW,),
            collectors=(COLLECTOR,),
        )
        state = switch_state(topology, routes(topology), topology.switches[0])
        state = replace(state, entries=(*state.entries, *more))
        if state != self.state:
            self.do(self.client.make(state))
            self.shape(FAST_BPS, LONG_QUEUE)
        self.state = state

    def shape(self, rate_bps: int, queue: QueueLimit) -> int:
        """Sets port SINK's rate and queue; returns the rate in force."""
        self.state = None
        self.do(self.traffic_manager.set_queue_limit(SINK, queue))
        return self.do(self.traffic_manager.set_rate(SINK, rate_bps))

    def dropped(self) -> dict[int, int]:
        """The ingress drops so far, by reason."""
        cells = self.do(self.client.read_counters(DROPS))
        return {reason: count.packets for reason, count in cells.items()}

    def exchange(self, frames: Sequence[bytes], into: int = SOURCE) -> dict[int, list[bytes]]:
        """Sends frames; returns all frames that left each port, in order."""
        out: dict[int, list[bytes]] = {port: [] for port in PORTS}
        for first in range(0, len(frames), CHUNK):
            self.wires.send(into, frames[first : first + CHUNK])
            self._wait_for(into, [into], out)
        # The last report is sent when its packet has left.
        self._wait_for(into, [port for port in PORTS if port != REPORTS], out)
        self._wait_for(into, [REPORTS], out)
        return out

    def _wait_for(self, into: int, ports: Sequence[int], out: dict[int, list[bytes]]) -> None:
        """Sends markers to each port until one arrives; lost markers are not errors."""
        wanted = dict[int, bytes]()
        give_up_at = time.monotonic() + GIVE_UP_S
        came: Frames = []
        while missing := [port for port in ports if port not in wanted or wanted[port]]:
            assert time.monotonic() < give_up_at, f"{self.name}: nothing leaves by {missing}"
            if not came:
                for port in missing:
                    self.markers += 1
                    wanted[port] = self.markers.to_bytes(8, "big")
                    self.wires.send(into, [MARKERS[port] + wanted[port]])
            came = self.wires.receive()
            for port, frame in came:
                if not is_marker(frame):
                    out[port].append(frame)
                elif frame[66:] == wanted.get(port):
                    wanted[port] = b""


Setter = Callable[[SwitchClient], TrafficManager]


def ready(
    runner: asyncio.Runner, name: str, client: SwitchClient, manager: Setter, wires: Wires,
    tick_ns: int = 1,
) -> Target:  # fmt: skip
    """A target whose controller has pushed the program; `runner` keeps its connection."""
    runner.run(client.__aenter__())
    return Target(name, runner, client, manager(client), wires, tick_ns)
