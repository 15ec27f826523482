"""How far the runs are from what a claim says, and what a shortened run cannot decide."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from narrows.analysis.estimate import Estimate
from narrows.testbed.papers.finished_runs import NotRunError

POINTS: Final = "percentage points"
"""The unit of a difference of percentages."""

Need = Literal["length", "seeds", "points"]
"""What a claim cannot do without: the full duration or bytes, every seed, every swept value."""

LENGTH_KEYS: Final = ("duration", "flow.app.bytes")


@dataclass(frozen=True)
class Distance:
    """The largest difference from a published value, 0 or more."""

    amount: float
    unit: str = "%"

    def words(self, answer: str) -> str:
        """`within 3 %` where the claim holds, `off by 12 %` where it does not."""
        size = rounded_up(abs(self.amount)) if answer == "yes" else rounded(self.amount)
        return f"{'within' if answer == 'yes' else 'off by'} {size} {self.unit}"


@dataclass(frozen=True)
class Margin:
    """The least reserve of an order or a limit; below 0 where it is missed."""

    amount: float
    unit: str = "%"

    def words(self, answer: str) -> str:
        """`by a margin of 4 %` where the claim holds, `off by 7 %` where it does not."""
        size = f"{rounded(self.amount)} {self.unit}"
        if rounded(self.amount) == "0":
            return "a tie"
        if answer == "yes":
            return f"by a margin of {size}"
        return f"off by {size}" if answer == "no" or self.amount < 0 else f"ahead by {size}"


@dataclass(frozen=True)
class Count:
    """For how many of several a claim holds."""

    count: int
    total: int
    what: str

    def words(self, _: str) -> str:
        """`for 6 of 8 variants`."""
        return f"for {self.count} of {self.total} {self.what}"


Grade = Distance | Margin | Count


def rounded(amount: float) -> str:
    """An amount without its sign: whole from 10, else two digits, 0 below 0.005."""
    size = abs(amount)
    if size < 0.005:
        return "0"
    return f"{size:,.0f}" if size >= 10 else f"{float(f'{size:.2g}'):g}"


def rounded_up(amount: float) -> str:
    """The same, upwards: the runs are within it. At least 0.1."""
    size = max(amount, 0.1)
    places = 0 if size >= 10 else 1
    return f"{math.ceil(round(size * 10**places, 6)) / 10**places:g}"


def off_target(pairs: Iterable[tuple[float, float]]) -> Distance:
    """The largest difference of ours from the published value, in percent of that.

    Raises `NotRunError` without a pair.
    """
    found = [100 * abs(ours / published - 1) for ours, published in pairs]
    if not found:
        raise NotRunError("no run at any point")
    return Distance(max(found))


def above(one: float, other: float) -> Margin:
    """One above the other, in percent of the other."""
    return Margin(100 * (one / other - 1) if other else math.inf)


def lead(values: Mapping[Any, Estimate], names: Iterable[Any], *, last: bool = False) -> Margin:
    """The names' reserve before all others, or, with `last`, below them.

    In percent of the nearest of the others.
    """
    chosen = set(names)
    own = [value.mean for name, value in values.items() if name in chosen]
    others = [value.mean for name, value in values.items() if name not in chosen]
    if not own or not others:
        return Margin(0.0)
    if last:
        return Margin(-above(max(own), min(others)).amount)
    return above(min(own), max(others))


def least(margins: Iterable[Margin]) -> Margin:
    """The worst of several. Raises `NotRunError` without one."""
    found = sorted(margins, key=lambda margin: margin.amount)
    if not found:
        raise NotRunError("no run at any point")
    return found[0]


def lacking(needs: Sequence[Need], shortened: Sequence[tuple[str, Any]]) -> str:
    """Why runs with these shortened settings cannot decide; empty if they can."""
    given = dict(shortened)
    reasons = []
    for need in needs:
        if need == "length":
            found = [f"{key} = {given[key]}" for key in LENGTH_KEYS if key in given]
            reasons += [f"needs the full length, these runs have {each}" for each in found]
        elif need == "seeds" and "sweep.repeat" in given:
            reasons.append(f"needs all seeds, these runs have {given['sweep.repeat']}")
        elif need == "points":
            keys = [key.removeprefix("sweep.") for key in given if is_swept(key)]
            reasons += [f"needs every value of {key}" for key in keys]
    return "; ".join(reasons)


def is_swept(key: str) -> bool:
    """Whether a setting replaces a sweep's values, seeds aside."""
    return key.startswith("sweep.") and key != "sweep.repeat"
