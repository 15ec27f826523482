"""How flows look in figures with a line per flow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from narrows.analysis.chart import style
from narrows.analysis.chart.model import Look
from narrows.analysis.load import Run

if TYPE_CHECKING:
    from narrows.schema.summary import FlowSummary


@dataclass(frozen=True)
class Flows:
    """The flows of all panels of a figure: one look per flow id, the same in every panel.

    Up to eight have a colour and dashes each. More are thin lines, told apart by their variant
    where a run has several.
    """

    runs: Sequence[Run]

    @cached_property
    def ids(self) -> list[int]:
        """Every flow's id."""
        return sorted({int(flow["id"]) for run in self.runs for flow in run.flows})

    @cached_property
    def many(self) -> bool:
        """Whether there are too many to tell apart."""
        return len(self.ids) > len(style.COLOURS)

    @cached_property
    def mixed(self) -> list[str]:
        """The variants that run side by side; none where every run has one."""
        sets = [{str(flow["variant"]) for flow in run.flows} for run in self.runs]
        return sorted(set().union(*(variants for variants in sets if len(variants) > 1)))

    def look(self, flow: FlowSummary, width: float = 0.8) -> Look:
        """The line of a flow of a summary."""
        if not self.many:
            return Look(self.ids.index(int(flow["id"])), width=width)
        mixed = self.mixed
        index = mixed.index(flow["variant"]) if flow["variant"] in mixed else 0
        return Look(index, dash=0, width=0.4, opacity=0.5)

    def name(self, flow: FlowSummary) -> str:
        """Its entry in the legend: `flow 1`, with its variant where variants run side by side."""
        mixed = self.mixed
        if self.many:
            return f"each {flow['variant']} flow" if flow["variant"] in mixed else "each flow"
        number = int(flow["id"])
        found = {f["variant"] for run in self.runs for f in run.flows if f["id"] == number}
        return f"flow {number} ({found.pop()})" if mixed and len(found) == 1 else f"flow {number}"
