"""Converts a stream of messages to phases of constant rate, as pktgen needs.

A phase has a whole number of packets, so rounding does not change the total: pktgen gets the count
and ends the phase after it. At the end of each slot of `SLOT_PS`, the packets sent differ from the
messages written by at most two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from narrows.schema.units import PS_PER_S

SLOT_PS = 10 * 10**9
"""10 ms: pktgen's Lua waits in whole milliseconds."""
UDP_IP_ETHERNET_BYTES = 8 + 20 + 14
CHECK_SEQUENCE_BYTES = 4
PREAMBLE_AND_GAP_BYTES = 20
LEAST_FRAME_BYTES, MOST_FRAME_BYTES = 64, 1518
"""Including the check sequence."""


class ProfileError(ValueError):
    """A stream that pktgen cannot send."""


@dataclass(frozen=True)
class Stream:
    """A UDP flow: its headers, its payload length, and its send times (`at_ps`, increasing)."""

    name: str
    source_mac: str
    destination_mac: str
    source_ip: str
    destination_ip: str
    source_port: int
    destination_port: int
    payload_bytes: int
    at_ps: Sequence[int]
    flows: Sequence[int] = ()
    """The scenario's flows that it represents."""

    @property
    def frame_bytes(self) -> int:
        """The frame length with padding and check sequence. Raises `ProfileError`."""
        frame = self.payload_bytes + UDP_IP_ETHERNET_BYTES + CHECK_SEQUENCE_BYTES
        if frame > MOST_FRAME_BYTES:
            most = self.payload_bytes - (frame - MOST_FRAME_BYTES)
            what = f"messages of {self.payload_bytes} B: expected {most} at most, one packet each"
            raise ProfileError(f"{self.name}: {what}")
        return max(frame, LEAST_FRAME_BYTES)


@dataclass(frozen=True)
class Phase:
    """Packets spread evenly over a duration."""

    start_ps: int
    length_ps: int
    packets: int

    @property
    def packets_per_second(self) -> float:
        """The rate."""
        return self.packets * PS_PER_S / self.length_ps


def phases(stream: Stream) -> Iterator[Phase]:
    """Splits the stream into phases. Each is as long as one rate matches the counts at all slot
    boundaries to one packet. No phase begins with an empty slot.
    """
    edges = cumulative(stream.at_ps)
    first = 0
    while first < len(edges) - 1:
        if edges[first + 1] == edges[first]:
            first += 1
            continue
        # Packets per slot: the lowest and highest rates that fit so far.
        least, most = Fraction(0), Fraction(len(stream.at_ps))
        last = first
        while last + 1 < len(edges):
            slots, sent = last + 1 - first, edges[last + 1] - edges[first]
            lower, upper = Fraction(sent - 1, slots), Fraction(sent + 1, slots)
            if max(least, lower) > min(most, upper):
                break
            least, most = max(least, lower), min(most, upper)
            last += 1
        yield Phase(first * SLOT_PS, (last - first) * SLOT_PS, edges[last] - edges[first])
        first = last


def cumulative(at_ps: Sequence[int]) -> list[int]:
    """Cumulative messages at the end of each slot, starting with 0."""
    slots = max(at_ps) // SLOT_PS + 1 if at_ps else 0
    counts = [0] * (slots + 1)
    for at in at_ps:
        counts[at // SLOT_PS + 1] += 1
    for slot in range(slots):
        counts[slot + 1] += counts[slot]
    return counts
