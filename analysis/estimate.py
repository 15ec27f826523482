"""The mean of a quantity over repeated runs, with its confidence interval.

The interval is Student's at 95 %. It assumes that the runs are independent samples of a normal
distribution. A single run has no interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

T_975: Final = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
"""Quantile 0.975 of Student's distribution with 1, 2, ... 30 degrees of freedom, from the printed
table (e.g. NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2)."""
Z_975: Final = 1.960
"""The quantile of the normal distribution, for more degrees of freedom."""


@dataclass(frozen=True)
class Estimate:
    """The mean of a quantity over runs."""

    mean: float
    half_width: float
    """Half the width of its 95 % interval; 0 for a single run."""
    runs: int

    @property
    def low(self) -> float:
        """The interval's lower end."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """The interval's upper end."""
        return self.mean + self.half_width


def estimate(values: Sequence[float]) -> Estimate:
    """The mean with its interval. Raises `ValueError` for no values."""
    if not values:
        raise ValueError("an estimate of no values: expected at least one")
    count = len(values)
    mean = math.fsum(values) / count
    if count == 1:
        return Estimate(mean, 0.0, 1)
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    quantile = T_975[count - 2] if count - 1 <= len(T_975) else Z_975
    return Estimate(mean, quantile * math.sqrt(variance / count), count)


def without_extremes(values: Sequence[float]) -> Estimate:
    """The same without the smallest and the largest value, if there are at least three."""
    return estimate(sorted(values)[1:-1] if len(values) >= 3 else values)


def greater(one: Estimate, other: Estimate) -> bool | None:
    """Whether one is greater than the other; None if their intervals overlap.

    With overlapping intervals, runs with other seeds could reverse the order.
    """
    if one.low > other.high:
        return True
    return False if one.high <= other.low else None
