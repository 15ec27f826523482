"""Computes published value, our value, difference, and a verdict per claim from the runs.

A claim is judged with the assumptions as taken and again under every alternative that touches its
experiments. It `holds` if all judgements agree, and `does not hold` if all disagree. Otherwise it
depends on the assumptions that change the answer. It is `not judged` where the runs lack a length,
seeds or points that the claim needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from narrows.analysis.estimate import Estimate
from narrows.testbed.papers.finished_runs import FinishedRuns, NotRunError, value_at
from narrows.testbed.papers.grade import POINTS, lacking
from narrows.testbed.papers.paper import (
    Alternative,
    Assumption,
    Claim,
    Curves,
    Number,
    Paper,
    Settings,
    Table,
)

if TYPE_CHECKING:
    from narrows.schema.reproduction import (
        AlternativeRecord,
        AssumptionRecord,
        Cell,
        ClaimRecord,
        CurvesRecord,
        Effect,
        NumberRow,
        Reproduction,
        Series,
        TableRecord,
    )

SCHEMA = 1

Under = Mapping[tuple[str, str], FinishedRuns]
"""The runs under each alternative, by the names of assumption and alternative."""

ANSWERS = {True: "yes", False: "no", None: "open"}
NOT_JUDGED = "not judged"
WITHOUT_ANSWER = ("not run", NOT_JUDGED)


def judge(paper: Paper, finished: FinishedRuns, under: Under, *, quick: bool) -> Reproduction:
    """`reproduce.json` but for its experiments."""
    return {
        "schema": SCHEMA,
        "paper": paper.name,
        "title": paper.title,
        "reference": paper.reference,
        "quick": quick,
        "experiments": [],
        "claims": [
            claim_record(paper, claim, finished, under, quick=quick) for claim in paper.claims
        ],
        "numbers": [
            *(row for table in paper.tables for row in table_rows(table, finished)),
            *(number_row(number, finished) for number in paper.numbers),
        ],
        "picks": [
            {
                "source": each.source,
                "what": each.what,
                "published": each.published,
                "ours": as_sentence(each.ours, finished),
            }
            for each in paper.picks
        ],
        "tables": [table_record(table, finished) for table in paper.tables],
        "curves": [record for each in paper.curves if (record := curves_record(each, finished))],
        "assumptions": [
            assumption_record(paper, assumption, finished, under)
            for assumption in paper.assumptions
        ],
        "findings": [
            {
                "title": each.title,
                "text": each.text,
                "evidence": as_sentence(each.evidence, finished, each.experiments),
            }
            for each in paper.findings
        ],
    }


# Claims


def claim_record(
    paper: Paper, claim: Claim, finished: FinishedRuns, under: Under, *, quick: bool
) -> ClaimRecord:
    """A claim, its verdict, and the evidence."""
    chosen = [paper.experiment(name) for name in claim.experiments]
    shortened = tuple(pair for each in chosen for pair in each.quick) if quick else ()
    taken, reason = settled(claim, finished, shortened)
    answers = {"": taken}
    for assumption, alternative in touching(paper, claim.experiments):
        if (assumption, alternative.name) in under:
            name = f"{assumption}: {alternative.name}"
            # Alternatives have fewer points and seeds in full reproductions too.
            varied = [each for each in chosen if each.name in alternative.settings]
            fewer = tuple(pair for each in varied for pair in each.sensitivity)
            other = under[assumption, alternative.name]
            answers[name], _ = settled(claim, other, (*shortened, *fewer))
    text, depends = verdict(answers)
    return {
        "source": claim.source,
        "claim": claim.text,
        "tolerance": claim.tolerance,
        "verdict": text,
        "reason": reason,
        "grade": graded(claim, finished, answers[""]),
        "depends_on": depends,
        "evidence": as_sentence(claim.evidence, finished, claim.experiments),
        "as_taken": answers[""],
        "under": [{"assumption": name, "holds": got} for name, got in answers.items() if name],
    }


def settled(claim: Claim, finished: FinishedRuns, shortened: Settings) -> tuple[str, str]:
    """The answer of runs with these shortened settings; `not judged` with the reason if they do not
    settle it.
    """
    found = answer(claim, finished)
    reason = lacking(claim.needs, shortened)
    if not reason or found in ("not run", claim.settled):
        return found, ""
    return NOT_JUDGED, reason


def graded(claim: Claim, finished: FinishedRuns, answer: str) -> str:
    """How far the runs are off, in words; empty where the claim was not judged."""
    if claim.grade is None or answer not in ANSWERS.values():
        return ""
    try:
        return claim.grade(finished).words(answer)
    except NotRunError:
        return ""


def touching(paper: Paper, experiments: tuple[str, ...]) -> Iterator[tuple[str, Alternative]]:
    """The alternatives that change one of the experiments, with the assumption's name."""
    for assumption in paper.assumptions:
        for alternative in assumption.alternatives:
            if set(alternative.settings) & set(experiments):
                yield assumption.name, alternative


def answer(claim: Claim, finished: FinishedRuns) -> str:
    """`yes`, `no`, `open` (within the spread of the runs) or `not run`."""
    try:
        check_run(claim.experiments, finished)
        return ANSWERS[claim.holds(finished)]
    except NotRunError:
        return "not run"


def check_run(experiments: Iterable[str], finished: FinishedRuns) -> None:
    """Raises `NotRunError` if an experiment has no valid run."""
    for experiment in experiments:
        finished.at(experiment)


def verdict(answers: Mapping[str, str]) -> tuple[str, list[str]]:
    """The verdict in words, and the alternatives that change the answer.

    The key "" is the answer with the assumptions as taken.
    """
    taken = answers[""]
    if taken in WITHOUT_ANSWER:
        return taken, []
    others = [name for name, got in answers.items() if got not in (taken, *WITHOUT_ANSWER)]
    if others and {taken, *(answers[name] for name in others)} >= {"yes", "no"}:
        return "depends on the assumptions", others
    words = {"yes": "holds", "no": "does not hold", "open": "open: within the runs' spread"}
    return words[taken], others


def as_sentence(evidence: Any, finished: FinishedRuns, experiments: Iterable[str] = ()) -> str:
    """The evidence as a sentence, or the reason if a run is missing."""
    try:
        check_run(experiments, finished)
        return str(evidence(finished))
    except NotRunError as error:
        return f"not run ({error})"


# Numbers


def table_rows(table: Table, finished: FinishedRuns) -> Iterator[NumberRow]:
    """A row for each number that the paper prints in a table."""
    finished = table_runs(table, finished)
    for row, column, published in published_points(table):
        point = {table.rows: row} | ({table.columns: column} if table.columns else {})
        what = ", ".join(f"{short(key)} {value}" for key, value in point.items())
        try:
            ours = finished.value(table.quantity, table.experiment, **point)
        except NotRunError:
            ours = None
        quantity = table.quantity
        yield numbers_row(table.source, what, quantity.unit, published, ours, quantity.digits)


def table_runs(table: Table, finished: FinishedRuns) -> FinishedRuns:
    """The runs, with those of all the table's experiments under the name of its first."""
    names = (table.experiment, *table.more)
    own = [run for name in names for run in finished.runs.get(name, ())]
    return FinishedRuns({**finished.runs, table.experiment: own})


def published_points(table: Table) -> Iterator[tuple[Any, Any, float]]:
    """Row, column (None without) and number of each number that the paper prints."""
    for row, columns in table.published.items():
        for column, value in columns.items() if table.columns else [(None, columns)]:
            yield row, column, value


def number_row(number: Number, finished: FinishedRuns) -> NumberRow:
    """A row for a number of the text."""
    try:
        ours = number.ours(finished)
    except NotRunError:
        ours = None
    return numbers_row(
        number.source, number.what, number.unit, number.published, ours, number.digits
    )


def numbers_row(
    source: str, what: str, unit: str, published: float, ours: Estimate | None, digits: int
) -> NumberRow:
    """Published, ours, difference; in percent of the published value unless that is 0.

    Percentages differ by percentage points alone.
    """
    row: NumberRow = {
        "source": source, "what": what, "unit": unit, "digits": digits,
        "difference_unit": POINTS if unit == "%" else unit, "published": published,
        "ours": None, "difference": None, "difference_percent": None,
    }  # fmt: skip
    if ours is not None:
        difference = ours.mean - published
        row["ours"], row["half_width"], row["runs"] = ours.mean, ours.half_width, ours.runs
        row["difference"] = difference
        if published and unit != "%":
            row["difference_percent"] = 100 * difference / published
    return row


def short(key: str) -> str:
    """The last part of a swept key."""
    return key.rsplit(".", 1)[-1]


def table_record(table: Table, finished: FinishedRuns) -> TableRecord:
    """A table of our values, for the chart."""
    finished = table_runs(table, finished)
    rows = finished.swept(table.experiment, table.rows)
    columns = finished.swept(table.experiment, table.columns) if table.columns else [None]
    cells: list[Cell] = []
    for row in rows:
        for column in columns:
            point = {table.rows: row} | ({table.columns: column} if table.columns else {})
            try:
                value = finished.value(table.quantity, table.experiment, **point)
            except NotRunError:
                continue
            cells.append(
                {
                    "row": row, "column": column, "value": value.mean, "runs": value.runs,
                    "half_width": value.half_width,
                }
            )  # fmt: skip
    return {
        "name": table.name,
        "title": table.title,
        "source": table.source,
        "experiments": [table.experiment, *table.more],
        "quantity": table.quantity.title,
        "unit": table.quantity.unit,
        "digits": table.quantity.digits,
        "rows": short(table.rows),
        "columns": short(table.columns) if table.columns else None,
        "plot": table.plot,
        "note": table.note,
        "cells": cells,
        "published": [
            {"row": row, "column": column, "value": value}
            for row, column, value in published_points(table)
        ],
    }


def curves_record(curves: Curves, finished: FinishedRuns) -> CurvesRecord | None:
    """Curves over time of the first seed of each value; None without a run."""
    series: list[Series] = []
    for value in finished.swept(curves.experiment, curves.by):
        try:
            runs = finished.at(curves.experiment, **{short(curves.by): value}, **curves.at)
        except NotRunError:
            continue
        x, y = curves.of(min(runs, key=lambda run: run.seed))
        level = curves.published.get(value)
        series.append({"name": str(value), "x": list(x), "y": list(y), "published": level})
    if not series:
        return None
    return {
        "name": curves.name,
        "title": curves.title,
        "source": curves.source,
        "experiment": curves.experiment,
        "x": curves.x,
        "y": curves.y,
        "published_as": curves.published_as,
        "series": series,
    }


# Assumptions


def assumption_record(
    paper: Paper, assumption: Assumption, finished: FinishedRuns, under: Under
) -> AssumptionRecord:
    """An assumption, and the effect of its alternatives on the tables."""
    alternatives: list[AlternativeRecord] = []
    for alternative in assumption.alternatives:
        other = under.get((assumption.name, alternative.name))
        effects = [] if other is None else list(table_effects(paper, alternative, finished, other))
        alternatives.append({"name": alternative.name, "effects": effects})
    return {
        "name": assumption.name,
        "taken": assumption.taken,
        "why": assumption.why,
        "alternatives": alternatives,
    }


def table_effects(
    paper: Paper, alternative: Any, finished: FinishedRuns, other: FinishedRuns
) -> Iterator[Effect]:
    """Each value of a table under an alternative, with the value under the chosen assumption."""
    for table in paper.tables:
        if table.experiment not in alternative.settings:
            continue
        keys = [table.rows, *([table.columns] if table.columns else [])]
        points = dict.fromkeys(
            tuple(value_at(run, key) for key in keys) for run in other.runs[table.experiment]
        )
        for values in points:
            point = dict(zip(keys, values, strict=True))
            try:
                taken = finished.value(table.quantity, table.experiment, **point)
                changed = other.value(table.quantity, table.experiment, **point)
            except NotRunError:
                continue
            yield {
                "table": table.name,
                "what": ", ".join(f"{short(key)} {value}" for key, value in point.items()),
                "unit": table.quantity.unit,
                "digits": table.quantity.digits,
                "as_taken": taken.mean,
                "value": changed.mean,
            }
