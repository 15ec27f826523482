"""`narrows verify`: runs a bundle's scenarios again, and compares.

In virtual time every file of a run must have the bundle's bytes. Elsewhere statistics of the
bottleneck and of the flows must agree within a tolerance.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any, Final

from pydantic import ValidationError

from narrows.analysis import metrics
from narrows.analysis.load import LoadError, Run, load_run
from narrows.testbed import engine
from narrows.testbed.problems import InputError
from narrows.testbed.runs import local, worker_process
from narrows.testbed.runs.jobs import Job, make_jobs
from narrows.testbed.runs.jobs import Outcome as RunOutcome
from narrows.testbed.runs.progress import progress_display
from narrows.testbed.runs.request import Execution
from narrows.testbed.scenario.explain import explain
from narrows.testbed.scenario.schema import Scenario
from narrows.testbed.scenario.sweep import Point
from narrows.testbed.tools.artifact.bundle import traces
from narrows.testbed.tools.artifact.manifest import FILES, PROGRAM, RUNS, Manifest
from narrows.testbed.tools.artifact.opened import extract, read_json, refuse


@dataclass(frozen=True)
class Statistic:
    """A number of a run that is compared where bytes cannot be."""

    name: str
    unit: str
    of: Callable[[Run], float | None]
    floor: float
    """A difference up to this is none, whatever its share."""


STATISTICS: Final = (
    Statistic("goodput", "Mb/s", lambda run: metrics.mean_goodput_bps(run) / 1e6, 0.01),
    Statistic("link use", "%", metrics.link_use_percent, 1.0),
    Statistic("queueing delay, mean", "ms", metrics.mean_queue_delay_ms, 0.5),
    Statistic("loss", "%", metrics.loss_percent, 0.2),
    Statistic("Jain's index", "", lambda run: float(run.summary["jain"]), 0.02),
)


@dataclass(frozen=True)
class Verdict:
    """The outcome of one run."""

    run: str
    same: bool
    text: str


@dataclass(frozen=True)
class Verified:
    """The outcome of a bundle."""

    manifest: Manifest
    verdicts: Sequence[Verdict]
    warning: str
    """How this version differs from the bundle's; empty if it does not."""

    @property
    def same(self) -> bool:
        """True if every run came out as in the bundle."""
        return all(verdict.same for verdict in self.verdicts)


def verify(
    bundle: Path,
    execution: Execution,
    tolerance: float,
    *,
    first: int | None = None,
    quiet: bool = False,
) -> Verified:
    """Runs the bundle's runs again, or only the `first` of them, and compares them.

    `execution` has the bundle's target and hosts. `tolerance` is the share by which statistics may
    differ. Raises `InputError` for a bundle that is not taken, before anything runs.
    """
    with tempfile.TemporaryDirectory(prefix="narrows-verify-") as name:
        directory = Path(name)
        manifest = extract(bundle, directory)
        check_execution(bundle, manifest, execution)
        names = manifest["runs"][:first]
        jobs = list(
            chain.from_iterable(jobs_of(bundle, directory, each, execution) for each in names)
        )
        with worker_process.spare(execution.target) as spare, progress_display(
            len(jobs), in_real_time=execution.target.in_real_time, quiet=quiet
        ) as display:  # fmt: skip
            display.line(f"{manifest['title']}: {len(jobs)} runs again")
            outcomes = local.run_all(jobs, execution.at_once, False, display, spare)
        verdicts = [
            compared(directory / RUNS / run, outcome, tolerance)
            for run, outcome in zip(names, outcomes, strict=True)
        ]
    theirs, ours = manifest["versions"].get("narrows"), engine.version()
    other = "" if theirs == ours else f"the bundle is of narrows {theirs}, this is {ours}"
    return Verified(manifest, verdicts, other)


def check_execution(bundle: Path, manifest: Manifest, execution: Execution) -> None:
    """Raises `InputError` unless the runs are to be on the bundle's target with its hosts.

    A bundle does not choose these: they may need privileges and devices.
    """
    for key, asked in (("target", execution.target.name), ("hosts", execution.hosts.name)):
        if manifest[key] != asked:  # type: ignore[literal-required]
            theirs = manifest[key]  # type: ignore[literal-required]
            raise refuse(bundle, key, f"is {theirs!r}, not {asked!r}; expected --{key} {theirs}")


def jobs_of(bundle: Path, directory: Path, name: str, execution: Execution) -> Iterator[Job]:
    """The job of one run of an extracted bundle. Raises `InputError`."""
    about = f"{RUNS}/{name}/run.json"
    record = read_json(bundle, directory / about, about)
    try:
        original = load_original(directory, name)
        for each in STATISTICS:
            each.of(original)
    except LoadError as error:
        file = f"{RUNS}/{name}/{error.path.name}"
        raise refuse(bundle, file, error.problem) from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise refuse(bundle, f"{RUNS}/{name}/summary.json", f"is not a summary ({error})") from None
    scenario = checked_scenario(bundle, directory, about, record)
    point = Point(name, dict(record["point"]), scenario)
    source = directory / FILES / "bundle.toml"
    again = directory / "again"
    yield from make_jobs(
        source, [point], again, execution.target, execution.hosts, execution.settings
    )


def checked_scenario(
    bundle: Path, directory: Path, about: str, record: Mapping[str, Any]
) -> Scenario:
    """The scenario of a run, with the bundle's program and traces. Raises `InputError`."""
    tree = record["scenario"]
    for file in traces(tree):
        path = PurePosixPath(file)
        if path.is_absolute() or ".." in path.parts:
            raise refuse(bundle, f"{about}: app.file", f"{file!r} is outside the bundle")
    try:
        scenario = Scenario.model_validate({**tree, "program": f"../{PROGRAM}"})
    except ValidationError as error:
        problems = explain(error)
        raise InputError(f"{bundle}: {about}", problems) from None
    return scenario.model_copy(update={"seed": record["seed"]})


def load_original(directory: Path, name: str) -> Run:
    """A run of the bundle; the tables may be left out. Raises `LoadError`."""
    path = directory / RUNS / name
    found = load_run(path, only_present=True)
    for key in ("target", "hosts", "files"):
        if key not in found.record:
            raise LoadError(path / "run.json", f"no key {key!r}")
    return found


def compared(original: Path, outcome: RunOutcome, tolerance: float) -> Verdict:
    """The verdict on a run and its repetition."""
    name = original.name
    if outcome.state != "done":
        return Verdict(name, False, f"did not run: {outcome.message}")
    theirs, ours = load_run(original, only_present=True), load_run(outcome.job.final)
    if outcome.job.target.in_real_time:
        return statistics(name, theirs, ours, tolerance)
    expected, found = (
        {file: digest for file, digest in run.record["files"].items() if file != "run.json"}
        for run in (theirs, ours)
    )
    other = sorted(file for file in {**expected, **found} if expected.get(file) != found.get(file))
    if other:
        return Verdict(name, False, f"other bytes: {', '.join(other)}")
    return Verdict(name, True, f"same bytes in {len(expected)} files")


def statistics(name: str, theirs: Run, ours: Run, tolerance: float) -> Verdict:
    """The verdict by the statistics of two runs."""
    told, same = [], True
    for each in STATISTICS:
        before, now = each.of(theirs), each.of(ours)
        if before is None or now is None:
            continue
        close = abs(now - before) <= max(each.floor, tolerance * abs(before))
        same &= close
        sign = "" if close else " (differs)"
        told.append(f"{each.name} {before:.3g}, now {now:.3g} {each.unit}".strip() + sign)
    return Verdict(name, same, "; ".join(told))
