"""The scenario file's schema: every key, its unit, its default, what it means.

A scenario is TOML. A quantity is text with its unit (`narrows.schema.units`); a key that is not
here is refused. Network and flows have modules of their own (`network.py`, `flows.py`). `sweep.py`
reads a file into these models, one `Scenario` per point of its sweep, and `plan.py` turns each into
what the engine runs.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    model_validator,
)

from narrows.schema import units
from narrows.testbed import catalogue
from narrows.testbed.scenario.discipline import Discipline
from narrows.testbed.scenario.flows import Flow
from narrows.testbed.scenario.network import (
    Access,
    Bottleneck,
    Dumbbell,
    Host,
    Link,
    Port,
    PortStages,
    Switch,
)
from narrows.testbed.scenario.values import (
    Duration,
    Every,
    Model,
    Probability,
    Queue,
    Rate,
    duration_or,
    format_or_duration,
    matching,
    or_duration,
    registered,
    unit,
)


def _some_time(value: int | str) -> int | str:
    if value == 0:
        raise ValueError('is no time; expected one above zero such as "60s"')
    return value


def _queue_record(value: object) -> object:
    if isinstance(value, bool) or value in ("both", "summary", "both-summary"):
        return value
    raise ValueError('expected true, false, "both", "summary" or "both-summary"')


class PortChange(PortStages):
    """What an event may set at a port: its traffic manager, and the stages of the P4 program."""

    rate: Rate | None = None
    """What the port sends from then on."""
    queue: Queue | None = None
    """The DropTail limit from then on."""
    discipline: Discipline | None = None
    """Parameters that it does not name take their defaults."""


class Change(Model):
    """What an event sets, and where."""

    bottleneck: PortChange | None = None
    """The dumbbell's bottleneck: rate and queue in both directions, loss and marking in the
    direction of the data. In other topologies the summary's link."""
    link: dict[str, PortChange] = Field(default_factory=dict)
    """By direction, `"s1->s2"`: the port at s1."""


class Event(Model):
    """What the controller does while the run goes on."""

    at: Duration
    """When, since the run began."""
    set: Change
    """The keys of a port that change, such as `{ bottleneck = { rate = "2Mbps" } }`."""


FIGURE = Field(json_schema_extra={"x-names": ["figures"]})


class Report(Model):
    """What is drawn after the runs."""

    figures: list[Annotated[str, FIGURE]] = Field(default_factory=list)
    """Names that `narrows list figures` knows."""


class Telemetry(Model):
    """The P4 program's reports."""

    every: Every = 1
    """1 packet in so many is reported, 0 none."""
    collector: Annotated[
        str,
        matching(r"\d+\.\d+\.\d+\.\d+:\d+", "an IPv4 address and a UDP port", "10.255.0.1:5600"),
    ] = "10.255.0.1:5600"
    """Address and UDP port that the reports are sent to."""


class Record(Model):
    """Which tables a run writes."""

    queue: Annotated[
        bool | Literal["both", "summary", "both-summary"], BeforeValidator(_queue_record)
    ] = True
    """The ledger of the ports in the direction of the data, or of both directions; `"summary"` and
    `"both-summary"`: its figures in `summary.json` without the table."""
    packets: bool = True
    """The telemetry reports."""
    flows: Annotated[
        int | Literal["ack", "off"],
        BeforeValidator(or_duration("ack", "off")),
        PlainSerializer(format_or_duration),
        duration_or("ack", "off"),
    ] = "ack"
    """A row per ACK, none, or one per interval."""
    messages: bool = True
    """Applications' messages."""
    capture: bool = False
    """Every packet that a host sends or receives, for `narrows export --format pcapng`."""

    @property
    def both_directions(self) -> bool:
        """True when the bottleneck's other direction is recorded too."""
        return self.queue in ("both", "both-summary")


class Instrument(Model):
    """How far the instrument may be off in real time; a run beyond it is invalid."""

    departure_error: Duration = 200 * units.PS_PER_S // 10**6
    """How late packets may leave, at the 99th percentile of each wire."""
    rate_error: Probability = 0.01
    """How far a shaper may be off over a busy second, as a share of its rate."""
    poll_gap: Duration = 10 * units.PS_PER_S // 10**3
    """How long the data path may look away."""
    lost_packets: Annotated[int, Field(ge=0, lt=2**63, examples=[10]), unit("packets")] = 0
    """How many packets each wire may lose, by full rings, for want of memory or otherwise."""


class Sweep(Model):
    """Every combination of its values is a point. A key is a dotted path into the file
    (`"flow.count"`: in every `[[flow]]`; `"flow.0.count"`: in the first), its value a list.
    """

    model_config = ConfigDict(extra="allow")

    repeat: Annotated[int, Field(ge=1, le=10_000, examples=[3])] = 1
    """Runs of each combination, with the seeds seed, seed + 1, ..."""


class Scenario(Model):
    """One point of a scenario: everything about one run but the program's names."""

    title: Annotated[str, matching(r"\S(.*\S)?", "a line of text", "Two flows")]
    """What figures and reports call the scenario."""
    seed: Annotated[int, Field(ge=0, lt=2**63, examples=[7])] = 1
    """Every random number of a run follows from it."""
    duration: Annotated[
        int | Literal["completion"],
        BeforeValidator(or_duration("completion")),
        AfterValidator(_some_time),
        PlainSerializer(format_or_duration),
        duration_or("completion"),
    ]
    """How long, or until every flow that can finish has finished."""
    limit: Duration = 3600 * units.PS_PER_S
    """A run to completion that reaches this is stopped, and is invalid."""
    profile: Annotated[str, registered("profiles")] = "rfc"
    """What the TCPs differ in besides congestion control, and the defaults of a flow's keys."""
    program: Annotated[str, Field(examples=["my-program.json"])] | None = None
    """A bmv2 JSON file other than `p4/build/v1model.json`, from the scenario's directory; it must
    have the same tables."""
    bottleneck: Bottleneck | None = None
    """The middle of the default topology, a dumbbell. A scenario has this or `[[switch]]`."""
    access: Access = Access()
    dumbbell: Dumbbell = Dumbbell()
    switch: list[Switch] = Field(default_factory=list)
    """The switches of a topology of your own."""
    link: list[Link] = Field(default_factory=list)
    """The cables between these switches."""
    host: list[Host] = Field(default_factory=list)
    """The hosts at these switches."""
    flow: Annotated[list[Flow], Field(min_length=1)]
    event: list[Event] = Field(default_factory=list)
    report: Report = Report()
    telemetry: Telemetry = Telemetry()
    record: Record = Record()
    instrument: Instrument = Instrument()

    @model_validator(mode="after")
    def _has_a_topology(self) -> Self:
        if self.switch and self.bottleneck:
            raise ValueError("has both [bottleneck] (a dumbbell) and [[switch]] (your own)")
        if not self.switch and not self.bottleneck:
            raise ValueError("has no [bottleneck] (nor [[switch]], [[link]] and [[host]])")
        if not self.switch and (self.link or self.host):
            raise ValueError("has [[link]] or [[host]] but no [[switch]]")
        return self

    @property
    def is_dumbbell(self) -> bool:
        """True when the topology is the default one."""
        return not self.switch

    def ports(self) -> dict[str, Port]:
        """Every table that describes a switch's port towards a link, by its key."""
        found: dict[str, Port] = {"bottleneck": self.bottleneck} if self.bottleneck else {}
        for index, link in enumerate(self.link):
            found[f"link.{index}"] = link
            if link.reverse:
                found[f"link.{index}.reverse"] = link.reverse
        return found

    def profile_of(self, flow: Flow) -> str:
        """The name of a flow's profile."""
        is_others = catalogue.is_agent(flow.variant) and not self.profile.startswith("ns2")
        return flow.profile or ("ns2" if is_others else self.profile)

    def resolved(self) -> dict[str, Any]:
        """The scenario with its defaults filled in, quantities as text with their units."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)
