"""A scenario's network: ports, links, switches and hosts, or the dumbbell that stands for them."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field

from narrows.controller.stages import ECN, LOSS, TELEMETRY, PortStage
from narrows.schema import units
from narrows.testbed.scenario.discipline import Discipline
from narrows.testbed.scenario.values import (
    Counts,
    Duration,
    Every,
    Model,
    Name,
    Probability,
    Queue,
    Rate,
    unit,
)

Threshold = Annotated[int, Field(ge=0, lt=2**24, examples=[20]), unit("packets")]


class PortStages(Model):
    """What the P4 program does to packets bound for a port: a key per stage, absent: nothing.

    The type of a key names its stage, and the key is the parameter of the stage's action.
    """

    loss: Annotated[Probability | None, LOSS] = None
    """Probability that the P4 program drops a packet bound for this port."""
    ecn_threshold: Annotated[Threshold | None, ECN] = None
    """Packets in the queue above which ECN-capable packets are marked; absent: never."""

    def stage_values(self) -> dict[PortStage, float | None]:
        """The value of each stage; None where its key is absent."""
        return {
            each: getattr(self, key)
            for key, field in type(self).model_fields.items()
            for each in field.metadata
            if isinstance(each, PortStage)
        }


class Port(PortStages):
    """A switch's output port towards one link."""

    rate: Rate
    """What the port sends, in the bits that `counts` names."""
    queue: Queue = units.Queue("packets", Fraction(100))
    """The DropTail limit; a `bdp` multiple is rate x base RTT (propagation only, there and back),
    rounded down to whole bytes, and keeps its bytes when an event changes the rate."""
    discipline: Discipline = Discipline.model_construct(name="drop-tail")
    """What the queue does within its limit: a name, or a table such as
    `{ name = "codel", target = "5ms" }`; `narrows list disciplines` has the names."""
    counts: Counts = "frame"
    """What counts against the rate and a limit in bytes: the IP length, the Ethernet frame
    without its check sequence, or what the wire carries (check sequence, padding to 64 B,
    preamble and gap: 24 B more)."""
    telemetry: Annotated[Every | None, TELEMETRY] = None
    """Reports 1 packet in so many, 0 none; absent: what `[telemetry]` says."""


class Bottleneck(Port):
    """The dumbbell's middle: one P4 switch. Rate, queue and counts hold in both directions; loss,
    marking and reports in the direction of the data.
    """

    delay: Duration
    """One-way propagation from the switch to the receivers' side."""


class Access(Model):
    """A host's own link to its switch, the same in both directions, with a queue at each end."""

    rate: Rate = 1_000_000_000
    """What the link carries in each direction."""
    delay: Duration = 0
    """One-way propagation."""
    jitter: Duration = 10_000
    """What a packet takes longer at most, uniformly: 10 ns, what an interface's clock domains
    cost. With 0 a link exactly as fast as the bottleneck is in step with it to the picosecond,
    and one flow can lock out all others (Floyd and Jacobson 1992)."""
    queue: Queue = units.Queue("packets", Fraction(1000))
    """DropTail, in packets."""
    counts: Counts = "frame"
    """What counts against the rate, in the words of the bottleneck's key."""
    reconstruct_acks: bool | Literal["adaptive"] = False
    """A node between link and host takes ACKs of more than two segments apart and spreads them over
    the time since the last, or with `"adaptive"` by the mean gap (ns-2's AckRecons), for what an
    ACK-filtering queue leaves."""

    @property
    def queue_packets(self) -> int:
        """The queue's limit in packets. Raises `ValueError` for another unit."""
        if self.queue.unit != "packets":
            raise ValueError(f'queue "{self.queue}": a host\'s queue is limited in packets')
        return int(self.queue.amount)


class Dumbbell(Model):
    """How the default topology places its hosts."""

    hosts: Literal["per-flow", "shared"] = "per-flow"
    """A sender and a receiver for each flow, or one of each for all flows."""
    receivers: Annotated[int, Field(ge=1, examples=[10])] | None = None
    """So many receivers that the flows take in turn, as servers with many users; absent: as
    `hosts` says."""


class Switch(Model):
    """A P4 switch of a topology of your own."""

    name: Name
    """What links and hosts call it."""


class Link(Port):
    """A cable between two switches. Its keys describe the port at `from`; the port at `to` has
    the same rate, queue and counts unless `reverse` says otherwise.
    """

    from_: Name = Field(alias="from")
    """The switch at one end: the sending one in the direction of the data."""
    to: Annotated[Name, Field(examples=["s2"])]
    """The switch at the other end."""
    delay: Duration
    """One-way propagation."""
    bottleneck: bool = False
    """Whose figures go to the summary; the first link's where none says so."""
    reverse: Port | None = None
    """The port at `to`."""


class Host(Model):
    """A host, attached to a switch by its own access link."""

    name: Annotated[Name, Field(examples=["h1"])]
    """What flows call it."""
    switch: Name
    """The switch that it is attached to."""
    access: Access | None = None
    """Its link; absent: `[access]`."""
