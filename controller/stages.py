"""Stages of the P4 program that an output port's entry sets up.

A scenario's key for such a stage is a field with one of these in its type
(`testbed/scenario/network.py`). The key is the name of the action's parameter, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from narrows.controller.matches import Exact
from narrows.controller.state import TableEntry

REPORT_SESSION: Final = 1
"""The clone session of telemetry reports."""
LOSS_ONE: Final = 2**32
"""The loss stage draws 32 bits."""


def to_loss_threshold(probability: float) -> int:
    """A probability to the nearest 2^-32, but not down to none."""
    return min(max(round(probability * LOSS_ONE), 1), LOSS_ONE - 1)


@dataclass(frozen=True)
class PortStage:
    """A stage with one table keyed by the output port, one action, and one parameter."""

    table: str
    """With its control: `NarrowsEgress.mark_ecn.ecn`."""
    action: str
    """Within the same control: `mark_above`."""
    parameter: str
    """The action's parameter, which is the scenario's key."""
    encode: Callable[[float], int] = int
    """From the scenario's value to the parameter's."""
    constants: Mapping[str, int] = field(default_factory=dict, hash=False)
    """The action's other parameters."""
    off: float = 0
    """The value that is the same as none; below every value where there is no such value."""

    def entry(self, port: int, value: float) -> TableEntry:
        """The entry that sets the stage up at a port."""
        control = self.table.rpartition(".")[0]
        return TableEntry(
            self.table,
            {"meta.egress_port": Exact(port)},
            f"{control}.{self.action}",
            {self.parameter: self.encode(value), **self.constants},
        )


LOSS: Final = PortStage(
    "NarrowsIngress.random_loss.loss", "lose_below", "loss", encode=to_loss_threshold
)
ECN: Final = PortStage("NarrowsEgress.mark_ecn.ecn", "mark_above", "ecn_threshold", off=-1)
TELEMETRY: Final = PortStage(
    "NarrowsEgress.select_report.telemetry",
    "report_every",
    "every",
    constants={"session": REPORT_SESSION},
)
