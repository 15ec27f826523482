"""The flows of a run in groups: by their names in the scenario, else by their variants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from narrows.analysis.load import Run

if TYPE_CHECKING:
    from narrows.schema.summary import FlowSummary


def groups(run: Run) -> dict[str, list[FlowSummary]]:
    """The flows by name if all have one, else by variant; in the scenario's order."""
    named = run.named
    if named and sum(map(len, named.values())) == len(run.flows):
        return named
    found: dict[str, list[FlowSummary]] = {}
    for flow in run.flows:
        found.setdefault(str(flow["variant"]), []).append(flow)
    return found


def group_names(runs: Sequence[Run]) -> list[str]:
    """The names of all runs' groups, in order of appearance."""
    return list(dict.fromkeys(name for run in runs for name in groups(run)))
