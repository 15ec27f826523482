"""The scenario file's schema, all of it: every key, its unit, its default, what it means.

A scenario is TOML. A quantity is text with its unit (`common/schema/units.py`); a key that is not
here is refused. `sweep.py` reads a file into these models, one `Scenario` per point of its sweep,
and `plan.py` turns each into what the engine runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    SerializerFunctionWrapHandler,
    WithJsonSchema,
    model_serializer,
    model_validator,
)

from narrows.schema import units
from narrows.testbed import catalogue, kernel_variants

MAX_FLOWS = 100_000


def _known(find: Callable[[str], object]) -> AfterValidator:
    """Accepts a name that the engine's records have."""

    def check(name: str) -> str:
        find(name)
        return name

    return AfterValidator(check)


def _variant(name: str) -> None:
    """Accepts a variant of ours, or else one that this machine's kernel can have."""
    try:
        catalogue.variant(name)
    except ValueError:
        if not kernel_variants.is_known(name):
            raise


def _registered(kind: str) -> AfterValidator:
    """Accepts the name of one of the engine's records of this kind."""
    return _known(lambda name: catalogue.record(kind, name))


def matching(pattern: str, expected: str) -> AfterValidator:
    """Accepts text that the whole of the pattern matches."""

    def check(text: str) -> str:
        if re.fullmatch(pattern, text) is None:
            raise ValueError(f"expected {expected}")
        return text

    return AfterValidator(check)


def _text(example: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "examples": [example]})


Rate = Annotated[
    int,
    BeforeValidator(units.parse_rate),
    PlainSerializer(units.format_rate),
    _text("5Mbps"),
]
Duration = Annotated[
    int,
    BeforeValidator(units.parse_duration),
    PlainSerializer(units.format_duration),
    _text("50ms"),
]
Size = Annotated[
    int,
    BeforeValidator(units.parse_size),
    PlainSerializer(units.format_size),
    _text("20000KB"),
]
Queue = Annotated[
    units.Queue,
    BeforeValidator(units.parse_queue),
    PlainSerializer(str),
    _text("100packets"),
]
Window = Annotated[
    units.Window,
    BeforeValidator(units.parse_window),
    PlainSerializer(str),
    _text("200packets"),
]
Probability = Annotated[float, BeforeValidator(units.parse_share), Field(ge=0, lt=1)]
Counts = Literal["ip", "frame", "wire"]
Name = Annotated[str, matching(r"[A-Za-z][A-Za-z0-9_-]*", "a name of letters, digits, - and _")]
Names = Annotated[list[Name], Field(min_length=1)]
Every = Annotated[int, Field(ge=0, lt=2**32)]


def _or_duration(*words: str) -> Callable[[object], object]:
    """Takes one of the words, or a duration."""

    def parse(value: object) -> object:
        if isinstance(value, str) and value in words:
            return value
        try:
            return units.parse_duration(value)
        except ValueError as error:
            raise ValueError(f"{error}, or {' or '.join(map(repr, words))}") from None

    return parse


def _some_time(value: int | str) -> int | str:
    if value == 0:
        raise ValueError('is no time; expected one above zero such as "60s"')
    return value


def _format_or_duration(value: int | str) -> str:
    return value if isinstance(value, str) else units.format_duration(value)


def _queue_record(value: object) -> object:
    if isinstance(value, bool) or value in ("both", "summary", "both-summary"):
        return value
    raise ValueError('expected true, false, "both", "summary" or "both-summary"')


def _number(value: object) -> object:
    if isinstance(value, bool | int | float):
        return float(value)
    raise ValueError("expected a number or a boolean")


def _start(value: object) -> object:
    return {"at": value} if isinstance(value, str | int | float) else value


class Model(BaseModel):
    """A table of the file: typed strictly, unknown keys refused, its values fixed once read."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        allow_inf_nan=False,
        arbitrary_types_allowed=True,
        validate_by_name=True,
        validate_by_alias=True,
    )


class Port(Model):
    """A switch's output port towards one link."""

    rate: Rate
    """What the port sends, in the bits that `counts` names."""
    queue: Queue = units.Queue("packets", Fraction(100))
    """The DropTail limit; a `bdp` multiple is rate x base RTT (propagation only, there and back),
    rounded down to whole bytes, and keeps its bytes when an event changes the rate."""
    discipline: Literal["drop-tail", "ack-filter"] = "drop-tail"
    """With `ack-filter` a TCP ACK that comes takes the older ones of its connection out of the
    queue (ns-2's `filteracks_`), for a path back that is too slow for all."""
    loss: Probability = 0.0
    """Probability that the P4 program drops a packet bound for this port."""
    counts: Counts = "frame"
    """What counts against the rate and a limit in bytes: the IP length, the Ethernet frame
    without its check sequence, or what the wire carries (check sequence, padding to 64 B,
    preamble and gap: 24 B more)."""
    ecn_threshold: Annotated[int, Field(ge=0, lt=2**24)] | None = None
    """Packets in the queue above which ECN-capable packets are marked; absent: never."""
    telemetry: Every | None = None
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
    delay: Duration = 0
    """One-way propagation."""
    jitter: Duration = 10_000
    """What a packet takes longer at most, uniformly: 10 ns, what an interface's clock domains
    cost. With 0 a link exactly as fast as the bottleneck is in step with it to the picosecond,
    and one flow can lock out all others (Floyd and Jacobson 1992)."""
    queue: Queue = units.Queue("packets", Fraction(1000))
    """DropTail, in packets."""
    counts: Counts = "frame"
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
    receivers: Annotated[int, Field(ge=1)] | None = None
    """So many receivers that the flows take in turn, as servers with many users; absent: as
    `hosts` says."""


class Switch(Model):
    """A P4 switch of a topology of your own."""

    name: Name


class Link(Port):
    """A cable between two switches. Its keys describe the port at `from`; the port at `to` has
    the same rate, queue and counts unless `reverse` says otherwise.
    """

    from_: Name = Field(alias="from")
    to: Name
    delay: Duration
    """One-way propagation."""
    bottleneck: bool = False
    """Whose figures go to the summary; the first link's where none says so."""
    reverse: Port | None = None
    """The port at `to`."""


class Host(Model):
    """A host, attached to a switch by its own access link."""

    name: Name
    switch: Name
    access: Access | None = None
    """Its link; absent: `[access]`."""


class Start(Model):
    """When flows open: flow i of `count` at `at + i x every`, plus up to `spread`; with `poisson`
    the gaps between them are exponential besides.
    """

    at: Duration = 0
    every: Duration = 0
    poisson: Duration = 0
    """Mean gap of a Poisson process of arrivals, drawn from the run's seed."""
    spread: Duration = 0
    """A uniform random delay below this, drawn from the run's seed for each flow."""


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError("is no whole number above 0")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("is neither true nor false")
    return value


def _word(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("is no text")
    return value


APP_UNITS: dict[str, tuple[Callable[[object], Any], Callable[[Any], object]]] = {
    "rate": (units.parse_rate, units.format_rate),
    "size": (units.parse_size, units.format_size),
    "duration": (units.parse_duration, units.format_duration),
    "count": (_whole, int),
    "number": (_number, float),
    "flag": (_flag, bool),
    "word": (_word, str),
    "trace": (_word, str),
}
"""How the value of an application's key is read and written, by the unit its record names."""


class App(Model):
    """What the sender writes: a kind that `narrows list applications` names, and its keys, each in
    the unit that the kind's record gives it (`"64kbps"`, `"80B"`, `"50ms"`).
    """

    model_config = ConfigDict(extra="allow")

    kind: Annotated[str, _registered("applications")]
    bytes: Size | None = None
    """Bytes to transfer; absent: without end."""

    @model_validator(mode="after")
    def _keys_are_the_kinds(self) -> Self:
        known, extra = self.keys, self.model_extra or {}
        for name in sorted((self.model_fields_set - {"kind"}) | set(extra)):
            if name not in known:
                raise ValueError(
                    f'"{name}" {catalogue.unknown(f"key of {self.kind}", name, known)}'
                )
        for name, key in known.items():
            if key["is_required"] and name not in extra:
                raise ValueError(f'"{name}" is missing; {self.kind} needs it: {key["meaning"]}')
        for name, value in extra.items():
            try:
                extra[name] = APP_UNITS[known[name]["unit"]][0](value)
            except ValueError as error:
                raise ValueError(f"{name} = {value!r}: {error}") from None
        return self

    @model_serializer(mode="wrap")
    def _with_units(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = write(self)
        for name, value in (self.model_extra or {}).items():
            written[name] = APP_UNITS[self.keys[name]["unit"]][1](value)
        return written

    @property
    def keys(self) -> dict[str, dict[str, Any]]:
        """What the engine's record says of the kind's keys, by name."""
        return {key["name"]: key for key in catalogue.record("applications", self.kind)["keys"]}

    @property
    def is_finite(self) -> bool:
        """True when it will have written its last byte some day."""
        ends = {"messages", "file"} & set(self.model_extra or {})
        return self.bytes is not None or bool(ends)


class KeepAlive(Model):
    """Keep-alives (RFC 9293 section 3.8.4), with Linux's defaults."""

    idle: Duration = 7200 * units.PS_PER_S
    """Nothing came for so long: the peer is probed."""
    interval: Duration = 75 * units.PS_PER_S
    """Between two probes."""
    probes: Annotated[int, Field(ge=1, lt=2**32)] = 9
    """Without an answer to so many the connection is given up."""


TCP_KEYS = (
    "recovery", "window", "send_buffer", "initial_window", "initial_ssthresh", "delayed_ack",
    "sack", "timestamps", "ecn", "nagle", "data_on_syn", "max_burst", "min_rto", "keep_alive",
    "user_timeout", "sink",
)  # fmt: skip
"""Keys of a flow that datagrams have no use for."""


class Flow(Model):
    """One TCP connection, or one flow of datagrams, or `count` alike. What is absent is the
    profile's.
    """

    transport: Literal["tcp", "udp"] | None = None
    """Absent: the variant's."""
    variant: Annotated[str, _known(_variant)]
    """Absent over UDP: datagrams leave as the application writes them. A congestion control, one
    that only this machine's kernel has (for `--hosts linux`), or an
    ns-2 source (`"Agent/TCP/Newreno"`, `"Newreno"`), which brings its recovery along and all else
    that it differs in."""
    recovery: Annotated[str, _known(lambda name: catalogue.recovery(name))] | None = None
    """A loss recovery, or an ns-2 source that has it; absent: the source's, else `sack`."""
    profile: Annotated[str, _registered("profiles")] | None = None
    """Absent: the scenario's; for an ns-2 source under a profile that is none of ns-2's, `ns2`."""
    name: Name | None = None
    """What figures call these connections; tables of one name count together."""
    count: Annotated[int, Field(ge=0, le=MAX_FLOWS)] = 1
    from_: Name | Names | None = Field(default=None, alias="from")
    """The sending host; in a dumbbell absent. Of several the connections take each in turn with
    each of `to`."""
    to: Name | Names | None = None
    """The receiving host, or several; in a dumbbell absent."""
    start: Annotated[Start, BeforeValidator(_start)] = Start()
    """`"1s"`, or a table of `at`, `every` and `spread`."""
    app: App = App.model_construct(kind="bulk")
    segment: Size | None = None
    """Payload bytes of a full segment; of a datagram the most of a message."""
    window: Window | None = None
    """What the receiver offers at most."""
    send_buffer: Size | None = None
    """What may be unacknowledged of messages; one that does not fit is left out. Absent: no
    limit."""
    initial_window: Annotated[int, Field(ge=1)] | None = None
    """Segments."""
    initial_ssthresh: Annotated[int, Field(ge=2)] | None = None
    """Segments; the profile's is unlimited, in ns-2 the offered window."""
    delayed_ack: bool | None = None
    sack: bool | None = None
    timestamps: bool | None = None
    ecn: bool | None = None
    nagle: bool | None = None
    data_on_syn: bool | None = None
    """The first segment of data leaves with the SYN, as in T/TCP."""
    max_burst: Annotated[int, Field(ge=1)] | None = None
    """Segments that leave at once, the rest of a window spread over the round trip."""
    min_rto: Duration | None = None
    ttl: Annotated[int, Field(ge=1, le=255)] | None = None
    """Time to live of the sender's packets; absent: 64. Each switch takes one off, and drops a
    packet that comes with 1."""
    keep_alive: KeepAlive | None = None
    user_timeout: Duration | None = None
    """How long what is sent may wait for an answer before the connection is given up (RFC 5482);
    absent: for ever."""
    sink: Annotated[str, _known(lambda name: catalogue.sink(name))] | None = None
    """An ns-2 receiver by its name: stands for `sack` and `delayed_ack`, `TCPSink/Asym` for ACK
    congestion control."""
    params: dict[str, Annotated[Any, BeforeValidator(_number)]] = {}
    """The variant's own parameters, numbers; true and false are 1 and 0."""

    @model_validator(mode="before")
    @classmethod
    def _udp_needs_no_variant(cls, flow: Any) -> Any:
        if isinstance(flow, dict) and flow.get("transport") == "udp":
            return {"variant": "udp"} | flow
        return flow

    @model_validator(mode="after")
    def _is_of_its_transport(self) -> Self:
        sender = catalogue.sender(self.variant)
        if self.transport == "udp" and sender is None:
            senders = [record["name"] for record in catalogue.records("senders")]
            what = f"expected none, or one of {', '.join(senders)}"
            raise ValueError(f'variant = "{self.variant}": is TCP\'s; over UDP {what}')
        if self.transport == "tcp" and sender is not None:
            raise ValueError(f'variant = "{self.variant}": sends datagrams; transport = "udp"')
        if sender is None:
            return self
        for name in TCP_KEYS:
            if getattr(self, name) is not None:
                raise ValueError(f'"{name}" is TCP\'s; this flow sends datagrams')
        app = catalogue.record("applications", self.app.kind)
        if app["answers"] or (sender["needs_pace"] and not app["has_messages"]):
            what = "both its ends write" if app["answers"] else "it has no pace of its own"
            raise ValueError(f'app = "{self.app.kind}": is not for {self.variant}: {what}')
        return self

    @model_validator(mode="after")
    def _params_are_the_variants(self) -> Self:
        if not self.params:
            return self
        known = {p["name"]: p for p in catalogue.variant(self.variant)["parameters"]}
        for name, value in self.params.items():
            if name not in known:
                what = f"parameter of {self.variant}"
                raise ValueError(f'params: "{name}" {catalogue.unknown(what, name, known)}')
            least, most = known[name]["min"], known[name]["max"]
            if not least <= value <= most:
                raise ValueError(f"params: {name} = {value:g}; expected {least:g} to {most:g}")
        return self


class PortChange(Model):
    """What an event may set at a port."""

    rate: Rate | None = None
    queue: Queue | None = None
    loss: Probability | None = None
    ecn_threshold: Annotated[int, Field(ge=0, lt=2**24)] | None = None


class Change(Model):
    """What an event sets, and where."""

    bottleneck: PortChange | None = None
    """The dumbbell's bottleneck: rate and queue in both directions, loss and marking in the
    direction of the data. In other topologies the summary's link."""
    link: dict[str, PortChange] = {}
    """By direction, `"s1->s2"`: the port at s1."""


class Event(Model):
    """What the controller does while the run goes on."""

    at: Duration
    set: Change


class Report(Model):
    """What is drawn after the runs."""

    figures: list[str] = []
    """Names that `narrows list figures` knows."""


class Telemetry(Model):
    """The P4 program's reports."""

    every: Every = 1
    """1 packet in so many is reported, 0 none."""
    collector: Annotated[
        str, matching(r"\d+\.\d+\.\d+\.\d+:\d+", "an IPv4 address and a UDP port")
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
        BeforeValidator(_or_duration("ack", "off")),
        PlainSerializer(_format_or_duration),
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
    lost_packets: Annotated[int, Field(ge=0, lt=2**63)] = 0
    """How many packets each wire may lose, by full rings, for want of memory or otherwise."""


class Sweep(Model):
    """Every combination of its values is a point. A key is a dotted path into the file
    (`"flow.count"`: in every `[[flow]]`; `"flow.0.count"`: in the first), its value a list.
    """

    model_config = ConfigDict(extra="allow")

    repeat: Annotated[int, Field(ge=1, le=10_000)] = 1
    """Runs of each combination, with the seeds seed, seed + 1, ..."""


class Scenario(Model):
    """One point of a scenario: everything about one run but the program's names."""

    title: Annotated[str, matching(r"\S(.*\S)?", "a line of text")]
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 1
    duration: Annotated[
        int | Literal["completion"],
        BeforeValidator(_or_duration("completion")),
        AfterValidator(_some_time),
        PlainSerializer(_format_or_duration),
    ]
    """How long, or until every flow that can finish has finished."""
    limit: Duration = 3600 * units.PS_PER_S
    """A run to completion that reaches this is stopped, and is invalid."""
    profile: Annotated[str, _registered("profiles")] = "rfc"
    program: str | None = None
    """A bmv2 JSON file other than `p4/build/v1model.json`, from the scenario's directory; it must
    have the same tables."""
    bottleneck: Bottleneck | None = None
    access: Access = Access()
    dumbbell: Dumbbell = Dumbbell()
    switch: list[Switch] = []
    link: list[Link] = []
    host: list[Host] = []
    flow: Annotated[list[Flow], Field(min_length=1)]
    event: list[Event] = []
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

    def profile_of(self, flow: Flow) -> str:
        """The name of a flow's profile."""
        is_others = catalogue.is_agent(flow.variant) and not self.profile.startswith("ns2")
        return flow.profile or ("ns2" if is_others else self.profile)

    def resolved(self) -> dict[str, Any]:
        """The scenario with its defaults filled in, quantities as text with their units."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)
