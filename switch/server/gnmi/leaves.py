"""The data tree of the gNMI server: one list of leaves, with OpenConfig paths.

Models: openconfig-interfaces (names of RFC 8343), openconfig-qos with its submodules
openconfig-qos-elements (schedulers), openconfig-qos-interfaces (queue state) and
openconfig-qos-mem-mgmt (buffers of a queue in bytes and in microseconds). Leaves that OpenConfig
lacks are marked `narrows-qos`, an augmentation.

A port's scheduler policy and its buffer allocation profile are named by the port's number. Its
scheduler has sequence 0. A queue is named by its number, 0 the first served.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, cast

from narrows.schema.plan import QueueShare
from narrows.schema.records import DisciplineRecord, QueueReason
from narrows.schema.switch import DisciplineConfig, QueueLimit
from narrows.schema.units import PS_PER_US
from narrows.switch.server.target import PortState, TargetError

Value = int | str | float
EGRESS_PROGRAM = "egress-program"
Reader = Callable[[PortState], Value | None]
Number = Literal[
    "port", "rate_bps", "transmitted", "transmitted_bytes", "received", "received_bytes"
]
"""Numbers of a port's state."""


class TrafficManager(Protocol):
    """The part of a target that gNMI reads and sets."""

    def ports(self) -> list[int]:
        """The numbers of its ports."""

    def queues(self) -> dict[int, int]:
        """How many queues each port has, by the ports' numbers."""

    def port_state(self, port: int) -> PortState:
        """A port's settings and counters."""

    def set_rate(self, port: int, rate_bps: int) -> None:
        """Sets a port's rate in bits per second."""

    def set_queue_limit(self, port: int, limit: QueueLimit) -> None:
        """Sets a port's queue limit: `packets`, `bytes` or `time_ps`."""

    def set_discipline(self, port: int, discipline: DisciplineConfig) -> None:
        """Sets a port's queue discipline: `name`, and `parameters` in base units."""

    def set_share(self, port: int, share: QueueShare) -> None:
        """Sets the weight or the rate of one of a port's several queues."""

    def disciplines(self) -> Sequence[DisciplineRecord]:
        """The records of its queue disciplines: `name`, `parameters`."""

    def drop_reasons(self) -> Sequence[QueueReason]:
        """Its drop reasons: `name`, `meaning`."""

    def mark_reasons(self) -> Sequence[QueueReason]:
        """Why its ports mark packets: `name`, `meaning`."""


PORT = "{port}"
"""Placeholder for the port's number in a path key."""

Elem = tuple[str, tuple[tuple[str, str], ...]]
"""A path element: its name, and its keys with their values."""


@dataclass(frozen=True)
class Kind:
    """A YANG type: its name, and the largest value of an integer."""

    name: str
    most: float | None = None
    words: tuple[str, ...] = ()
    """Allowed strings; empty if the leaf cannot be set."""

    @property
    def is_integer(self) -> bool:
        """Whole numbers only."""
        return self.name.startswith("uint")

    @property
    def is_wide(self) -> bool:
        """JSON writes it as a string (RFC 7951)."""
        return self.name in ("uint64", "decimal64")


UINT32 = Kind("uint32", 2**32 - 1)
UINT64 = Kind("uint64", 2**64 - 1)
TIME_US = Kind("uint64", (2**64 - 1) // PS_PER_US)
"""The largest number of microseconds that fits a target's picoseconds."""
DECIMAL = Kind("decimal64")
STRING = Kind("string")
BOOLEAN = Kind("boolean")


@dataclass(frozen=True)
class Leaf:
    """A leaf of every port. `read` returns its value, or None if this port has none."""

    path: tuple[Elem, ...]
    kind: Kind
    read: Reader
    is_config: bool = False
    module: str | None = None
    """The module that adds this leaf to the model; None if the model defines it."""
    write: Callable[[TrafficManager, int, Any], None] | None = None
    least: float = 0
    unit: str = ""
    is_first: bool = False
    """True if a Set writes it before other leaves."""
    queue: int | None = None
    """The queue that it is of. A port with fewer queues does not have it."""

    def expected(self) -> str:
        """Describes the values that it accepts."""
        if self.kind.words:
            return f"one of {', '.join(self.kind.words)}"
        if self.kind.name == BOOLEAN.name:
            return "true or false"
        unit = f" in {self.unit}" if self.unit else ""
        return f"a {self.kind.name}{unit} from {self.least} to {self.kind.most}"


def parse(text: str) -> tuple[Elem, ...]:
    """Parses a path such as `a/b[k=v]/c` into elements."""
    elems = list[Elem]()
    for part in text.strip("/").split("/"):
        name, *keys = part.replace("]", "").split("[")
        pairs = (key.partition("=") for key in keys)
        elems.append((name, tuple((key, value) for key, _, value in pairs)))
    return tuple(elems)


def show(path: tuple[Elem, ...], port: int | None = None) -> str:
    """The path as text."""
    parts = []
    for name, keys in path:
        shown = "".join(f"[{key}={value}]" for key, value in keys)
        parts.append(name + shown)
    text = "/" + "/".join(parts)
    return text if port is None else text.replace(PORT, str(port))


def at_port(path: tuple[Elem, ...], port: int) -> tuple[Elem, ...]:
    """The path of a leaf at one port."""
    return tuple(
        (name, tuple((key, str(port) if value == PORT else value) for key, value in keys))
        for name, keys in path
    )


def port_number(state: PortState) -> str:
    """The port's number as text."""
    return str(state["port"])


def count(key: Number) -> Reader:
    """Reads a number of the port's state."""
    return lambda state: state[key]


def dropped(state: PortState) -> int:
    """Packets dropped by the queue or by egress."""
    return sum(int(count) for count in state["drops"].values())


def limit(kind: str) -> Callable[[PortState], int | None]:
    """The queue's limit, if it is of this kind."""
    return lambda state: cast("dict[str, int]", state["queue"]).get(kind)


def limit_us(state: PortState) -> int | None:
    """The limit in microseconds, rounded down."""
    time_ps = limit("time_ps")(state)
    return None if time_ps is None else time_ps // PS_PER_US


def always(value: Value) -> Reader:
    """A constant value."""
    return lambda state: value


def set_rate(target: TrafficManager, port: int, rate_bps: int) -> None:
    """Writes `cir`."""
    target.set_rate(port, rate_bps)


def set_bytes(target: TrafficManager, port: int, size_bytes: int) -> None:
    """Writes a limit in bytes."""
    target.set_queue_limit(port, {"bytes": size_bytes})


def set_us(target: TrafficManager, port: int, time_us: int) -> None:
    """Writes a limit in microseconds."""
    target.set_queue_limit(port, {"time_ps": time_us * PS_PER_US})


def set_packets(target: TrafficManager, port: int, packets: int) -> None:
    """Writes a limit in packets."""
    target.set_queue_limit(port, {"packets": packets})


def set_discipline(target: TrafficManager, port: int, name: str) -> None:
    """Writes a discipline's name. Its parameters take their defaults, unless it is already in
    force.
    """
    if target.port_state(port)["discipline"]["name"] != name:
        target.set_discipline(port, {"name": name, "parameters": {}})


def set_parameter(discipline: str, name: str) -> Callable[[TrafficManager, int, float], None]:
    """Returns a function that writes a parameter of the discipline in force."""

    def write(target: TrafficManager, port: int, value: float) -> None:
        in_force = target.port_state(port)["discipline"]
        if in_force["name"] != discipline:
            message = f"port {port}: {in_force['name']} is in force; set {discipline} first"
            raise TargetError("failed-precondition", message)
        parameters = {**in_force["parameters"], name: value}
        target.set_discipline(port, {"name": discipline, "parameters": parameters})

    return write


def get_parameter(discipline: str, name: str) -> Reader:
    """Reads a discipline's parameter, if the discipline is in force."""

    def read(state: PortState) -> Value | None:
        in_force = state["discipline"]
        value = in_force["parameters"].get(name)
        return value if in_force["name"] == discipline else None

    return read


INTERFACE = f"/interfaces/interface[name={PORT}]"
MANAGEMENT = f"/qos/queue-management-profiles/queue-management-profile[name={PORT}]"
QOS = f"/qos/interfaces/interface[interface-id={PORT}]"
POLICY = f"/qos/scheduler-policies/scheduler-policy[name={PORT}]"
SCHEDULER = f"{POLICY}/schedulers/scheduler[sequence=0]"
PROFILE = f"/qos/buffer-allocation-profiles/buffer-allocation-profile[name={PORT}]"
BUFFER = f"{PROFILE}/queues/queue[name=0]"
OURS = "narrows-qos"


def both(
    at: str,
    name: str,
    kind: Kind,
    read: Reader,
    module: str | None = None,
    write: Callable[[TrafficManager, int, Any], None] | None = None,
    unit: str = "",
    least: float = 1,
) -> list[Leaf]:
    """A leaf under `config` and its copy under `state`."""
    config = Leaf(
        parse(f"{at}/config/{name}"), kind, read, True, module, write, least, unit,
        is_first=bool(kind.words),
    )  # fmt: skip
    return [config, Leaf(parse(f"{at}/state/{name}"), kind, read, False, module)]


def state(
    at: str,
    name: str,
    kind: Kind,
    read: Reader,
    module: str | None = None,
) -> Leaf:
    """A read-only leaf."""
    return Leaf(parse(f"{at}/{name}"), kind, read, False, module)


COUNTERS = f"{INTERFACE}/state/counters"
RATE = f"{SCHEDULER}/two-rate-three-color"

LEAVES: tuple[Leaf, ...] = (
    *both(INTERFACE, "name", STRING, port_number),
    state(INTERFACE, "state/ifindex", UINT32, count("port")),
    state(INTERFACE, "state/admin-status", STRING, always("UP")),
    state(INTERFACE, "state/oper-status", STRING, always("UP")),
    state(COUNTERS, "in-pkts", UINT64, count("received")),
    state(COUNTERS, "in-octets", UINT64, count("received_bytes")),
    state(COUNTERS, "out-pkts", UINT64, count("transmitted")),
    state(COUNTERS, "out-octets", UINT64, count("transmitted_bytes")),
    state(COUNTERS, "out-discards", UINT64, dropped),
    *both(QOS, "interface-id", STRING, port_number),
    *both(f"{QOS}/output", "buffer-allocation-profile", STRING, port_number),
    *both(f"{QOS}/output/scheduler-policy", "name", STRING, port_number),
    *both(MANAGEMENT, "name", STRING, port_number),
    *both(POLICY, "name", STRING, port_number),
    *both(SCHEDULER, "sequence", UINT32, always(0)),
    *both(SCHEDULER, "type", STRING, always("TWO_RATE_THREE_COLOR")),
    *both(RATE, "cir", UINT64, count("rate_bps"), None, set_rate, "bit/s"),
    *both(PROFILE, "name", STRING, port_number),
    *both(BUFFER, "name", STRING, always("0")),
    *both(BUFFER, "dedicated-buffer", UINT64, limit("bytes"), None, set_bytes, "bytes"),
    *both(BUFFER, "dedicated-buffer-temporal", TIME_US, limit_us, None, set_us, "microseconds"),
    *both(BUFFER, "dedicated-buffer-packets", UINT64, limit("packets"), OURS, set_packets,
          "packets"),
)  # fmt: skip

MODULES = {"interfaces": "openconfig-interfaces", "qos": "openconfig-qos"}
"""The model of each top-level container."""

VERSIONS = {
    "openconfig-interfaces": "3.0.0",
    "openconfig-qos": "0.11.1",
    OURS: "1.0.0",
}
"""The models of these leaves; openconfig-qos has the revision of its mem-mgmt."""
