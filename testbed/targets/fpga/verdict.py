"""Whether a run on a board counts: no packet and no row may be missing, no frame late."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from narrows.controller.drivers.fpga_counts import Counts
from narrows.controller.drivers.fpga_protocol import Direction
from narrows.schema.units import PS_PER_MS, PS_PER_US
from narrows.testbed.targets.fpga.control import Found
from narrows.testbed.targets.fpga.ledger import left_after

if TYPE_CHECKING:
    from narrows.schema.plan import Limits
    from narrows.schema.run import JsonObject
    from narrows.schema.summary import Summary, WireSummary

HARMS = {
    Direction.ERRORED: "frames with errors",
    Direction.RUNTS: "runts",
    Direction.GIANTS: "giants",
    Direction.UNDERRUNS: "underruns",
    Direction.ROWS_LOST: "rows that no report brought",
}
"""Events that a good run has none of."""
SLACK_PS = 50 * PS_PER_MS
"""How long a frame may take from a board's instant to the hosts' loop."""


@dataclass(frozen=True)
class Evidence:
    """What a run left: the controller's findings, and the reported rows."""

    found: Found
    rows: pl.DataFrame
    """Of all ports, without random losses, also those after the end of the run."""
    received: Mapping[int, int]
    """Reports of each port that arrived."""
    gaps: int
    """Reports that did not arrive, by their numbers."""
    end_ps: int
    on_the_way_ps: int
    """How long a packet is on its way after its queue: its transmission, and the board's delay."""
    bottleneck: int
    """The bottleneck's port."""
    wires: Mapping[int, WireSummary]
    """The hosts' wire whose packets leave the board by a port."""
    peers: Mapping[int, WireSummary]
    """The hosts' wire that a port leads to."""

    @property
    def counts(self) -> dict[int, Counts]:
        """The counts of each port during the run; empty if the board did not answer at the end."""
        found = self.found
        return {port: after.since(found.before[port]) for port, after in found.after.items()}


def excesses(evidence: Evidence, limits: Limits) -> list[str]:
    """Reasons why a run is void; empty if it is valid."""
    found = evidence.found
    if found.lost is not None:
        return [f"fpga: {found.lost}"]
    reasons = [
        f"fpga: port {port}: {what}"
        for port, counts in evidence.counts.items()
        for what in of_port(evidence, port, counts, limits)
    ]
    if abs(found.drift_ppm) > 1e6 * limits["rate_error"]:
        reasons.append(
            f"fpga: the board's clock was off by {found.drift_ppm:+.0f} parts per million; "
            f"expected at most {1e6 * limits['rate_error']:g}"
        )
    late_ps = max((done.done_ps - done.due_ps for _, done in found.done), default=0)
    if late_ps > limits["poll_gap_ps"]:
        reasons.append(f"fpga: an event was {late_ps / PS_PER_MS:.1f} ms late")
    return reasons


def of_port(evidence: Evidence, port: int, counts: Counts, limits: Limits) -> Iterator[str]:
    """The same of one port."""
    most, found = limits["lost_packets"], evidence.found
    since_set_up = found.after[port].since(found.at_set_up[port])
    sent, handed = evidence.wires[port], evidence.peers[port]
    harmed = sum(counts.events[e] for e in (Direction.ERRORED, Direction.RUNTS, Direction.GIANTS))
    if abs(counts.arrived + harmed - sent["sent"]) > most:
        yield (
            f"{sent['name']} sent {sent['sent']} frames and {counts.arrived + harmed} arrived; "
            "expected as many"
        )
    left = counts.events[Direction.LEFT]
    if counts.enqueued != counts.dequeued or counts.transmitted != left:
        yield (
            f"{counts.enqueued} packets entered, {counts.dequeued} left the queue, {left} left "
            "the board; expected as many"
        )
    own = evidence.rows.filter(pl.col("port") == port)
    end_ps = evidence.found.end_ps(evidence.end_ps) - evidence.on_the_way_ps - SLACK_PS
    least = left - left_after(own, end_ps) - most
    left_ever = since_set_up.events[Direction.LEFT] + most
    # By port 0 the board's own frames come too.
    if port == evidence.bottleneck and not least <= handed["received"] <= left_ever:
        yield f"{left} frames left and {handed['name']} received {handed['received']}"
    if since_set_up.rows - evidence.received[port] > most:
        yield f"{evidence.received[port]} of {since_set_up.rows} rows arrived"
    for event, what in HARMS.items():
        if counts.events[event] > most:
            yield f"{counts.events[event]} {what}; expected at most {most}"
    if full := counts.of("drop")["memory-full"]:
        yield f"the memory was full for {full} packets before the queue's limit was reached"
    late, latest_ps = counts.events[Direction.LATE], evidence.found.latest_ps[port]
    if late and port == evidence.bottleneck and latest_ps > limits["departure_error_ps"]:
        yield f"{late} frames left late, one by {latest_ps / PS_PER_US:.1f} us"


def notes(evidence: Evidence, flows_known: bool) -> list[str]:
    """The board's accuracy, as sentences for a report."""
    found = evidence.found
    lines = []
    if found.begin is not None:
        lines.append(
            "Times of the queue are the board's own since the start of the run, which is known "
            f"within {found.begin.error_ns / 1000:.0f} us."
        )
    if found.end is not None:
        lines.append(f"Its clock was off by {found.drift_ppm:+.1f} parts per million.")
    for port, counts in evidence.counts.items():
        if lost := counts.of("drop")["random-loss"]:
            lines.append(f"Port {port} lost {lost} packets at random, before its queue.")
        if late := counts.events[Direction.LATE]:
            lines.append(f"{late} frames left late at port {port}.")
    if not flows_known:
        lines.append("The flows of queued packets are not known.")
    return lines


def instrument(evidence: Evidence, flows_known: bool) -> JsonObject:
    """The board's errors, for the summary's instrument."""
    found = evidence.found
    clock = None
    if found.begin is not None:
        drift = found.drift_ppm if found.end else None
        clock = {"error_us": found.begin.error_ns / 1000, "drift_ppm": drift}
    return {
        "name": "fpga",
        "clock": clock,
        "line_bps": found.limits and found.limits.line_bps,
        "period_ps": found.limits and found.limits.period_ps,
        "unreported": evidence.gaps,
        "notes": notes(evidence, flows_known),
    }


def voided(summary: Summary, reasons: list[str]) -> Summary:
    """Adds reasons to a summary; any reason makes the run void."""
    first = [summary["invalid_reason"]] if summary["invalid_reason"] else []
    both = first + reasons
    return summary | {"valid": not both, "invalid_reason": "; ".join(both) or None}
