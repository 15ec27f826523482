"""The columns that hold our senders against ns-2, event by event.

One flow is the same as ns-2's when it cut, timed out and sent again as often, each event within
`TOLERANCE_S` of ns-2's and each window within `TOLERANCE_SEGMENTS`, and acknowledged as much but
for the segment that may fall on the run's end. Of several flows, whose order of packets is chaotic,
what all delivered is held to `TOLERANCE_SHARE`. What differs has its reason in `REASONS`, and what
differs by more than that share without one is a failure.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from tests.validation import cases
from tests.validation.cases import Events, Recorded, Run, Setup, Source
from tests.validation.reasons import REASONS
from tests.validation.table import Cell, Column

TOLERANCE_S = 0.002
"""Real SYNs have options and handshakes an ACK, and a SACK option has a head of its own."""
TOLERANCE_SEGMENTS = 0.01
LAST_SEGMENT = 1
"""Acknowledged within `TOLERANCE_S` of the end."""
TOLERANCE_SHARE = 0.01


class Comparison:
    """Sources, what they are put to, and both sides' runs; ours are made when first asked for."""

    def __init__(
        self, sources: dict[str, Source], setups: Sequence[Setup], title: str = "{}"
    ) -> None:
        self.sources = sources
        """By the table's rows."""
        self.setups = setups
        self.title = title
        """Of a column, around the setup's name."""

    @functools.cached_property
    def ours(self) -> dict[str, Run]:
        """Our runs by case."""
        todo = [(source, setup) for source in self.sources.values() for setup in self.setups]
        names = [cases.key(*case) for case in todo]
        return dict(zip(names, cases.run_ours(todo), strict=True))

    def columns(self) -> list[Column]:
        """A column for each setup."""
        return [
            Column(self.title.format(setup.name), functools.partial(self.cell, setup))
            for setup in self.setups
        ]

    def cell(self, setup: Setup, row: str) -> Cell | None:
        """What one case comes to."""
        if row not in self.sources:
            return None
        key = cases.key(self.sources[row], setup)
        theirs = cases.recorded().get(key)
        if theirs is None:
            return Cell("not recorded", ok=False)
        return judge(key, self.ours[key], theirs)


def judge(key: str, ours: Run, theirs: Recorded) -> Cell:
    """Both sides of a case compared."""
    counts = cases.counts(ours)
    if theirs.events is not None and is_same(ours[0], theirs.events):
        return Cell(f"same ({shown(counts)})")
    share = counts[0] / theirs.counts[0] - 1
    reason = REASONS.get(key, REASONS.get(key.split(": ")[0], ""))
    text = f"{share:+.2%} ({shown(counts)}; ns-2 {shown(theirs.counts)})"
    is_near = theirs.events is None and abs(share) <= TOLERANCE_SHARE
    return Cell(text, is_near or bool(reason), "" if is_near else reason)


def shown(counts: Sequence[int]) -> str:
    """Counts on a line."""
    return "/".join(map(str, counts))


def is_same(ours: Events, theirs: Events) -> bool:
    """True where every event has its counterpart."""
    if abs(ours.acked_segments - theirs.acked_segments) > LAST_SEGMENT:
        return False
    for ours_at, theirs_at in zip(times(ours), times(theirs), strict=True):
        if len(ours_at) != len(theirs_at):
            return False
        moments = zip(ours_at, theirs_at, strict=True)
        if any(abs(a - b) > TOLERANCE_S for a, b in moments):
            return False
    windows = zip(ours.cuts, theirs.cuts, strict=True)
    return all(abs(a[1] - b[1]) <= TOLERANCE_SEGMENTS for a, b in windows)


def times(events: Events) -> list[list[float]]:
    """When the window was cut, time-outs expired, and segments left again."""
    return [[at for at, _ in events.cuts], events.timeouts, events.retransmits]
