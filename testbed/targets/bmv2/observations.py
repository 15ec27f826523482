"""Measures the deviations of bmv2 from its configuration, and judges the run by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from narrows.controller.events import Done
from narrows.schema.units import PS_PER_MS, PS_PER_S
from narrows.testbed.targets import ledger_from_reports as ledger
from narrows.testbed.targets.bmv2.clock import Clock
from narrows.testbed.targets.bmv2.control import ProgramCounts, Shaped
from narrows.testbed.targets.bmv2.shaper_accuracy import ShaperAccuracy
from narrows.testbed.targets.ledger_from_reports import quantiles
from narrows.testbed.targets.switch_plan import SwitchPlan

if TYPE_CHECKING:
    from narrows.schema.plan import EventPlan, Limits
    from narrows.schema.run import JsonObject


SECOND_QUEUE = 128
"""Packets in bmv2's output buffer, which all ports share."""


@dataclass
class Observations:
    """Measurements of the switch in a run."""

    switch_plan: SwitchPlan
    shaped: dict[int, Shaped]
    """The ports with a rate."""
    counts: ProgramCounts | None = None
    end_ps: int = 0
    events: list[tuple[EventPlan, Done]] = field(default_factory=list)
    handed_over: int = 0
    """Packets that hosts sent to the switch."""
    unreported: int = 0
    """Reports lost, by gaps in their sequence numbers."""
    left: int | None = None
    """Departures from the bottleneck during the run; None unless every packet is reported."""
    clock: Clock | None = None
    accuracy: ShaperAccuracy | None = None
    to_the_wire_us: Sequence[float] = ()

    def handle_events(self, events: Sequence[EventPlan], done: Sequence[Done]) -> None:
        """The completed events, a prefix of the plan's."""
        self.events = list(zip(events, done, strict=False))

    def handle_report_numbers(self, numbers: Sequence[int]) -> None:
        """The sequence numbers of received reports."""
        if numbers:
            self.unreported = max(numbers) - min(numbers) + 1 - len(set(numbers))

    @property
    def rates(self) -> list[tuple[int, int]]:
        """The bottleneck's rates in bits per second, each with its start in ps."""
        events, done = [one for one, _ in self.events], [one for _, one in self.events]
        first_bps = self.shaped[self.switch_plan.port].in_force_bps
        return ledger.rates(first_bps, self.switch_plan.port, events, done)

    @property
    def steady_ps(self) -> int:
        """How long the bottleneck kept its first rate."""
        rates = self.rates
        return rates[1][0] if len(rates) > 1 else self.end_ps

    @property
    def capacity_bits(self) -> float:
        """The bottleneck's capacity over the run, in bytes."""
        return ledger.capacity_bits(self.rates, self.end_ps)

    @property
    def lost_before_program(self) -> int:
        """Packets that reached bmv2's interfaces but not its program."""
        assert self.counts is not None
        return self.handed_over - self.counts.taken

    @property
    def dropped_after_queue(self) -> int:
        """Packets that a discipline of the program dropped after the bottleneck's queue."""
        assert self.counts is not None
        return self.counts.dropped_after_queue[self.switch_plan.port]

    @property
    def late_events_ps(self) -> int:
        """The delay of the latest event."""
        return max((done.done_ps - done.due_ps for _, done in self.events), default=0)

    def as_json(self) -> JsonObject:
        """The values for the summary's instrument."""
        return {
            "name": "bmv2",
            "ports": [self.port_json(one) for one in self.shaped.values()],
            "events": [vars(done) for _, done in self.events],
            "clock": self.clock
            and {"error_us": self.clock.error_us, "drift_ppm": self.clock.drift_ppm},
            "bottleneck": self.accuracy and self.accuracy.as_json(),
            "to_the_wire_us": quantiles(self.to_the_wire_us),
            "lost_before_program": self.lost_before_program,
            "unreported": self.unreported,
            "notes": self.notes(),
        }

    def port_json(self, one: Shaped) -> JsonObject:
        """A port's settings, and the share of its packets per second that it used."""
        assert self.counts is not None
        most = one.packets_per_s * self.end_ps / PS_PER_S
        return {
            "port": one.port,
            "asked_bps": one.asked_bps,
            "packet_bytes": one.packet_bytes,
            "packets_per_s": one.packets_per_s,
            "in_force_bps": one.in_force_bps,
            "asked_queue": one.asked_queue,
            "queue_packets": one.queue_packets,
            "use": self.counts.dequeued[one.port] / most if most else 0.0,
        }

    def notes(self) -> list[str]:
        """The same as sentences, for a report."""
        shaped = self.shaped[self.switch_plan.port]
        off = 100 * (shaped.in_force_bps / shaped.asked_bps - 1)
        lines = [
            f"{shaped.asked_bps / 1e6:g} Mb/s become {shaped.packets_per_s} packets per second of "
            f"{shaped.packet_bytes} bytes ({off:+.3f} %). The queue holds {shaped.queue_packets} "
            "packets of any size."
        ]
        for port in self.shaped.values():
            if port.port != self.switch_plan.port:
                use = self.port_json(port)["use"]
                lines.append(
                    f"An ACK costs as much as a full segment: port {port.port} spent "
                    f"{100 * use:.1f} % of its packets per second."
                )
        if self.clock:
            lines.append(
                f"Times are whole microseconds, within {self.clock.error_us:.0f} us of the run's "
                f"clock. The two clocks drifted by {self.clock.drift_ppm:+.1f} parts per million."
            )
        if self.accuracy and (late := quantiles(self.accuracy.late_us)):
            lines.append(
                "bmv2 fixes a packet's departure at its arrival, so a late thread sends all due "
                f"packets together. Packets left {late['p50']:.0f} us late (median), "
                f"{late['p99']:.0f} us (99 %), {late['max']:.0f} us (maximum). "
                f"{100 * self.accuracy.bunched:.2f} % left within half an interval of the "
                "previous packet."
            )
        if self.switch_plan.queues > 1:
            lines.append(
                "Each queue of a port has the port's rate and limit. A copy of each packet in the "
                "queue that is served first took its turn in the other one, so that both share "
                "the rate over a while. Its packets left without waiting for the other queue."
            )
        if self.dropped_after_queue:
            lines.append(
                f"{self.dropped_after_queue} packets were dropped after the queue. Each left a gap "
                "of one interval, so the times of departure were not compared with the rate."
            )
        if wire := quantiles(self.to_the_wire_us):
            lines.append(
                f"The delay from a queue to the wire, through the second queue of {SECOND_QUEUE} "
                f"packets, was {wire['p50']:.0f} us (median), {wire['p99']:.0f} us (99 %), "
                f"{wire['max']:.0f} us (maximum)."
            )
        if self.lost_before_program:
            lines.append(f"{self.lost_before_program} packets were lost before the program.")
        return lines

    def excesses(self, limits: Limits) -> list[str]:
        """Reasons why the run is void; empty if it is valid."""
        excesses = []
        late = quantiles(self.accuracy.late_us) if self.accuracy else None
        most_us = limits["departure_error_ps"] / 1e6
        if late and late["p99"] > most_us:
            excesses.append(
                f"bmv2: 1 % of packets left their queue over {late['p99']:.1f} us late; expected "
                f"at most {most_us:g} us"
            )
        rates = self.accuracy.as_json()["rate_error"] if self.accuracy else None
        if rates and abs(rates["worst"]) > limits["rate_error"]:
            excesses.append(
                f"bmv2: its rate was off by {rates['worst']:+.5f}; expected at most "
                f"{limits['rate_error']:g}"
            )
        lost = max(self.lost_before_program, 0) + self.unreported
        if lost > limits["lost_packets"]:
            excesses.append(
                f"bmv2: {self.lost_before_program} packets and {self.unreported} reports were "
                f"lost; expected at most {limits['lost_packets']}"
            )
        if self.late_events_ps > limits["poll_gap_ps"]:
            excesses.append(f"an event was {self.late_events_ps / PS_PER_MS:.1f} ms late")
        return excesses
