"""The bottleneck in whole numbers: what a port does to packets, without a core or an engine.

Departures follow Lindley's recursion with exact fractions. It is written from the definitions
(docs/guide and the comments of `common/`), so that a core and the engine can be held against it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from fractions import Fraction
from math import sqrt

from tests.fpga.core import CoDel, Row, Settings

BYTE_PS = 8 * 10**12
"""Picoseconds of a byte at 1 bit/s."""


def counted(basis: str, frame_bytes: int) -> int:
    """The bytes of a frame that count."""
    return {
        "ip": max(frame_bytes - 14, 0),
        "frame": frame_bytes,
        "wire": max(frame_bytes + 4, 64) + 20,
    }[basis]


@dataclass
class Waiting:
    """A packet in the queue."""

    number: int
    at_ps: int
    frame_bytes: int
    counted: int
    is_ecn_capable: bool
    is_marked: bool = False


@dataclass
class ControlState:
    """The variables of RFC 8289, section 5."""

    first_above_time: int = 0
    drop_next: int = 0
    count: int = 0
    lastcount: int = 0
    dropping: bool = False


def control_law(start_ps: int, count: int, codel: CoDel) -> int:
    """When the next drop is due (RFC 8289 section 5.6), in doubles."""
    return start_ps + int(codel.interval_ps / sqrt(count))


@dataclass
class Port:
    """A queue and its line; `free` is when the line is free, to the fraction of a picosecond."""

    settings: Settings
    free_ps: int = 0
    carry: Fraction = Fraction(0)
    queue: deque[Waiting] = field(default_factory=deque)
    rows: list[Row] = field(default_factory=list)
    sent: list[tuple[int, int, int, bool]] = field(default_factory=list)
    number: int = 0
    control: ControlState = field(default_factory=ControlState)

    def set(self, at_ps: int, settings: Settings) -> None:
        """New settings; the carry is rounded down to a whole part of the new rate."""
        self.run(at_ps)
        rate = settings.rate_bps
        self.carry = Fraction(int(self.carry * rate), rate)
        self.settings = settings
        if not settings.codel:
            self.control = ControlState()

    def offer(self, at_ps: int, frame_bytes: int, is_ecn_capable: bool) -> None:
        """A packet arrives."""
        self.run(at_ps)
        size = counted(self.settings.basis, frame_bytes)
        packet = Waiting(self.number, at_ps, frame_bytes, size, is_ecn_capable)
        self.number += 1
        if self.free_ps > at_ps and not self._fits(size):
            self._write(at_ps, "drop", packet, "queue-full")
            return
        self.queue.append(packet)
        self._write(at_ps, "enqueue", packet)
        depths = len(self.queue), sum(waiting.counted for waiting in self.queue)
        for name, depth, most in zip(("packets", "bytes"), depths, self.settings.ecn, strict=False):
            self._mark_above(at_ps, packet, f"threshold-{name}", depth, most)
        self.run(at_ps)

    def run(self, until_ps: int) -> None:
        """Departures up to a time."""
        while self.queue:
            at_ps = max(self.free_ps, self.queue[0].at_ps)
            if at_ps > until_ps:
                return
            if self.settings.codel:
                self._control_delay(at_ps, self.settings.codel)
            packet = self.queue[0]
            waited, most = at_ps - packet.at_ps, self.settings.ecn[2]
            if (
                packet.is_ecn_capable
                and most is not None
                and waited > most
                and not packet.is_marked
            ):
                packet.is_marked = True
                self._write(at_ps, "mark", packet, "threshold-time")
            self.queue.popleft()
            self._write(at_ps, "dequeue", packet, sojourn_ps=waited)
            if at_ps > self.free_ps:
                self.carry = Fraction(0)
            size = counted(self.settings.basis, packet.frame_bytes)
            end = at_ps + self.carry + Fraction(size * BYTE_PS, self.settings.rate_bps)
            self.free_ps, self.carry = int(end), end - int(end)
            self.sent.append((packet.number, at_ps, self.free_ps, packet.is_marked))

    def _control_delay(self, at_ps: int, codel: CoDel) -> None:
        """Drops from the head, or marks it: `deque` of RFC 8289 section 5.5. The packet stays."""
        control = self.control
        ok_to_drop = self._ok_to_drop(at_ps, codel)
        if control.dropping:
            control.dropping = ok_to_drop
            while control.dropping and at_ps >= control.drop_next:
                control.count += 1
                if self._marked_instead(at_ps, codel):
                    control.drop_next = control_law(control.drop_next, control.count, codel)
                    break
                self._drop_head(at_ps)
                control.dropping = self._ok_to_drop(at_ps, codel)
                if control.dropping:
                    control.drop_next = control_law(control.drop_next, control.count, codel)
        elif ok_to_drop:
            if not self._marked_instead(at_ps, codel):
                self._drop_head(at_ps)
                self._ok_to_drop(at_ps, codel)
            control.dropping = True
            delta = control.count - control.lastcount
            is_recent = at_ps - control.drop_next < 16 * codel.interval_ps
            control.count = delta if delta > 1 and is_recent else 1
            control.drop_next = control_law(at_ps, control.count, codel)
            control.lastcount = control.count

    def _ok_to_drop(self, at_ps: int, codel: CoDel) -> bool:
        """Of the packet at the head: `dodequeue` of RFC 8289 section 5.6."""
        behind = sum(waiting.counted for waiting in self.queue) - self.queue[0].counted
        if at_ps - self.queue[0].at_ps < codel.target_ps or behind <= codel.mtu:
            self.control.first_above_time = 0
            return False
        if not self.control.first_above_time:
            self.control.first_above_time = at_ps + codel.interval_ps
            return False
        return at_ps >= self.control.first_above_time

    def _marked_instead(self, at_ps: int, codel: CoDel) -> bool:
        head = self.queue[0]
        if not (codel.is_marking and head.is_ecn_capable):
            return False
        if not head.is_marked:
            head.is_marked = True
            self._write(at_ps, "mark", head, "codel")
        return True

    def _drop_head(self, at_ps: int) -> None:
        packet = self.queue.popleft()
        self._write(at_ps, "dequeue", packet, sojourn_ps=at_ps - packet.at_ps)
        self._write(at_ps, "drop", packet, "codel")

    def _fits(self, size: int) -> bool:
        kind, most = self.settings.limit
        after = sum(waiting.counted for waiting in self.queue) + size
        if kind == "packets":
            return len(self.queue) < most
        if kind == "bytes":
            return after <= most
        return Fraction(after * BYTE_PS, self.settings.rate_bps) <= most

    def _mark_above(
        self, at_ps: int, packet: Waiting, reason: str, value: int, most: int | None
    ) -> None:
        if packet.is_ecn_capable and not packet.is_marked and most is not None and value > most:
            packet.is_marked = True
            self._write(at_ps, "mark", packet, reason)

    def _write(
        self, at_ps: int, kind: str, packet: Waiting, reason: str = "", sojourn_ps: int = 0
    ) -> None:
        depth = len(self.queue), sum(waiting.counted for waiting in self.queue)
        row = Row(at_ps, kind, reason, packet.number, packet.counted, *depth, sojourn_ps)
        self.rows.append(row)
