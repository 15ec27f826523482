"""The finished runs of a reproduction, and the values that claims and tables read from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from narrows.analysis.estimate import Estimate
from narrows.analysis.load import Run
from narrows.testbed.papers.quantity import Quantity


class NotRunError(Exception):
    """No run has the requested value: skipped by `--quick`, not supported here, or failed."""


class Values(dict[Any, Estimate]):
    """Estimates by a swept key's values; a missing one raises `NotRunError`."""

    def __missing__(self, key: Any) -> Estimate:
        raise NotRunError(f"no run at {key}")


@dataclass(frozen=True)
class FinishedRuns:
    """The finished runs of each experiment, under one set of assumptions."""

    runs: Mapping[str, Sequence[Run]]
    """By the experiment's name."""

    def at(self, experiment: str, **point: Any) -> list[Run]:
        """The valid runs at a point. A keyword is the last part of a swept key (`tcp` for
        `choice.tcp`). Raises `NotRunError` if there are none.
        """
        runs = [
            run
            for run in self.runs.get(experiment, ())
            if run.valid and all(value_at(run, key) == value for key, value in point.items())
        ]
        if not runs:
            where = ", ".join(f"{key} = {value}" for key, value in point.items())
            raise NotRunError(f"{experiment}: no run at {where or 'any point'}")
        return runs

    def value(self, quantity: Quantity, experiment: str, **point: Any) -> Estimate:
        """A quantity over the runs at a point. Raises `NotRunError` if no run has it."""
        values = [quantity.of(run) for run in self.at(experiment, **point)]
        known = [value for value in values if value is not None]
        if not known:
            raise NotRunError(f"{experiment}: {quantity.title} has no value at {point}")
        return quantity.over_runs(known)

    def values(self, quantity: Quantity, experiment: str, by: str, **point: Any) -> Values:
        """A quantity at every value of a swept key that has runs, in the sweep's order. Raises
        `NotRunError` if none has.
        """
        values = Values()
        for key in self.swept(experiment, by):
            try:
                values[key] = self.value(quantity, experiment, **{by: key}, **point)
            except NotRunError:
                continue
        if not values:
            raise NotRunError(f"{experiment}: no run at {point}")
        return values

    def swept(self, experiment: str, by: str) -> list[Any]:
        """The values of a swept key."""
        values = [value_at(run, by) for run in self.runs.get(experiment, ())]
        return list(dict.fromkeys(value for value in values if value is not None))


def value_at(run: Run, key: str) -> Any:
    """A run's value of a swept key, by its full name or last part; None without the key."""
    for path, value in run.point.items():
        if path == key or path.rsplit(".", 1)[-1] == key:
            return value
    return None


def ranking(values: Mapping[Any, Estimate]) -> list[Any]:
    """The keys, greatest mean first."""
    return sorted(values, key=lambda key: -values[key].mean)


def listed(values: Mapping[Any, Estimate], digits: int = 0, unit: str = "") -> str:
    """`vegas 1130 ± 4, reno 1097 ± 3 kb/s`, greatest first."""
    parts = [f"{key} {shown(values[key], digits)}" for key in ranking(values)]
    return ", ".join(parts) + (f" {unit}" if unit else "")


def shown(value: Estimate, digits: int = 0) -> str:
    """`1130 ± 4`, or without the interval if unknown."""
    text = f"{value.mean:,.{digits}f}"
    return f"{text} ± {value.half_width:,.{digits}f}" if value.half_width else text
