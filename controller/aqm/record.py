"""What a discipline of the P4 program declares: a record as the traffic manager's disciplines have,
and the entry by which a port gets it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from narrows.controller.stages import PortStage

if TYPE_CHECKING:
    from narrows.schema.records import (
        DisciplineParameter,
        DisciplineRecord,
        DisciplineUnit,
        QueueReason,
    )
    from narrows.schema.switch import QueueConfig

CONTROL: Final = "NarrowsEgress.after_queue"
"""The control with the disciplines (`p4/aqm/after_queue.p4`)."""
MOST_32: Final = 2**32 - 1
MOST_40: Final = 2**40 - 1
NS_PER_S: Final = 10**9
PS_PER_NS: Final = 1000
LONGEST_PS: Final = 4e12
"""A queueing delay is a 32-bit number of nanoseconds."""
DROPS: Final[QueueReason] = {
    "name": "egress-program",
    "meaning": "the program's egress marked the packet to drop",
}
MARKS: Final[QueueReason] = {
    "name": "egress-program",
    "meaning": "the program's egress marked the packet",
}


@dataclass(frozen=True)
class PortDiscipline:
    """A discipline of the P4 program.

    The program's unit of time is the switch's: a tick is 1 ns, on bmv2 1 us.
    """

    record: DisciplineRecord
    name: str
    """The name of its control, and of the table in that: `codel`."""
    action: str
    """The table's action."""
    encode: Callable[[Mapping[str, float], int], dict[str, int]]
    """The action's parameters for a tick of 1 ns, from all parameters in base units and the port's
    rate in bit/s."""
    in_ticks: frozenset[str]
    """The action's parameters that are durations."""
    per_tick: Mapping[str, int] = field(default_factory=dict)
    """Those that are for each tick, and their largest values."""
    at_ingress: Callable[[Mapping[str, float]], Sequence[PortStage]] = lambda _: ()
    """Its stages before the queue, from all parameters in base units."""
    queues: Callable[[Mapping[str, float]], list[QueueConfig]] = lambda _: []
    """The traffic manager's queues, from all parameters in base units; empty for a single one."""

    @property
    def table(self) -> str:
        """The full name of its table."""
        return f"{CONTROL}.{self.name}.{self.name}"

    def in_longer_ticks(self, params: Mapping[str, int], tick_ns: int) -> dict[str, int]:
        """The action's parameters for longer ticks. A duration is at least one tick, unless 0."""

        def convert(name: str, value: int) -> int:
            if name in self.in_ticks:
                return max(value // tick_ns, 1) if value else 0
            if name in self.per_tick:
                return min(value * tick_ns, self.per_tick[name])
            return value

        return {name: convert(name, value) for name, value in params.items()}


def parameter(
    name: str, unit: DisciplineUnit, default: float, least: float, most: float, origin: str
) -> DisciplineParameter:
    """A parameter of a record, in base units."""
    return {
        "name": name, "unit": unit, "default": default, "min": least, "max": most,
        "origin": origin,
    }  # fmt: skip


def flag(name: str, default: float, origin: str) -> DisciplineParameter:
    """A parameter that is on (1) or off (0)."""
    return parameter(name, "flag", default, 0.0, 1.0, origin)


def ecn(origin: str) -> DisciplineParameter:
    """The parameter that asks for marks."""
    return flag("ecn", 0.0, f"marks packets that can be marked instead of dropping them; {origin}")


def whole_ns(duration_ps: float) -> int:
    """A duration in nanoseconds, rounded down."""
    return int(duration_ps) // PS_PER_NS


def fixed(value: float, fraction_bits: int, most: int) -> int:
    """A fixed-point number, at most `most`."""
    return min(round(value * (1 << fraction_bits)), most)
