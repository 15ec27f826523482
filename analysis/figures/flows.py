"""How flows look in figures with a line per flow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.lines import Line2D

from analysis.figures import style
from analysis.load import Run


@dataclass(frozen=True)
class Flows:
    """The flows of all panels of a figure: one look per flow id, the same in every panel.

    Up to eight have a colour and dashes each. More are thin lines, told apart by their variant
    where a run has several.
    """

    runs: Sequence[Run]

    @property
    def ids(self) -> list[int]:
        """Every flow's id."""
        return sorted({int(flow["id"]) for run in self.runs for flow in run.flows})

    @property
    def many(self) -> bool:
        """Whether there are too many to tell apart."""
        return len(self.ids) > len(style.COLOURS)

    @property
    def mixed(self) -> list[str]:
        """The variants that run side by side; none where every run has one."""
        sets = [{str(flow["variant"]) for flow in run.flows} for run in self.runs]
        return sorted(set().union(*(variants for variants in sets if len(variants) > 1)))

    def look(self, flow: dict[str, Any]) -> dict[str, Any]:
        """The line of a flow of a summary."""
        if not self.many:
            return style.series(self.ids.index(int(flow["id"])))
        mixed = self.mixed
        index = mixed.index(flow["variant"]) if flow["variant"] in mixed else 0
        return {"color": style.colour(index), "linewidth": 0.4, "alpha": 0.5}

    def handles(self) -> list[Line2D]:
        """Legend entries."""
        mixed = self.mixed
        if self.many:
            return [
                Line2D([], [], color=style.colour(index), linewidth=0.6, label=f"each {what}")
                for index, what in enumerate([f"{v} flow" for v in mixed] or ["flow"])
            ]
        return [
            Line2D([], [], label=self._label(number), **style.series(index))
            for index, number in enumerate(self.ids)
        ]

    def _label(self, number: int) -> str:
        """`flow 1`, with its variant where variants run side by side and it has but one."""
        found = {f["variant"] for run in self.runs for f in run.flows if f["id"] == number}
        named = self.mixed and len(found) == 1
        return f"flow {number} ({found.pop()})" if named else f"flow {number}"
