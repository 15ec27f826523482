"""The declaration of a paper: experiments, printed numbers, claims, assumptions, findings.

A paper's file declares one `Paper`; the list in `testbed/papers/__init__.py` is the only other
edit. The declaration determines how our values and the verdicts follow from the runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from narrows.analysis.estimate import Estimate
from narrows.analysis.load import Run
from narrows.testbed.papers.finished_runs import FinishedRuns
from narrows.testbed.papers.grade import Grade, Need
from narrows.testbed.papers.quantity import Quantity

Settings = tuple[tuple[str, Any], ...]
"""`--set` keys and values. `sweep.KEY` replaces the list of a sweep."""


@dataclass(frozen=True)
class Experiment:
    """Runs of a scenario file."""

    name: str
    title: str
    scenario: str
    """The file, from `scenarios/`."""
    settings: Settings = ()
    quick: Settings = ()
    """Additional settings with `--quick`."""
    sensitivity: Settings = ()
    """Additional settings if an assumption is varied: fewer points or seeds."""
    optional: tuple[str, ...] = ()
    """Swept keys; values that this build lacks are skipped and reported."""
    figures: tuple[str, ...] = ()
    """Names of `narrows list figures`, drawn from the runs."""


@dataclass(frozen=True)
class Table:
    """A quantity over one or two keys of a sweep, with the paper's numbers if printed."""

    name: str
    title: str
    source: str
    """The paper's table or figure."""
    experiment: str
    quantity: Quantity
    rows: str
    """A swept key."""
    columns: str | None = None
    published: Mapping[Any, Any] = field(default_factory=dict)
    """A number by row and column: `{"vegas": {"200": 1130.872}}`; without columns by row."""
    plot: Literal["lines", "bars", "map", "none"] = "lines"
    more: tuple[str, ...] = ()
    """Other experiments with the same keys, whose runs the table has too."""
    note: str = ""
    """A sentence for the figure's caption."""


@dataclass(frozen=True)
class Curves:
    """Values over time, a curve for each value of a key of the sweep."""

    name: str
    title: str
    source: str
    experiment: str
    by: str
    at: Mapping[str, Any]
    """The values of the other keys."""
    x: str
    y: str
    of: Callable[[Run], tuple[Sequence[float], Sequence[float]]]
    published: Mapping[Any, float] = field(default_factory=dict)
    """The level that the paper gives for a curve, by the value of `by`, in the unit of `y`."""
    published_as: str = ""
    """What the levels are, such as "the mean in Table II"."""


@dataclass(frozen=True)
class Number:
    """One printed number outside a table, or a figure's value from the text."""

    source: str
    what: str
    unit: str
    published: float
    experiment: str
    ours: Callable[[FinishedRuns], Estimate]
    digits: int = 1


@dataclass(frozen=True)
class Pick:
    """The choices in a paper's table of words, and the choices by our runs."""

    source: str
    what: str
    published: str | None
    """None if the paper promises a choice without making one."""
    ours: Callable[[FinishedRuns], str]


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, with a test."""

    source: str
    text: str
    experiments: tuple[str, ...]
    holds: Callable[[FinishedRuns], bool | None]
    """The function that judges it; None if the runs cannot decide."""
    evidence: Callable[[FinishedRuns], str]
    """The evidence for the judgement."""
    tolerance: str = ""
    """How far the runs may be off, in words beside the claim."""
    grade: Callable[[FinishedRuns], Grade] | None = None
    """How far they are off; None without a measure."""
    needs: tuple[Need, ...] = ()
    """What the claim is not judged without: a quick run may shorten it."""
    settled: Literal["yes", "no"] | None = None
    """The answer that stands without it all the same: `no` where one counterexample suffices, `yes`
    where more could only confirm."""


@dataclass(frozen=True)
class Alternative:
    """Another value of an assumption."""

    name: str
    settings: Mapping[str, Settings]
    """By experiment; the others stay as they are."""


@dataclass(frozen=True)
class Assumption:
    """A parameter that the paper does not state, and our choice."""

    name: str
    taken: str
    why: str
    alternatives: tuple[Alternative, ...] = ()


@dataclass(frozen=True)
class Finding:
    """An explanation of a difference from the paper, with evidence."""

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
