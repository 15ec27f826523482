"""What a paper measures of a run."""

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
    """None where the run has none, as the completion time of a flow that did not finish."""
    digits: int = 1
    over_runs: Callable[[Sequence[float]], Estimate] = estimate
    """How runs with different seeds become one value."""
