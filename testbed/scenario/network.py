"""A scenario's network: ports, links, switches and hosts, or a dumbbell."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from narrows.controller.stages import DUPLICATE, ECN, LOSS, TELEMETRY, PortStage
from narrows.schema import units
from narrows.schema.flow import LengthBasis
from narrows.testbed.scenario.discipline import Discipline
from narrows.testbed.scenario.impairments import BY_LINK, Duplication, Loss, PortImpairments
from narrows.testbed.scenario.values import (
    Duration,
    Every,
    Model,
    Name,
    Probability,
    Queue,
    Rate,
    Threshold,
)

DelayTrace = Annotated[str, Field(examples=["handovers.csv"])]
"""The name of a delay trace."""


class PortStages(Model):
    """Stages of the P4 program for packets towards a port: a key per stage; absent: off.

    A key's type names its stage; the key is the parameter of the stage's action.
    """

    loss: Annotated[Probability | None, LOSS] = None
    """Probability that the P4 program drops a packet towards this port."""
    duplicate: Annotated[Probability | None, DUPLICATE] = None
    """Probability that the P4 program sends a packet towards this port twice."""
    ecn_threshold: Annotated[Threshold | None, ECN] = None
    """Packets in the queue above which ECN-capable packets are marked; absent: never. `"30kB"` and
    `"5ms"` are so many full packets at the port's rate, rounded down, and keep their number when an
    event changes the rate."""

    def stage_values(self, packets: Callable[[Queue], int]) -> dict[PortStage, float | None]:
        """The value of each stage, None where its key is absent; `packets` counts a limit's."""
        values = {
            each: getattr(self, key)
            for key, field in type(self).model_fields.items()
            for each in field.metadata
            if isinstance(each, PortStage)
        }
        return {
            stage: packets(value) if isinstance(value, units.Queue) else value
            for stage, value in values.items()
            if not isinstance(value, BY_LINK)
        }


def in_the_traffic_manager(discipline: Discipline) -> Discipline:
    """Raises `ValueError` for a stage of the P4 program, which has a state per port."""
    if discipline.is_stage:
        raise ValueError(
            f"{discipline.name} is a stage of the P4 program; expected a discipline of the"
            " traffic manager"
        )
    return discipline


class PortQueue(Model):
    """One of several queues of a port, the first served first. Queues without a weight are served
    before those with one, which share the rest.
    """

    dscp: list[Annotated[int, Field(ge=0, le=63, examples=[46])]] = Field(default_factory=list)
    """Code points of the flows (`flow.dscp`) whose packets it takes; the last queue takes all
    others too.
    """
    weight: Annotated[int, Field(ge=1, le=65_535, examples=[3])] | None = None
    """Its share among the queues with a weight (deficit round robin); absent: strict priority."""
    rate: Rate | None = None
    """The most that it sends; absent: the port's rate."""
    queue: Queue | None = None
    """Its limit; absent: the port's."""
    discipline: Annotated[Discipline, AfterValidator(in_the_traffic_manager)] | None = None
    """Its discipline, one of the traffic manager's; absent: the port's."""


def _apart(queues: list[PortQueue]) -> list[PortQueue]:
    """Checks that a code point is one queue's."""
    codes = [code for queue in queues for code in queue.dscp]
    twice = sorted({code for code in codes if codes.count(code) > 1})
    if twice:
        raise ValueError(f"dscp {twice[0]} is in two queues; expected it in one")
    return queues


class Port(PortImpairments, PortStages):
    """A switch's output port to one link."""

    loss: Annotated[Loss, LOSS] = None  # type: ignore[assignment]
    """Probability that the P4 program drops a packet towards this port. Or burst loss by the link,
    `{ model = "gemodel", p = "1%", r = "20%" }`.
    """
    duplicate: Annotated[Duplication, DUPLICATE] = None  # type: ignore[assignment]
    """Probability that the P4 program sends a packet towards this port twice; each of the two is
    queued or dropped by itself. Or duplication by the link, `{ probability = "1%" }`.
    """
    rate: Rate
    """The port's rate, in bits per second of the length that `counts` selects."""
    queue: Queue = units.Queue("packets", Fraction(100))
    """The queue limit. A `bdp` multiple is of rate x base RTT (propagation only, both ways),
    rounded down to whole bytes; it stays the same when an event changes the rate.
    """
    discipline: Discipline = Discipline.model_construct(name="drop-tail")
    """The queue discipline: a name from `narrows list disciplines`, or a table such as `{ name =
    "codel", target = "5ms" }`.
    """
    queues: Annotated[list[PortQueue], Field(max_length=8), AfterValidator(_apart)] = Field(
        default_factory=list
    )
    """Several queues in place of one: strict priorities, weights, and a rate for each."""
    trace: Annotated[str, Field(examples=["cellular.csv"])] | None = None
    """A link trace, relative to the scenario's directory, that the port follows in the direction of
    the data in place of `rate`: CSV (`seconds,bps`) or mahimahi's format. Limits in time or BDPs
    are of `rate`.
    """
    counts: LengthBasis = "frame"
    """The packet length that counts against the rate and a limit in bytes: the IP length, the
    Ethernet frame without check sequence, or the wire length (check sequence, padding to 64 B,
    preamble and gap: 24 B more).
    """
    telemetry: Annotated[Every | None, TELEMETRY] = None
    """Reports one packet in so many; 0: none; absent: the value of `[telemetry]`."""

    @model_validator(mode="after")
    def _queues_are_its_own_or_the_disciplines(self) -> Self:
        if self.queues and self.discipline.queues():
            raise ValueError(
                f"{self.discipline.name} has two queues of its own; expected no queues"
            )
        return self


class Bottleneck(Port):
    """The dumbbell's bottleneck: one P4 switch. Rate, queue and counts apply in both directions;
    loss, marking and reports only in the direction of the data.
    """

    delay: Duration
    """One-way propagation from the switch to the receivers' side."""
    delay_trace: DelayTrace | None = None
    """Delays over time in place of `delay`, in both directions: CSV (`seconds,delay_ms`), relative
    to the scenario's directory. Base RTTs and limits in BDPs are of `delay`.
    """


class Access(Model):
    """A host's own link to its switch, the same in both directions, with a queue at each end."""

    rate: Rate = 1_000_000_000
    """What the link carries in each direction."""
    delay: Duration = 0
    """One-way propagation."""
    jitter: Duration = 10_000
    """Maximum of the uniform random delay added to each packet. The default of 10 ns models an
    interface's clock domains. With 0, a link at exactly the bottleneck's rate runs in phase with
    it, and one flow can lock out all others (Floyd and Jacobson 1992).
    """
    queue: Queue = units.Queue("packets", Fraction(1000))
    """The DropTail limit of the queue at each end, in packets."""
    counts: LengthBasis = "frame"
    """What counts against the rate, in the words of the bottleneck's key."""
    reconstruct_acks: bool | Literal["adaptive"] = False
    """ACK reconstruction (ns-2's AckRecons) after an ACK-filtering queue. ACKs of more than two
    segments are split and spread over the time since the previous ACK, or with `"adaptive"` by the
    mean gap.
    """

    @property
    def queue_packets(self) -> int:
        """The queue's limit in packets. Raises `ValueError` for another unit."""
        if self.queue.unit != "packets":
            raise ValueError(f'queue "{self.queue}": a host\'s queue is limited in packets')
        return int(self.queue.amount)


class Dumbbell(Model):
    """Placement of hosts in the default topology."""

    hosts: Literal["per-flow", "shared"] = "per-flow"
    """`"per-flow"`: a sender and a receiver for each flow; `"shared"`: one of each
    for all flows.
    """
    receivers: Annotated[int, Field(ge=1, examples=[10])] | None = None
    """Number of receivers that flows use in turn, as servers with many users; absent: `hosts`
    decides.
    """


class ParkingLot(Port):
    """Switches in a row with a bottleneck between each two: rate, queue and counts in both
    directions, stages and reports in the direction of the data. Figures of the summary are the
    first link's.
    """

    links: Annotated[int, Field(ge=1, le=250, examples=[3])]
    """Links in the row."""
    delay: Duration
    """One-way propagation of each link."""
    delay_trace: DelayTrace | None = None
    """Delays over time in place of `delay`, in both directions, as the bottleneck's."""


class Switch(Model):
    """A P4 switch of a custom topology."""

    name: Name
    """What links and hosts call it."""


class Link(Port):
    """A cable between two switches. Its keys describe the port at `from`; the port at `to` has the
    same rate, queue and counts unless `reverse` changes them.
    """

    from_: Name = Field(alias="from")
    """The switch at one end: the sending one in the direction of the data."""
    to: Annotated[Name, Field(examples=["s2"])]
    """The switch at the other end."""
    delay: Duration
    """One-way propagation."""
    delay_trace: DelayTrace | None = None
    """Delays over time in place of `delay`, in both directions, as the bottleneck's."""
    bottleneck: bool = False
    """True if the summary describes this link; default: the first link."""
    reverse: Port | None = None
    """Settings of the port at `to`."""


class Host(Model):
    """A host, attached to a switch by its own access link."""

    name: Annotated[Name, Field(examples=["h1"])]
    """What flows call it."""
    switch: Name
    """The switch of its port."""
    access: Access | None = None
    """Its access link; absent: `[access]`."""
