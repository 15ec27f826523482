"""A scenario's flows: transport and application, and their keys."""

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
    """Accepts one of our variants, or a variant of this machine's kernel."""
    try:
        catalogue.variant(name)
    except ValueError:
        if not kernel_variants.is_known(name):
            raise


def _start(value: object) -> object:
    return {"at": value} if isinstance(value, str | int | float) else value


class Start(Model):
    """The start of flows: flow i of `count` opens at `at + i x every`, plus a random delay up to
    `spread`. With `poisson`, exponential gaps are added.
    """

    short_form: ClassVar = quantity("duration", "1s")
    """What may stand for the table: `at` alone."""

    at: Duration = 0
    """Time from the start of the run to the first flow's opening."""
    every: Duration = 0
    """Time from one flow's opening to the next."""
    poisson: Duration = 0
    """Mean gap of a Poisson arrival process, drawn from the run's seed."""
    spread: Duration = 0
    """A uniform random delay below this, drawn from the run's seed for each flow."""


class App(Model):
    """The application at the sender: a kind from `narrows list workloads`, and its keys, each in
    the unit of the kind's record (`"64kbps"`, `"80B"`, `"50ms"`).
    """

    model_config = ConfigDict(extra="allow")

    kind: Annotated[str, registered("workloads")]
    """The workload; it decides which other keys there are."""
    bytes: Size | None = None
    """Bytes to transfer; absent: unlimited."""

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
        """The engine's records of the kind's keys, by name."""
        return {key["name"]: key for key in catalogue.workload(self.kind)["keys"]}

    @property
    def is_finite(self) -> bool:
        """True if it writes a finite number of bytes."""
        ends = {"messages", "file"} & set(self.model_extra or {})
        return self.bytes is not None or bool(ends)


class KeepAlive(Model):
    """Keep-alives (RFC 9293 section 3.8.4), with Linux's defaults."""

    idle: Duration = 7200 * units.PS_PER_S
    """Idle time after which the first probe is sent."""
    interval: Duration = 75 * units.PS_PER_S
    """Interval between two probes."""
    probes: Annotated[int, Field(ge=1, lt=2**32, examples=[3])] = 9
    """Number of unanswered probes after which the connection is aborted."""


HostName = Annotated[Name, Field(examples=["h1"])]
NUMBER = WithJsonSchema({"type": ["number", "boolean"]})


@dataclass(frozen=True)
class Transport:
    """Marks a flow's key that only one transport uses."""

    name: str


TCP = Transport("tcp")
Ssthresh = Annotated[int, Field(ge=2, examples=[20]), unit("segments")]
Segments = Annotated[int, Field(ge=1, examples=[10]), unit("segments")]


class Flow(Model):
    """One TCP connection or datagram flow, or `count` equal ones. Absent keys take the profile's
    values.
    """

    transport: Literal["tcp", "udp"] | None = None
    """Absent: the variant's."""
    variant: Annotated[str, known(_variant, "variants", "senders", "agents")]
    """The congestion control: one of ours, one of this machine's kernel (for `--hosts linux`), or
    an ns-2 source (`"Agent/TCP/Newreno"`, `"Newreno"`), which also sets recovery and defaults.
    Absent over UDP: datagrams leave as the application writes them.
    """
    recovery: Annotated[
        Annotated[str, known(catalogue.recovery, "recoveries", "agents")] | None, TCP
    ] = None
    """The loss recovery, or an ns-2 source that has it; absent: the source's, else
    `linux` under `profile = "linux"` and `sack` under others."""
    profile: Annotated[str, registered("profiles")] | None = None
    """The host profile; absent: the scenario's, or `ns2` for an ns-2 source if the scenario's is
    not an ns-2 profile.
    """
    name: Annotated[Name, Field(examples=["background"])] | None = None
    """The name of these connections in figures; flows with the same name form one group."""
    count: Annotated[int, Field(ge=0, le=MAX_FLOWS, examples=[5])] = 1
    """How many flows of this kind."""
    from_: HostName | Names | None = Field(default=None, alias="from")
    """The sending host, or several; absent in a dumbbell. Connections cycle through all pairs with
    `to`.
    """
    to: HostName | Names | None = None
    """The receiving host, or several; absent in a dumbbell."""
    delay: Duration | None = None
    """Extra one-way delay of the access link at each connection's sender, in both directions; in a
    dumbbell with `hosts = "per-flow"`. Absent: none."""
    reverse: bool | None = None
    """True: the data flows from the receivers' side of a dumbbell to the senders' side."""
    link: Annotated[int, Field(ge=1, examples=[1])] | None = None
    """In a parking lot: the only link that the flow passes, from 1; absent: all."""
    start: Annotated[Start, BeforeValidator(_start)] = Start()
    """The start time: `"1s"`, or a table of `at`, `every` and `spread`."""
    app: App = App.model_construct(kind="bulk")
    segment: Size | None = None
    """Payload bytes of a full segment; for datagrams, the maximum message bytes per datagram."""
    window: Annotated[Window | None, TCP] = None
    """The maximum receive window, in bytes or segments."""
    send_buffer: Annotated[Size | None, TCP] = None
    """Limit of unacknowledged message bytes; a message that does not fit is skipped. Absent: no
    limit.
    """
    initial_window: Annotated[Segments | None, TCP] = None
    """The congestion window before the first ACK."""
    initial_ssthresh: Annotated[Ssthresh | None, TCP] = None
    """The slow-start threshold before the first loss; absent: unlimited, or the offered window for
    ns-2.
    """
    sink: Annotated[Annotated[str, known(catalogue.sink, "sinks")] | None, TCP] = None
    """An ns-2 receiver by name, which sets `sack` and `delayed_ack`; `TCPSink/Asym` adds ACK
    congestion control.
    """
    delayed_ack: Annotated[bool | None, TCP] = None
    """Delayed ACKs: the receiver acknowledges every second segment, or the first after
    a time-out.
    """
    sack: Annotated[bool | None, TCP] = None
    """Selective acknowledgments (RFC 2018)."""
    timestamps: Annotated[bool | None, TCP] = None
    """The timestamps option (RFC 7323)."""
    ecn: Annotated[bool | None, TCP] = None
    """Explicit congestion notification (RFC 3168); absent: on if the variant needs it."""
    min_rto: Annotated[Duration | None, TCP] = None
    """The minimum retransmission time-out."""
    nagle: Annotated[bool | None, TCP] = None
    """Nagle's algorithm (RFC 9293 section 3.7.4)."""
    data_on_syn: Annotated[bool | None, TCP] = None
    """The first segment of data leaves with the SYN, as in T/TCP."""
    ttl: Annotated[int, Field(ge=1, le=255, examples=[32]), unit("switches")] | None = None
    """Time to live of the sender's packets, in hops; absent: 64. Each switch decrements it, and
    drops a packet that arrives with 1.
    """
    dscp: Annotated[int, Field(ge=0, le=63, examples=[46])] | None = None
    """Code point (DSCP, RFC 2474) of the flow's packets in both directions; absent: 0. A port's
    `queues` can choose by it.
    """
    max_burst: Annotated[Segments | None, TCP] = None
    """Maximum segments sent back to back; the rest of a window is spread over the round trip."""
    keep_alive: Annotated[KeepAlive | None, TCP] = None
    """Keep-alive probes of an idle peer; absent: none."""
    user_timeout: Annotated[Duration | None, TCP] = None
    """How long sent data may stay unacknowledged before the connection is aborted (RFC 5482);
    absent: no limit.
    """
    params: dict[str, Annotated[Any, BeforeValidator(number), NUMBER]] = Field(default_factory=dict)
    """The variant's parameters, as numbers; true and false mean 1 and 0."""

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
            raise ValueError(
                f'variant = "{self.variant}": sends datagrams; expected transport = "udp"'
            )
        if sender is None:
            return self
        for name, key in Flow.model_fields.items():
            if TCP in key.metadata and getattr(self, name) is not None:
                raise ValueError(f'"{name}" is TCP\'s; this flow sends datagrams')
        app = catalogue.workload(self.app.kind)
        if app["answers"] or (sender["needs_pace"] and not app["has_messages"]):
            what = "both its ends write" if app["answers"] else "it has no pace of its own"
            raise ValueError(f'app = "{self.app.kind}": is not supported by {self.variant}: {what}')
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
