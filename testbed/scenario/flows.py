"""A scenario's flows: transport and application, and what either may be told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    WithJsonSchema,
    model_serializer,
    model_validator,
)

from narrows.schema import units
from narrows.testbed import catalogue, kernel_variants
from narrows.testbed.scenario.values import (
    RECORD_UNITS,
    Duration,
    Model,
    Name,
    Names,
    Size,
    Window,
    known,
    number,
    quantity,
    read_key,
    registered,
    unit,
)

if TYPE_CHECKING:
    from narrows.schema.records import WorkloadKey

MAX_FLOWS = 100_000


def _variant(name: str) -> None:
    """Accepts a variant of ours, or else one that this machine's kernel can have."""
    try:
        catalogue.variant(name)
    except ValueError:
        if not kernel_variants.is_known(name):
            raise


def _start(value: object) -> object:
    return {"at": value} if isinstance(value, str | int | float) else value


class Start(Model):
    """When flows open: flow i of `count` at `at + i x every`, plus up to `spread`; with `poisson`
    the gaps between them are exponential besides.
    """

    short_form: ClassVar = quantity("duration", "1s")
    """What may stand for the table: `at` alone."""

    at: Duration = 0
    """When the first flow opens, since the run began."""
    every: Duration = 0
    """From one flow to the next."""
    poisson: Duration = 0
    """Mean gap of a Poisson process of arrivals, drawn from the run's seed."""
    spread: Duration = 0
    """A uniform random delay below this, drawn from the run's seed for each flow."""


class App(Model):
    """What the sender writes: a kind that `narrows list workloads` names, and its keys, each in
    the unit that the kind's record gives it (`"64kbps"`, `"80B"`, `"50ms"`).
    """

    model_config = ConfigDict(extra="allow")

    kind: Annotated[str, registered("workloads")]
    """The workload; it decides which other keys there are."""
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
            extra[name] = read_key(name, value, known[name]["unit"])
        return self

    @model_serializer(mode="wrap")
    def _with_units(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = write(self)
        for name, value in (self.model_extra or {}).items():
            written[name] = RECORD_UNITS[self.keys[name]["unit"]][1](value)
        return written

    @property
    def keys(self) -> dict[str, WorkloadKey]:
        """What the engine's record says of the kind's keys, by name."""
        return {key["name"]: key for key in catalogue.workload(self.kind)["keys"]}

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
    probes: Annotated[int, Field(ge=1, lt=2**32, examples=[3])] = 9
    """Without an answer to so many the connection is given up."""


HostName = Annotated[Name, Field(examples=["h1"])]
NUMBER = WithJsonSchema({"type": ["number", "boolean"]})


@dataclass(frozen=True)
class Transport:
    """Marks a key of a flow that one transport alone has a use for."""

    name: str


TCP = Transport("tcp")
Ssthresh = Annotated[int, Field(ge=2, examples=[20]), unit("segments")]
Segments = Annotated[int, Field(ge=1, examples=[10]), unit("segments")]


class Flow(Model):
    """One TCP connection, or one flow of datagrams, or `count` alike. What is absent is the
    profile's.
    """

    transport: Literal["tcp", "udp"] | None = None
    """Absent: the variant's."""
    variant: Annotated[str, known(_variant, "variants", "senders", "agents")]
    """Absent over UDP: datagrams leave as the application writes them. A congestion control, one
    that only this machine's kernel has (for `--hosts linux`), or an
    ns-2 source (`"Agent/TCP/Newreno"`, `"Newreno"`), which brings its recovery along and all else
    that it differs in."""
    recovery: Annotated[
        Annotated[str, known(catalogue.recovery, "recoveries", "agents")] | None, TCP
    ] = None
    """A loss recovery, or an ns-2 source that has it; absent: the source's, else `sack`."""
    profile: Annotated[str, registered("profiles")] | None = None
    """Absent: the scenario's; for an ns-2 source under a profile that is none of ns-2's, `ns2`."""
    name: Annotated[Name, Field(examples=["background"])] | None = None
    """What figures call these connections; tables of one name count together."""
    count: Annotated[int, Field(ge=0, le=MAX_FLOWS, examples=[5])] = 1
    """How many flows of this kind."""
    from_: HostName | Names | None = Field(default=None, alias="from")
    """The sending host; in a dumbbell absent. Of several the connections take each in turn with
    each of `to`."""
    to: HostName | Names | None = None
    """The receiving host, or several; in a dumbbell absent."""
    start: Annotated[Start, BeforeValidator(_start)] = Start()
    """`"1s"`, or a table of `at`, `every` and `spread`."""
    app: App = App.model_construct(kind="bulk")
    segment: Size | None = None
    """Payload bytes of a full segment; of a datagram the most of a message."""
    window: Annotated[Window | None, TCP] = None
    """What the receiver offers at most."""
    send_buffer: Annotated[Size | None, TCP] = None
    """What may be unacknowledged of messages; one that does not fit is left out. Absent: no
    limit."""
    initial_window: Annotated[Segments | None, TCP] = None
    """The congestion window before the first ACK."""
    initial_ssthresh: Annotated[Ssthresh | None, TCP] = None
    """The slow-start threshold before the first loss; the profile's is unlimited, in ns-2 the
    offered window."""
    sink: Annotated[Annotated[str, known(catalogue.sink, "sinks")] | None, TCP] = None
    """An ns-2 receiver by its name: stands for `sack` and `delayed_ack`, `TCPSink/Asym` for ACK
    congestion control."""
    delayed_ack: Annotated[bool | None, TCP] = None
    """The receiver acknowledges every second segment, or the first after a while."""
    sack: Annotated[bool | None, TCP] = None
    """Selective acknowledgments (RFC 2018)."""
    timestamps: Annotated[bool | None, TCP] = None
    """The timestamps option (RFC 7323)."""
    ecn: Annotated[bool | None, TCP] = None
    """Explicit congestion notification (RFC 3168); absent: where the variant needs it."""
    min_rto: Annotated[Duration | None, TCP] = None
    """The least retransmission time-out."""
    nagle: Annotated[bool | None, TCP] = None
    """Nagle's algorithm (RFC 9293 section 3.7.4)."""
    data_on_syn: Annotated[bool | None, TCP] = None
    """The first segment of data leaves with the SYN, as in T/TCP."""
    ttl: Annotated[int, Field(ge=1, le=255, examples=[32]), unit("switches")] | None = None
    """Time to live of the sender's packets; absent: 64. Each switch takes one off, and drops a
    packet that comes with 1."""
    max_burst: Annotated[Segments | None, TCP] = None
    """Segments that leave at once, the rest of a window spread over the round trip."""
    keep_alive: Annotated[KeepAlive | None, TCP] = None
    """Probes of a silent peer; absent: none."""
    user_timeout: Annotated[Duration | None, TCP] = None
    """How long what is sent may wait for an answer before the connection is given up (RFC 5482);
    absent: for ever."""
    params: dict[str, Annotated[Any, BeforeValidator(number), NUMBER]] = Field(default_factory=dict)
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
        for name, key in Flow.model_fields.items():
            if TCP in key.metadata and getattr(self, name) is not None:
                raise ValueError(f'"{name}" is TCP\'s; this flow sends datagrams')
        app = catalogue.workload(self.app.kind)
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
