"""Runs a paper's experiments and writes their results.

Everything is in `<out>/<paper>/`: a folder of run directories per experiment and set of
assumptions, `reproduce.json`, `report.html` and `figures/`. Finished runs that would be the same
are kept, so a stopped reproduction can resume.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from narrows.analysis import reproduction
from narrows.analysis.load import Run, load_run
from narrows.testbed.files import write_json
from narrows.testbed.papers.finished_runs import FinishedRuns
from narrows.testbed.papers.judge import judge
from narrows.testbed.papers.paper import Alternative, Assumption, Experiment, Paper, Settings
from narrows.testbed.paths import ROOT
from narrows.testbed.problems import InputError
from narrows.testbed.runs import local, worker_process
from narrows.testbed.runs.jobs import Job, make_jobs
from narrows.testbed.runs.jobs import Outcome as RunOutcome
from narrows.testbed.runs.progress import progress_display
from narrows.testbed.scenario import sweep
from narrows.testbed.targets.sim import SIM

if TYPE_CHECKING:
    from narrows.schema.reproduction import ExperimentRecord, Reproduction

BASE = "base"
"""The folder of the runs with the assumptions as taken."""


@dataclass(frozen=True)
class Part:
    """One experiment under one set of assumptions."""

    experiment: Experiment
    folder: str
    jobs: tuple[Job, ...]
    missing: tuple[tuple[str, str], ...]
    """Values of the experiment's optional key that this build lacks, with reasons."""


@dataclass(frozen=True)
class Outcome:
    """A completed reproduction."""

    report: Path
    content: Reproduction
    failed: tuple[RunOutcome, ...]


def reproduce(paper: Paper, out: Path, at_once: int, *, quick: bool) -> Outcome:
    """Runs missing experiments, judges the claims, and writes the report. Raises `InputError`."""
    directory = out / paper.name
    base = [part(paper, each, BASE, (), directory, quick=quick) for each in paper.experiments]
    varied = {
        (assumption.name, alternative.name): alternative_parts(
            paper, assumption, alternative, directory, quick=quick
        )
        for assumption in paper.assumptions
        for alternative in assumption.alternatives
    }
    every = [*base, *(each for parts in varied.values() for each in parts)]
    todo = list({job.final: job for each in every for job in each.jobs}.values())
    with worker_process.spare(SIM) as spare, progress_display(len(todo)) as display:
        display.line(f"{paper.title}: {len(todo)} runs, {min(at_once, len(todo))} at a time")
        outcomes = local.run_all(todo, at_once, True, display, spare)
        display.line("reading the runs")
        loaded = {part_key(each): runs_of(each) for each in every}
        finished = FinishedRuns({each.experiment.name: loaded[part_key(each)] for each in base})
        under = {
            name: FinishedRuns(
                {**finished.runs, **{p.experiment.name: loaded[part_key(p)] for p in parts}}
            )
            for name, parts in varied.items()
        }
        content = judge(paper, finished, under, quick=quick)
        content["experiments"] = [described(each, loaded[part_key(each)]) for each in base]
        write_json(directory / "reproduce.json", content)
        display.line("drawing")
        report = reproduction.write(content, finished.runs, directory)
    failed = tuple(each for each in outcomes if each.state not in ("done", "reused"))
    return Outcome(report, content, failed)


def part(
    paper: Paper,
    experiment: Experiment,
    folder: str,
    settings: Settings,
    directory: Path,
    *,
    quick: bool,
) -> Part:
    """An experiment's jobs. Raises `InputError`."""
    source = ROOT / "scenarios" / experiment.scenario
    given = merged(experiment.settings, experiment.quick if quick else (), settings)
    missing = list[tuple[str, str]]()
    for key in experiment.optional:
        present, absent = available(source, key, given)
        given = merged(given, ((f"sweep.{key}", present),))
        missing += absent
    read = sweep.read(source, given)
    results = directory / folder / experiment.name
    # Name the directory after the experiment instead of its scenario's file.
    jobs = [
        replace(job, final=results / job.name) for job in make_jobs(source, read, directory, SIM)
    ]
    return Part(experiment, folder, tuple(jobs), tuple(missing))


def merged(*settings: Settings) -> Settings:
    """Later settings of a key replace earlier ones."""
    return tuple(dict(pair for part in settings for pair in part).items())


def available(source: Path, key: str, given: Settings) -> tuple[list[Any], list[tuple[str, str]]]:
    """The values of a swept key that this build can run, and the others with reasons."""
    present, missing = list[Any](), list[tuple[str, str]]()
    swept = dict(sweep.flatten(sweep.read_toml(source).get("sweep", {})))
    alone = tuple(pair for pair in given if not pair[0].startswith("sweep."))
    for value in dict(given).get(f"sweep.{key}", swept.get(key, [])):
        try:
            sweep.read(source, merged(alone, ((f"sweep.{key}", [value]), *others(swept, key))))
        except InputError as error:
            missing.append((str(value), error.problems[0]))
        else:
            present.append(value)
    return present, missing


def others(swept: Mapping[str, Any], key: str) -> Settings:
    """Reduces all sweeps but one to their first value, which every build supports."""
    return tuple(
        (f"sweep.{other}", values[:1])
        for other, values in swept.items()
        if other not in (key, "repeat")
    )


def alternative_parts(
    paper: Paper, assumption: Assumption, alternative: Alternative, directory: Path, *, quick: bool
) -> list[Part]:
    """The experiments that an alternative of an assumption changes."""
    parts = []
    for name, settings in alternative.settings.items():
        experiment = paper.experiment(name)
        folder = sweep.name(f"{assumption.name}={alternative.name}")
        shorter = merged(experiment.sensitivity, settings)
        parts.append(part(paper, experiment, folder, shorter, directory, quick=quick))
    return parts


def part_key(part: Part) -> tuple[str, str]:
    """The directory of a part's runs."""
    return part.folder, part.experiment.name


def runs_of(part: Part) -> list[Run]:
    """The finished runs of a part."""
    return [load_run(job.final) for job in part.jobs if (job.final / "run.json").is_file()]


def described(part: Part, runs: Sequence[Run]) -> ExperimentRecord:
    """The entry of an experiment in `reproduce.json`."""
    experiment = part.experiment
    return {
        "name": experiment.name,
        "title": experiment.title,
        "scenario": f"scenarios/{experiment.scenario}",
        "figures": list(experiment.figures),
        "runs": len(part.jobs),
        "valid": sum(run.valid for run in runs),
        "missing": [{"value": value, "why": why} for value, why in part.missing],
    }


def forget(out: Path, paper: Paper) -> None:
    """Removes a paper's results."""
    shutil.rmtree(out / paper.name, ignore_errors=True)
