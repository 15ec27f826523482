"""What the hardware bottleneck counts of a port."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from narrows.controller.drivers.fpga_protocol import Direction

REASONS: Final[Mapping[str, tuple[str, ...]]] = {
    "enqueue": ("",),
    "dequeue": ("",),
    "drop": ("queue-full", "egress-program", "random-loss", "memory-full", "codel"),
    "mark": ("threshold-packets", "threshold-bytes", "threshold-time", "codel"),
}
"""The reasons of each kind of row, in the order of their numbers."""
KINDS: Final = tuple(REASONS)
"""The kinds of rows, in the order of their numbers."""
COUNTED: Final = {
    (kind, reason): 8 * number + index
    for number, (kind, reasons) in enumerate(REASONS.items())
    for index, reason in enumerate(reasons)
}
"""The place of each count among a port's."""
BYTES_AT: Final = 32
"""Where the counts of bytes begin, after those of packets."""
CODEL: Final = ("drop", "codel")
"""Packets that had entered the queue, and count as dequeued, too."""
RANDOM_LOSS: Final = ("drop", "random-loss")
EVENTS: Final = (
    Direction.ERRORED, Direction.RUNTS, Direction.GIANTS, Direction.ROWS_LOST, Direction.LEFT,
    Direction.LATE, Direction.UNDERRUNS,
)  # fmt: skip
"""Counts beside the ledger."""
SPAN: Final = 1 << 32
"""Where those start again."""


@dataclass(frozen=True)
class Counts:
    """A port's counts since the board started, or since an earlier reading."""

    cells: Mapping[tuple[str, str], tuple[int, int]]
    """The rows of each kind and reason: packets, and their bytes that count against the rate."""
    events: Mapping[Direction, int]
    """Of each of `EVENTS`."""

    def since(self, before: Counts) -> Counts:
        """The difference from an earlier reading."""
        cells = {
            key: (packets - before.cells[key][0], size - before.cells[key][1])
            for key, (packets, size) in self.cells.items()
        }
        events = {name: (count - before.events[name]) % SPAN for name, count in self.events.items()}
        return Counts(cells, events)

    def of(self, kind: str) -> dict[str, int]:
        """The packets of a kind by reason."""
        return {reason: self.cells[each, reason][0] for each, reason in COUNTED if each == kind}

    @property
    def enqueued(self) -> int:
        """Packets that entered the queue."""
        return self.cells["enqueue", ""][0]

    @property
    def dequeued(self) -> int:
        """Packets that left the queue."""
        return self.cells["dequeue", ""][0]

    @property
    def dequeued_bytes(self) -> int:
        """Their bytes that count against the rate."""
        return self.cells["dequeue", ""][1]

    @property
    def transmitted(self) -> int:
        """Packets that left the queue for the line."""
        return self.dequeued - self.cells[CODEL][0]

    @property
    def transmitted_bytes(self) -> int:
        """Their bytes that count against the rate."""
        return self.dequeued_bytes - self.cells[CODEL][1]

    @property
    def dropped(self) -> int:
        """Packets dropped for any reason."""
        return sum(self.of("drop").values())

    @property
    def arrived(self) -> int:
        """Packets that arrived without error."""
        return self.enqueued + self.dropped - self.cells[CODEL][0]

    @property
    def waiting(self) -> int:
        """Packets in the queue."""
        return self.enqueued - self.dequeued

    @property
    def waiting_bytes(self) -> int:
        """Their bytes."""
        return self.cells["enqueue", ""][1] - self.dequeued_bytes

    @property
    def rows(self) -> int:
        """Rows of the ledger."""
        return sum(packets for packets, _ in self.cells.values())
