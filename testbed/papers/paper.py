"""What a paper is made of: experiments, printed numbers, claims, and what it leaves open.

A paper's file declares one `Paper`; the list in `testbed/papers/__init__.py` is the only other
edit. Our values and the verdicts are worked out from the runs by what is declared here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from narrows.analysis.estimate import Estimate
from narrows.analysis.load import Run
from narrows.testbed.papers.finished_runs import FinishedRuns
from narrows.testbed.papers.quantity import Quantity

Settings = tuple[tuple[str, Any], ...]
"""`--set` keys and values. `sweep.KEY` replaces the list of a sweep."""


@dataclass(frozen=True)
class Experiment:
    """Some runs of a scenario file."""

    name: str
    title: str
    scenario: str
    """The file, from `scenarios/`."""
    settings: Settings = ()
    quick: Settings = ()
    """In addition with `--quick`."""
    sensitivity: Settings = ()
    """In addition where an assumption is varied: fewer points or seeds."""
    optional: tuple[str, ...] = ()
    """Swept keys whose values are left out, and named, where this build does not have them."""
    figures: tuple[str, ...] = ()
    """Names of `narrows list figures`, drawn from the runs."""


@dataclass(frozen=True)
class Table:
    """A quantity over one or two keys of a sweep, with the paper's numbers where it prints them."""

    name: str
    title: str
    source: str
    """The paper's table or figure."""
    experiment: str
    quantity: Quantity
    rows: str
    """A key of the sweep."""
    columns: str | None = None
    published: Mapping[Any, Any] = field(default_factory=dict)
    """A number by row and column: `{"vegas": {"200": 1130.872}}`; without columns by row."""
    plot: Literal["lines", "bars", "none"] = "lines"


@dataclass(frozen=True)
class Curves:
    """Values over time, a curve for each value of a key of the sweep."""

    name: str
    title: str
    source: str
    experiment: str
    by: str
    at: Mapping[str, Any]
    """Which point of the other keys."""
    x: str
    y: str
    of: Callable[[Run], tuple[Sequence[float], Sequence[float]]]


@dataclass(frozen=True)
class Number:
    """One printed number that stands in no table, or a figure's reading from the text."""

    source: str
    what: str
    unit: str
    published: float
    experiment: str
    ours: Callable[[FinishedRuns], Estimate]
    digits: int = 1


@dataclass(frozen=True)
class Pick:
    """What the paper chooses in a table of words, and what the runs would."""

    source: str
    what: str
    published: str | None
    """None where the paper promises a choice and has none."""
    ours: Callable[[FinishedRuns], str]


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper with a way to tell whether it is so."""

    source: str
    text: str
    experiments: tuple[str, ...]
    """What it is judged by."""
    holds: Callable[[FinishedRuns], bool | None]
    """None where the runs leave it open."""
    evidence: Callable[[FinishedRuns], str]
    """The figures it was judged by."""


@dataclass(frozen=True)
class Alternative:
    """Another value of an assumption."""

    name: str
    settings: Mapping[str, Settings]
    """By experiment; the others stay as they are."""


@dataclass(frozen=True)
class Assumption:
    """What the paper leaves open."""

    name: str
    taken: str
    why: str
    alternatives: tuple[Alternative, ...] = ()


@dataclass(frozen=True)
class Finding:
    """Why a result differs from the paper's, with the figures that show it."""

    title: str
    text: str
    experiments: tuple[str, ...]
    evidence: Callable[[FinishedRuns], str]


@dataclass(frozen=True)
class Paper:
    """One paper's reproduction."""

    name: str
    title: str
    reference: str
    experiments: tuple[Experiment, ...]
    tables: tuple[Table, ...]
    claims: tuple[Claim, ...]
    assumptions: tuple[Assumption, ...]
    curves: tuple[Curves, ...] = ()
    numbers: tuple[Number, ...] = ()
    picks: tuple[Pick, ...] = ()
    findings: tuple[Finding, ...] = ()

    def experiment(self, name: str) -> Experiment:
        """The experiment of that name."""
        return next(each for each in self.experiments if each.name == name)
