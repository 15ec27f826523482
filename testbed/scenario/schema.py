"""The scenario file's schema: every key with its unit, default and meaning.

A scenario is TOML. A quantity is text with its unit (`narrows.schema.units`); unknown keys are
errors. Network and flows are in `network.py` and `flows.py`. `sweep.py` reads a file into these
models, one `Scenario` per point of its sweep, and `plan.py` turns each into what the engine runs.
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
    ParkingLot,
    Port,
    PortStages,
    Switch,
    in_the_traffic_manager,
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
        raise ValueError('expected a duration above zero, such as "60s"')
    return value


def _queue_record(value: object) -> object:
    if isinstance(value, bool) or value in ("both", "summary", "both-summary"):
        return value
    raise ValueError('expected true, false, "both", "summary" or "both-summary"')


class QueueChange(Model):
    """A change of one of a port's several queues."""

    queue: Annotated[int, Field(ge=0, le=7, examples=[1])]
    """Its number in the port's `queues`, from 0."""
    weight: Annotated[int, Field(ge=1, le=65_535, examples=[3])] | None = None
    """Its share from then on."""
    rate: Rate | None = None
    """The most that it sends from then on."""


class PortChange(PortStages):
    """Settings of a port that an event can change: its traffic manager, and the stages of the P4
    program.
    """

    rate: Rate | None = None
    """What the port sends from then on."""
    queue: Queue | None = None
    """The DropTail limit from then on."""
    delay: Duration | None = None
    """The link's propagation delay of packets that enter it from then on: in the direction of the
    named link, of a dumbbell's bottleneck in both.
    """
    discipline: Annotated[Discipline, AfterValidator(in_the_traffic_manager)] | None = None
    """The queue discipline, one of the traffic manager's; parameters that it does not name take
    their defaults. Queues with a discipline of their own keep it.
    """
    queues: list[QueueChange] = Field(default_factory=list)
    """Weights and rates of the port's several queues from then on."""


class Change(Model):
    """The settings of an event, by place."""

    bottleneck: PortChange | None = None
    """The dumbbell's bottleneck, or the summary's link in a custom topology. Rate and queue apply
    in both directions, loss and marking in the direction of the data.
    """
    link: dict[str, PortChange] = Field(default_factory=dict)
    """Settings by link direction: `"s1->s2"` is the port at s1."""

    def by_link(self) -> list[tuple[str, PortChange]]:
        """The settings, by link direction."""
        named = [("bottleneck", self.bottleneck)] if self.bottleneck else []
        return [*named, *self.link.items()]


class Event(Model):
    """A change that the controller makes during the run."""

    at: Duration
    """When, since the run began."""
    set: Change
    """The keys of a port that change, such as `{ bottleneck = { rate = "2Mbps" } }`."""


FIGURE = Field(json_schema_extra={"x-names": ["figures"]})


class Report(Model):
    """The figures drawn after the runs."""

    figures: list[Annotated[str, FIGURE]] = Field(default_factory=list)
    """Names from `narrows list figures`."""


OCTET = r"(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
"""A number of an IPv4 address."""


class Telemetry(Model):
    """The P4 program's reports."""

    every: Every = 1
    """Reports one packet in so many; 0: none."""
    collector: Annotated[
        str,
        matching(
            rf"{OCTET}(\.{OCTET}){{3}}:\d+", "an IPv4 address and a UDP port", "10.255.0.1:5600"
        ),
    ] = "10.255.0.1:5600"
    """The IPv4 address and UDP port that receive the reports."""


class Record(Model):
    """The tables that a run writes."""

    queue: Annotated[
        bool | Literal["both", "summary", "both-summary"], BeforeValidator(_queue_record)
    ] = True
    """The queue ledger of the ports in the direction of the data, or of both directions (`"both"`).
    `"summary"` and `"both-summary"` write only its figures in `summary.json`.
    """
    packets: bool = True
    """The telemetry reports."""
    flows: Annotated[
        int | Literal["ack", "off"],
        BeforeValidator(or_duration("ack", "off")),
        PlainSerializer(format_or_duration),
        duration_or("ack", "off"),
    ] = "ack"
    """The flow table: a row per ACK, no rows, or a row per interval."""
    messages: bool = True
    """Applications' messages."""
    links: bool = True
    """What became of each packet on links with impairments."""
    capture: bool = False
    """Every packet that a host sends or receives, for `narrows export --format pcapng`."""

    @property
    def both_directions(self) -> bool:
        """True if the bottleneck's other direction is also recorded."""
        return self.queue in ("both", "both-summary")


class Instrument(Model):
    """Limits of the instrument's errors in real time; a run that exceeds one is invalid."""

    departure_error: Duration = 200 * units.PS_PER_S // 10**6
    """Maximum lateness of packets, at the 99th percentile of each wire."""
    rate_error: Probability = 0.01
    """Maximum error of a shaper over a busy second, as a fraction of its rate."""
    poll_gap: Duration = 10 * units.PS_PER_S // 10**3
    """Maximum gap between two polls of the data path."""
    lost_packets: Annotated[int, Field(ge=0, lt=2**63, examples=[10]), unit("packets")] = 0
    """Maximum packets that each wire may lose, through full rings, lack of memory or otherwise."""


class Sweep(Model):
    """Parameter sweep: every combination of values is a point. A key is a dotted path into the file
    (`"flow.count"`: every `[[flow]]`; `"flow.0.count"`: the first), and its value is a list.
    """

    model_config = ConfigDict(extra="allow")

    repeat: Annotated[int, Field(ge=1, le=10_000, examples=[3])] = 1
    """Number of runs per combination, with the seeds seed, seed + 1, ..."""


def with_delay(tree: dict[str, Any]) -> dict[str, Any]:
    """A dumbbell's tables with the delay that `rtt` stands for. Raises `ValueError`."""
    bottleneck, access = tree.get("bottleneck"), tree.get("access", {})
    if not isinstance(bottleneck, dict) or not isinstance(access, dict):
        raise ValueError("rtt: is a dumbbell's; expected the delays of links and hosts")
    try:
        rtt_ps = units.parse_duration(tree["rtt"])
        access_ps = units.parse_duration(access.get("delay", "0s"))
        delay_ps = rtt_ps // 2 - 2 * access_ps
        given_ps = units.parse_duration(bottleneck.get("delay", f"{max(delay_ps, 0)}ps"))
    except ValueError:
        return tree  # its own key says what is wrong with it
    if delay_ps < 0:
        least = units.format_duration(4 * access_ps)
        raise ValueError(f"rtt: is below 4 x access.delay; expected at least {least}")
    if given_ps != delay_ps:
        what = "disagrees with bottleneck.delay and access.delay; expected one or the other"
        raise ValueError(f"rtt: {what}")
    return tree | {"bottleneck": bottleneck | {"delay": units.format_duration(delay_ps)}}


class Scenario(Model):
    """One point of a scenario."""

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
    """Duration of the run, or `"completion"`: until every finite flow has finished."""
    limit: Duration = 3600 * units.PS_PER_S
    """Time limit of a run to completion; a run that reaches it stops and is invalid."""
    profile: Annotated[str, registered("profiles")] = "rfc"
    """What the TCPs differ in besides congestion control, and the defaults of a flow's keys."""
    rtt: Duration | None = None
    """A dumbbell's base RTT, 2 x (2 x `access.delay` + `bottleneck.delay`), in place of
    `bottleneck.delay`."""
    ip_version: Annotated[Literal[4, 6], Field(examples=[6])] = 4
    """The IP version of the hosts' packets. With 6, the default segment of a profile with an MSS is
    20 bytes shorter, so packets are as long as with 4.
    """
    program: Annotated[str, Field(examples=["my-program.json"])] | None = None
    """A bmv2 JSON file that replaces `p4/build/v1model.json`, relative to the scenario's directory;
    it must have the same tables.
    """
    bottleneck: Bottleneck | None = None
    """The middle of the default topology, a dumbbell. A scenario has this or `[[switch]]`."""
    access: Access = Access()
    dumbbell: Dumbbell = Dumbbell()
    parking_lot: ParkingLot | None = None
    """Bottlenecks in a row, in place of `[bottleneck]`."""
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

    @model_validator(mode="before")
    @classmethod
    def _delay_of_rtt(cls, tree: Any) -> Any:
        return with_delay(tree) if isinstance(tree, dict) and "rtt" in tree else tree

    @model_validator(mode="after")
    def _has_a_topology(self) -> Self:
        if self.switch and self.bottleneck:
            raise ValueError(
                "has both [bottleneck] (a dumbbell) and [[switch]] (a custom topology); expected "
                "one"
            )
        if self.parking_lot and (self.switch or self.bottleneck):
            raise ValueError("has [parking_lot] and another topology; expected one")
        if not self.switch and not self.bottleneck and not self.parking_lot:
            raise ValueError(
                "has no network; expected [bottleneck], or [[switch]], [[link]] and [[host]]"
            )
        if not self.switch and (self.link or self.host):
            raise ValueError("has [[link]] or [[host]] but no [[switch]]")
        return self

    @property
    def is_dumbbell(self) -> bool:
        """True when the topology is the default one."""
        return self.bottleneck is not None

    def ports(self) -> dict[str, Port]:
        """All tables that describe a switch port to a link, by key."""
        found: dict[str, Port] = {"bottleneck": self.bottleneck} if self.bottleneck else {}
        if self.parking_lot:
            found["parking_lot"] = self.parking_lot
        for index, link in enumerate(self.link):
            found[f"link.{index}"] = link
            if link.reverse:
                found[f"link.{index}.reverse"] = link.reverse
        return found

    def impairments(self) -> list[str]:
        """The keys that ask links for more than a fixed delay."""
        ports = self.ports().items()
        found = [f"{key}.{name}" for key, port in ports for name in port.impairments()]
        return found + [
            f"event.{index}.set.{name}.delay"
            for index, event in enumerate(self.event)
            for name, change in event.set.by_link()
            if change.delay is not None
        ]

    def profile_of(self, flow: Flow) -> str:
        """The name of a flow's profile."""
        is_others = catalogue.is_agent(flow.variant) and not self.profile.startswith("ns2")
        return flow.profile or ("ns2" if is_others else self.profile)

    def resolved(self) -> dict[str, Any]:
        """The scenario with its defaults filled in, quantities as text with their units."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)
