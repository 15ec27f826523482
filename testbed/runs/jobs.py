"""Jobs, one per run of a scenario's points, and their outcomes.

Results are `<out>/<scenario>/<point>/`. A run directory does not depend on the wall clock, the
number of processes or the machine. `host.json`, in the parent directory, records these.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from narrows.testbed import engine
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.runs.forks import map_in_forks
from narrows.testbed.scenario.packets import planned_payload_bytes
from narrows.testbed.scenario.plan import expected_ps, laid_out_plan, program_path
from narrows.testbed.scenario.sweep import Point, scenario_name
from narrows.testbed.scenario.understood import Understood, understood
from narrows.testbed.targets import TARGETS
from narrows.testbed.targets.base import Hosts, Target
from narrows.testbed.targets.our_hosts import OUR_HOSTS

if TYPE_CHECKING:
    from narrows.schema.run import RunRecord, Settings
    from narrows.schema.summary import Summary

RUN_SCHEMA = 1


@dataclass(frozen=True)
class Job:
    """One run to execute."""

    name: str
    plan: str
    """The engine's plan as JSON text."""
    record: RunRecord
    """The part of `run.json` known before the run."""
    final: Path
    expected_ps: int
    """Approximate simulated duration."""
    settings: Settings = field(default_factory=dict)
    """The target's settings besides the plan."""
    path: Understood | None = None
    """What the scenario was understood as."""

    @property
    def target(self) -> Target:
        """The target that the record names."""
        return TARGETS[self.record["target"]]

    @property
    def partial(self) -> Path:
        """The directory of the incomplete run."""
        return self.final.parent / f".{self.name}.{os.getpid()}.partial"

    def as_text(self) -> str:
        """The JSON line that the worker reads."""
        fields = {"plan": self.plan, "record": self.record}
        places = {"partial": str(self.partial), "final": str(self.final)}
        return json.dumps({**fields, **places, "settings": self.settings})


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run."""

    job: Job
    state: Literal["done", "reused", "refused", "failed"]
    message: str = ""
    summary: Summary | None = None
    wall_s: float = 0.0

    @property
    def simulated_s(self) -> float:
        """Simulated seconds; 0 without a summary."""
        return float(self.summary["duration_s"]) if self.summary else 0.0


class Display(Protocol):
    """Shows the progress of many runs."""

    def update(self, fraction: float, simulated_s: float) -> None:
        """Shows the completed share of the work, and the simulated time so far."""

    def finished(self, outcome: Outcome) -> None:
        """Shows that one run has ended."""


def make_jobs(
    source: Path,
    points: Sequence[Point],
    out: Path,
    target: Target,
    hosts: Hosts = OUR_HOSTS,
    settings: Settings | None = None,
    at_once: int = 1,
) -> list[Job]:
    """The runs of a scenario's points. `settings` are the target's. Up to `at_once` processes
    plan many points.

    Raises `InputError` if a point cannot be planned, or the target or hosts do not support it.
    """
    told = target.settings_of_each(settings or {}, len(points))
    for point in points:
        target.check(point.scenario, str(source), told)
    results = out / scenario_name(source)
    digests = functools.cache(functools.partial(program_digest, source=str(source)))

    def planned(point: Point) -> Job:
        return make_job(point, source, results / point.name, target, hosts, told, digests)

    return map_in_forks(planned, points, at_once)


def make_job(
    point: Point,
    source: Path,
    final: Path,
    target: Target,
    hosts: Hosts,
    settings: Settings,
    digest: Callable[[Path], str] | None = None,
) -> Job:
    """One run, to be stored in `final`. `digest` gives a program's SHA-256, if it is known. Raises
    `InputError`, naming `source`.
    """
    scenario = point.scenario
    path = program_path(scenario, str(source))
    program = digest(path) if digest else program_digest(path, str(source))
    layout, plan = laid_out_plan(scenario, str(source), target.ports(settings))
    plan = target.planned(plan)
    if problems := target.problems(plan, settings):
        raise InputError(f"{source}: --target {target.name}", problems)
    if problems := hosts.problems(plan):
        raise InputError(f"{source}: --hosts {hosts.name}", problems)
    record: RunRecord = {
        "schema": RUN_SCHEMA,
        "name": final.parent.name,
        "scenario": scenario.resolved(),
        "point": point.values,
        "seed": scenario.seed,
        "target": target.name,
        "hosts": hosts.name,
        "segment_bytes": [planned_payload_bytes(each["flow"]) for each in plan["flows"]],
        "program": {"sha256": program},
        "versions": {"narrows": engine.version()} | hosts.versions(),
    }
    expected = expected_ps(scenario, plan)
    said = understood(scenario, layout)
    return Job(point.name, json.dumps(plan), record, final, expected, settings, said)


def program_digest(program: Path, source: str) -> str:
    """The SHA-256 of a P4 program. Raises `InputError`, naming `source`."""
    try:
        return hashlib.sha256(program.read_bytes()).hexdigest()
    except OSError as error:
        problem = Problem("program", f"cannot be read ({error.strerror})", str(program))
        raise InputError(source, [problem]) from None


class Ended:
    """Sums over the ended runs."""

    def __init__(self, outcomes: Iterable[Outcome] = ()) -> None:
        self.worked_ps = 0
        """Their weight in the progress; a kept run has none."""
        self.simulated_s = 0.0
        for outcome in outcomes:
            self.add(outcome)

    def add(self, outcome: Outcome) -> None:
        """Adds one more."""
        self.worked_ps += 0 if outcome.state == "reused" else outcome.job.expected_ps
        self.simulated_s += outcome.simulated_s
