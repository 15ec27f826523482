"""What a scenario was understood as: the path's base RTT, its BDP, and the queue in every unit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from narrows.schema.units import PS_PER_S, format_duration, format_rate
from narrows.testbed.scenario.packets import full_packet_bytes
from narrows.testbed.scenario.schema import Scenario
from narrows.testbed.scenario.topologies.layout import Layout, PlacedFlow

T = TypeVar("T", int, float)


@dataclass(frozen=True)
class Understood:
    """The bottleneck of one point, and the flows through it."""

    rate_bps: int
    rtts_ps: tuple[int, int]
    """Least and largest base RTT of the flows through it: propagation there and back."""
    packet_bytes: int
    """The largest full packet, in the bytes that count against rate and queue."""
    queue_bytes: float
    """The limit in bytes; one in packets as so many full packets."""

    @property
    def bdp_bytes(self) -> float:
        """Rate times the largest base RTT, as a queue in `bdp` takes it."""
        return self.rate_bps * self.rtts_ps[1] / (8 * PS_PER_S)

    @property
    def queue_ms(self) -> float:
        """How long the full queue takes to leave."""
        return 8e3 * self.queue_bytes / self.rate_bps


def understood(scenario: Scenario, layout: Layout) -> Understood:
    """What a laid-out point comes to at its bottleneck."""
    end = layout.bottleneck
    port = layout.ports[end].scenario
    assert port is not None, "a bottleneck has a rate"
    rtts_ps = [base_rtt(layout, placed) for placed in layout.flows_through(end)]
    packet_bytes = full_packet_bytes(scenario, port.counts)
    limit = layout.queue_limit(end, port.queue, port.rate)
    if "packets" in limit:
        queue_bytes = float(limit["packets"] * packet_bytes)
    elif "time_ps" in limit:
        queue_bytes = port.rate * limit["time_ps"] / (8 * PS_PER_S)
    else:
        queue_bytes = float(limit["bytes"])
    return Understood(port.rate, (min(rtts_ps), max(rtts_ps)), packet_bytes, queue_bytes)


def base_rtt(layout: Layout, placed: PlacedFlow) -> int:
    """A flow's base RTT in picoseconds."""
    found = layout.paths.base_rtt_ps(placed.flow)
    assert found is not None, "a layout has a way for every flow"
    return found


def described(points: Sequence[Understood]) -> list[str]:
    """Two lines: the path, and the queue; over several points from the least to the greatest."""
    rtts = [rtt for point in points for rtt in point.rtts_ps]
    rate = span([point.rate_bps for point in points], format_rate)
    rtt = span(rtts, format_duration)
    bdp = span([point.bdp_bytes for point in points], size)
    bdp_packets = span([point.bdp_bytes / point.packet_bytes for point in points], figure)
    packet = span([point.packet_bytes for point in points], lambda value: f"{value} B")
    queue = span([point.queue_bytes for point in points], size)
    queue_packets = span([point.queue_bytes / point.packet_bytes for point in points], figure)
    queue_ms = span([point.queue_ms for point in points], figure)
    in_bdp = [point.queue_bytes / point.bdp_bytes for point in points if point.bdp_bytes]
    multiple = f" = {span(in_bdp, figure)} BDP" if in_bdp else ""
    return [
        f"bottleneck {rate}, base RTT {rtt}, BDP {bdp_packets} packets = {bdp}",
        f"queue {queue_packets} packets = {queue} = {queue_ms} ms{multiple}, packets of {packet}",
    ]


def span(values: Sequence[T], write: Callable[[T], str]) -> str:
    """One value, or the least and the greatest."""
    least, most = write(min(values)), write(max(values))
    return least if least == most else f"{least} to {most}"


def figure(value: float) -> str:
    """Three digits, or all before the point."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def size(value: float) -> str:
    """Bytes with a decimal prefix."""
    for factor, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if value >= factor:
            return f"{figure(value / factor)} {name}"
    return f"{figure(value)} B"
