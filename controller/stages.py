"""Stages of the P4 program that one entry per output port configures.

A scenario key for such a stage is a field with a `Stage` in its type
(`testbed/scenario/network.py`). The key and the action's parameter have the same name.
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
"""The stages of loss and duplication draw a 32-bit random number."""


def to_threshold(probability: float) -> int:
    """Rounds a probability to a multiple of 2^-32, at least one."""
    return min(max(round(probability * LOSS_ONE), 1), LOSS_ONE - 1)


@dataclass(frozen=True)
class PortStage:
    """A stage with one table keyed by output port, and one action."""

    table: str
    """Full name of the table: `NarrowsEgress.mark_ecn.ecn`."""
    action: str
    """Name of the action within the same control: `mark_above`."""
    parameter: str | None
    """The action's parameter, which is also the scenario key; None if all are constants."""
    encode: Callable[[float], int] = int
    """Converts the scenario's value to the parameter's."""
    constants: Mapping[str, int] = field(default_factory=dict, hash=False)
    """The action's other parameters."""
    off: float = 0
    """The value that turns the stage off; below every valid value if none does."""

    def entry(self, port: int, value: float) -> TableEntry:
        """The entry that configures the stage at a port."""
        control = self.table.rpartition(".")[0]
        own = {} if self.parameter is None else {self.parameter: self.encode(value)}
        return TableEntry(
            self.table,
            {"meta.egress_port": Exact(port)},
            f"{control}.{self.action}",
            {**own, **self.constants},
        )


LOSS: Final = PortStage(
    "NarrowsIngress.random_loss.loss", "lose_below", "loss", encode=to_threshold
)
DUPLICATE: Final = PortStage(
    "NarrowsIngress.random_duplicate.duplicate",
    "duplicate_below",
    "duplicate",
    encode=to_threshold,
)
ECN: Final = PortStage("NarrowsEgress.mark_ecn.ecn", "mark_above", "ecn_threshold", off=-1)
TELEMETRY: Final = PortStage(
    "NarrowsEgress.select_report.telemetry",
    "report_every",
    "every",
    constants={"session": REPORT_SESSION},
)
