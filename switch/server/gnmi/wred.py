"""OpenConfig's leaves of weighted RED, for the discipline `red`.

Of `wred/uniform` in openconfig-qos. OpenConfig's thresholds are bytes; RED's are packets of the
length `mean-packet`. Its `weight` and `drop` have no leaf here, as RED's average has a factor.
"""

from __future__ import annotations

from collections.abc import Callable

from narrows.switch.server.gnmi.leaves import (
    BOOLEAN,
    MANAGEMENT,
    UINT64,
    Kind,
    Leaf,
    Reader,
    TrafficManager,
    Value,
    both,
    get_parameter,
    set_parameter,
)
from narrows.switch.server.target import PortState

RED = "red"
UNIFORM = f"{MANAGEMENT}/wred/uniform"
PERCENT = Kind("uint8", 100)


def parameter(state: PortState, name: str) -> float | None:
    """A parameter of RED, if RED is in force."""
    value = get_parameter(RED, name)(state)
    return None if value is None else float(value)


def get_bytes(name: str) -> Reader:
    """Reads a threshold in packets as bytes."""

    def read(state: PortState) -> Value | None:
        packets, size = parameter(state, name), parameter(state, "mean-packet")
        return None if packets is None or size is None else round(packets * size)

    return read


def set_bytes(name: str) -> Callable[[TrafficManager, int, float], None]:
    """Writes a threshold in bytes as packets."""

    def write(target: TrafficManager, port: int, size_bytes: float) -> None:
        size = parameter(target.port_state(port), "mean-packet")
        # Without RED in force the write below refuses the value.
        set_parameter(RED, name)(target, port, size_bytes / (size or 1))

    return write


def get_percent(state: PortState) -> Value | None:
    """Reads the probability at the upper threshold, rounded to whole percent."""
    probability = parameter(state, "max-p")
    return None if probability is None else round(100 * probability)


def set_percent(target: TrafficManager, port: int, percent: float) -> None:
    """Writes the probability at the upper threshold."""
    set_parameter(RED, "max-p")(target, port, percent / 100)


def get_ecn(state: PortState) -> Value | None:
    """Reads whether packets are marked where they can be."""
    value = parameter(state, "ecn")
    return None if value is None else bool(value)


def wred_leaves() -> list[Leaf]:
    """The leaves of a port's management profile below `wred/uniform`."""
    return [
        *both(UNIFORM, "min-threshold", UINT64, get_bytes("min-th"), None, set_bytes("min-th"),
              "bytes"),
        *both(UNIFORM, "max-threshold", UINT64, get_bytes("max-th"), None, set_bytes("max-th"),
              "bytes"),
        *both(UNIFORM, "enable-ecn", BOOLEAN, get_ecn, None, set_parameter(RED, "ecn")),
        *both(UNIFORM, "max-drop-probability-percent", PERCENT, get_percent, None, set_percent,
              "percent"),
    ]  # fmt: skip
