"""A stream of messages as phases of a constant rate, which is what pktgen can do.

A phase has a whole number of packets, so that nothing is lost or added by rounding: pktgen is told
the count and ends a phase by itself. Within a phase the packets sent by the end of each slot of
`SLOT_PS` are the messages written by then, to two packets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

SLOT_PS = 10 * 10**9
"""10 ms: pktgen's Lua waits in whole milliseconds."""
PS_PER_S = 10**12
UDP_IP_ETHERNET_BYTES = 8 + 20 + 14
CHECK_SEQUENCE_BYTES = 4
PREAMBLE_AND_GAP_BYTES = 20
LEAST_FRAME_BYTES, MOST_FRAME_BYTES = 64, 1518
"""With the check sequence."""


class ProfileError(ValueError):
    """A stream that pktgen can't send."""


@dataclass(frozen=True)
class Stream:
    """A UDP flow: its headers, and when how many bytes of payload are sent (`at_ps` rising)."""

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
    """The scenario's flows that it stands for."""

    @property
    def frame_bytes(self) -> int:
        """A frame with its check sequence, padded where it must be. Raises `ProfileError`."""
        frame = self.payload_bytes + UDP_IP_ETHERNET_BYTES + CHECK_SEQUENCE_BYTES
        if frame > MOST_FRAME_BYTES:
            most = self.payload_bytes - (frame - MOST_FRAME_BYTES)
            what = f"messages of {self.payload_bytes} B: expected {most} at most, one packet each"
            raise ProfileError(f"{self.name}: {what}")
        return max(frame, LEAST_FRAME_BYTES)


@dataclass(frozen=True)
class Phase:
    """So many packets, evenly over a time."""

    start_ps: int
    length_ps: int
    packets: int

    @property
    def packets_per_second(self) -> float:
        """The rate."""
        return self.packets * PS_PER_S / self.length_ps


def phases(stream: Stream) -> Iterator[Phase]:
    """The stream in phases, each as long as some rate has its counts at all of the slots' edges, to
    one packet. None begins with a slot in which nothing is sent.
    """
    edges = cumulative(stream.at_ps)
    first = 0
    while first < len(edges) - 1:
        if edges[first + 1] == edges[first]:
            first += 1
            continue
        # Packets per slot: the least and the greatest rate that fit so far.
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
    """How many messages there were by the end of each slot, 0 first."""
    slots = max(at_ps) // SLOT_PS + 1 if at_ps else 0
    counts = [0] * (slots + 1)
    for at in at_ps:
        counts[at // SLOT_PS + 1] += 1
    for slot in range(slots):
        counts[slot + 1] += counts[slot]
    return counts
