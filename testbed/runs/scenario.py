"""Runs a scenario's points and records the wall time of each."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from narrows.schema.run import POINTS
from narrows.testbed import catalogue
from narrows.testbed.files import make_directory, replace_json, sync
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.runs import local
from narrows.testbed.runs.jobs import Job, Outcome, make_jobs
from narrows.testbed.runs.progress import progress_display
from narrows.testbed.runs.request import RunRequest
from narrows.testbed.runs.worker_process import Spare
from narrows.testbed.scenario import sweep
from narrows.testbed.scenario.understood import described

if TYPE_CHECKING:
    from narrows.analysis.load import Run


@dataclass(frozen=True)
class Results:
    """The outcomes of a scenario's runs."""

    title: str
    directory: Path
    outcomes: Sequence[Outcome]
    """In the order of the points."""
    figures: list[str]
    """Names of the figures that the scenario wants."""

    @property
    def good(self) -> list[Outcome]:
        """The valid runs."""
        return [outcome for outcome in self.outcomes if outcome.state in ("done", "reused")]

    @property
    def others(self) -> list[Path]:
        """Finished runs of other points in the same directory."""
        names = {outcome.job.name for outcome in self.outcomes}
        finished = (path.parent for path in self.directory.glob("[!.]*/run.json"))
        return [path for path in finished if path.name not in names]

    def write_rows(self) -> None:
        """Writes `runs.parquet` and `runs.csv`: a row per flow and run of this scenario's points,
        unless no run is valid. Raises `OSError`.
        """
        from narrows.analysis import flow_rows
        from narrows.testbed.tables import csv_text, write_columns

        if not self.good:
            return
        table, text = self.directory / "runs.parquet", self.directory / "runs.csv"
        columns = flow_rows.columns([run for each in self.outcomes if (run := run_of(each))])
        write_columns(columns, table, flow_rows.TEXTS)
        text.write_text(csv_text(columns), encoding="utf-8", newline="")
        for path in (table, text, self.directory):
            sync(path)


def run_of(outcome: Outcome) -> Run | None:
    """The run in an outcome's directory: the one that has ended, or an earlier one that it did not
    replace.
    """
    from narrows.analysis.load import Run, load_run
    from narrows.testbed.runs.worker import run_record

    directory, summary = outcome.job.final, outcome.summary
    if summary is not None:
        # Its files have just been written, so they are not read.
        return Run(directory, run_record(outcome.job.record, summary), summary)
    return load_run(directory) if (directory / "run.json").exists() else None


@dataclass(frozen=True)
class Prepared:
    """A scenario's runs before the first begins."""

    title: str
    jobs: list[Job]
    figures: list[str]
    """Names of the figures that the scenario wants."""

    def described(self) -> list[str]:
        """The bottleneck, and its queue, as they were understood."""
        paths = [job.path for job in self.jobs if job.path is not None]
        return described(paths) if paths else []


def prepare(request: RunRequest) -> Prepared:
    """Plans the scenario's points. Raises `InputError`."""
    overrides = [*map(sweep.parse_setting, request.overrides), *request.keys]
    if request.seed is not None:
        overrides.append(("seed", request.seed))
    source = request.scenario
    points = sweep.read(source, overrides, request.tree)
    scenario = points[0].scenario
    figures = check_figures(str(source), scenario.report.figures)
    kind = request.target, request.hosts, request.settings
    todo = make_jobs(source, points, request.out, *kind, request.at_once)
    return Prepared(scenario.title, todo, figures)


def run_scenario(request: RunRequest, spare: Spare) -> Results:
    """Runs the scenario's points and shows their progress. Raises `InputError`."""
    prepared = prepare(request)
    todo = prepared.jobs
    results = todo[0].final.parent
    write_points(results, [job.name for job in todo])
    with progress_display(
        len(todo), in_real_time=request.target.in_real_time, quiet=request.quiet
    ) as display:
        at_once = min(request.at_once, len(todo))
        where = f"on {request.scheduler}" if request.scheduler else f"{at_once} at a time"
        display.line(f"{prepared.title}: {counted(len(todo), 'run')}, {where}")
        for line in prepared.described():
            display.line(f"  {line}")
        if request.scheduler:
            from narrows.testbed.runs import cluster

            outcomes = cluster.run_all(request.scheduler, todo, request.resume, display)
        else:
            outcomes = local.run_all(todo, request.at_once, request.resume, display, spare)
    write_host(results, outcomes)
    return Results(prepared.title, results, outcomes, prepared.figures)


def counted(number: int, what: str) -> str:
    """`1 run`, `2 runs`."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def check_figures(source: str, names: list[str]) -> list[str]:
    """The scenario's figures. Raises `InputError` for one that does not exist."""
    if not names:
        return names
    from narrows.analysis.figures import NAMES

    problems = [
        Problem(f"report.figures.{index}", catalogue.unknown("figure", name, NAMES), name)
        for index, name in enumerate(names)
        if name not in NAMES
    ]
    if problems:
        raise InputError(source, problems)
    return names


def write_points(results: Path, names: Sequence[str]) -> None:
    """`points.json`: the points of this run, so that figures leave out those of earlier ones.

    Raises `InputError` where the directory cannot be written.
    """
    make_directory(results)
    replace_json(results / POINTS, {"schema": 1, "points": list(names)})


def write_host(results: Path, outcomes: Sequence[Outcome]) -> None:
    """Writes `host.json`: the machine, and the wall time of each run."""
    replace_json(
        results / "host.json",
        {
            "schema": 1,
            "platform": platform.platform(),
            "machine": platform.machine(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "wall_s": {o.job.name: round(o.wall_s, 3) for o in outcomes if o.state == "done"},
        },
    )
