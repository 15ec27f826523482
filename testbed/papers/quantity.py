"""Quantities that a paper measures in a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from narrows.analysis.estimate import Estimate, estimate
from narrows.analysis.load import Run


@dataclass(frozen=True)
class Quantity:
    """A number of a run."""

    title: str
    unit: str
    of: Callable[[Run], float | None]
    """None if the run lacks it, such as the completion time of an unfinished flow."""
    digits: int = 1
    over_runs: Callable[[Sequence[float]], Estimate] = estimate
    """Combines the values of runs with different seeds."""
