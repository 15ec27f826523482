"""What a discipline of the P4 program declares: a record as the traffic manager's disciplines have,
and the entry by which a port gets it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from narrows.schema.records import DisciplineRecord

PS_PER_NS: Final = 1000


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
    encode: Callable[[Mapping[str, float]], dict[str, int]]
    """The action's parameters for a tick of 1 ns, from all parameters in base units."""
    in_ticks: frozenset[str]
    """The action's parameters that are durations."""

    @property
    def table(self) -> str:
        """The full name of its table."""
        return f"NarrowsEgress.{self.name}.{self.name}"

    def in_longer_ticks(self, params: Mapping[str, int], tick_ns: int) -> dict[str, int]:
        """The action's parameters for longer ticks. A duration is at least one tick."""
        return {
            name: max(value // tick_ns, 1) if name in self.in_ticks else value
            for name, value in params.items()
        }


def whole_ns(duration_ps: float) -> int:
    """A duration in nanoseconds, rounded down."""
    return int(duration_ps) // PS_PER_NS
