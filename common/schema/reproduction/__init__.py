"""`reproduce.json`: a paper's reproduction, as `narrows reproduce` writes it.

`narrows.testbed.papers` computes it, `narrows.analysis` and the site show it.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

Swept = Any
"""A value of a swept key, as the scenario has it; None for a table without columns."""
Plot = Literal["none", "bars", "lines", "map"]
"""How a table is drawn."""


class MissingValue(TypedDict):
    """A value of an experiment's optional key that this build lacks."""

    value: str
    why: str


class ExperimentRecord(TypedDict):
    """An experiment, with the assumptions as taken."""

    name: str
    title: str
    scenario: str
    """Its path from the root."""
    figures: list[str]
    """Names of the figures that are drawn from its runs."""
    runs: int
    valid: int
    """How many of the runs are valid."""
    missing: list[MissingValue]


class AnswerUnder(TypedDict):
    """A claim's answer under an alternative."""

    assumption: str
    """Its name and the alternative's, with a colon between."""
    holds: str
    """`yes`, `no`, `open`, `not run` or `not judged`."""


class ClaimRecord(TypedDict):
    """A claim of the paper and its verdict."""

    source: str
    claim: str
    tolerance: str
    """Empty for none."""
    verdict: str
    reason: str
    """Why it is not judged; empty if it is."""
    grade: str
    """How far the runs are off, in words; empty if it is not judged."""
    depends_on: list[str]
    """The alternatives with another answer."""
    evidence: str
    """A sentence, whose parts are separated by semicolons."""
    as_taken: str
    """The answer with the assumptions as taken, as `AnswerUnder.holds`."""
    under: list[AnswerUnder]


class NumberRow(TypedDict):
    """A number that the paper prints, and ours."""

    source: str
    what: str
    unit: str
    digits: int
    """Decimals to show."""
    difference_unit: str
    published: float
    ours: float | None
    """A mean over runs; None if a run is missing."""
    half_width: NotRequired[float]
    """Of its 95 % interval; absent if a run is missing, as is the next."""
    runs: NotRequired[int]
    difference: float | None
    difference_percent: float | None
    """Of the published number; None if that is 0 or a percentage."""


class Pick(TypedDict):
    """A choice of the paper, and the one by our runs."""

    source: str
    what: str
    published: str | None
    """None if the paper promises a choice without making one."""
    ours: str


class PublishedCell(TypedDict):
    """A number that the paper prints in a table."""

    row: Swept
    column: Swept
    value: float


class Cell(PublishedCell):
    """Our value in a table: a mean over runs."""

    runs: int
    half_width: float
    """Of its 95 % interval; 0 for one run."""


class TableRecord(TypedDict):
    """A table of our values, with the paper's."""

    name: str
    title: str
    source: str
    experiments: list[str]
    quantity: str
    unit: str
    digits: int
    """Decimals to show."""
    rows: str
    """The last part of the swept key whose values are the rows."""
    columns: str | None
    plot: Plot
    note: str
    cells: list[Cell]
    published: list[PublishedCell]


class Series(TypedDict):
    """A curve, and the level that the paper gives for it."""

    name: str
    x: list[float]
    y: list[float]
    published: float | None


class CurvesRecord(TypedDict):
    """Curves over time of the first seed of each value of a swept key."""

    name: str
    title: str
    source: str
    experiment: str
    x: str
    """The axis' label, as is the next."""
    y: str
    published_as: str
    """What the levels are."""
    series: list[Series]


class Effect(TypedDict):
    """A table's value under an alternative."""

    table: str
    what: str
    unit: str
    digits: int
    """Decimals to show."""
    as_taken: float
    value: float


class AlternativeRecord(TypedDict):
    """An alternative to an assumption."""

    name: str
    effects: list[Effect]
    """Empty if it was not run."""


class AssumptionRecord(TypedDict):
    """What the paper leaves open, and what we took."""

    name: str
    taken: str
    why: str
    alternatives: list[AlternativeRecord]


class FindingRecord(TypedDict):
    """Where the runs differ from the paper, and why."""

    title: str
    text: str
    evidence: str
    """As of a claim."""


class Reproduction(TypedDict):
    """The whole file."""

    schema: int
    """The file's version, 1."""
    paper: str
    title: str
    reference: str
    quick: bool
    """True for fewer points, seeds and seconds."""
    experiments: list[ExperimentRecord]
    claims: list[ClaimRecord]
    numbers: list[NumberRow]
    picks: list[Pick]
    tables: list[TableRecord]
    curves: list[CurvesRecord]
    assumptions: list[AssumptionRecord]
    findings: list[FindingRecord]
