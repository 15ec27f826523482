"""`narrows.run`: runs a scenario as `narrows run` does, and returns its results."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from narrows.analysis.load import load as load_runs
from narrows.testbed import catalogue
from narrows.testbed.api.results import Results
from narrows.testbed.api.scenario import Scenario, settings_of
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.runs import worker_process
from narrows.testbed.runs.request import RunRequest, execution_of
from narrows.testbed.runs.scenario import run_scenario
from narrows.testbed.shipped import scenario_path
from narrows.testbed.targets import HOSTS, TARGETS
from narrows.testbed.targets.base import Target


class RunsFailedError(Exception):
    """No run of a scenario is valid; the message says why each failed."""


def run(
    scenario: Scenario | str | Path,
    /,
    *,
    target: str = next(iter(TARGETS)),
    hosts: str = next(iter(HOSTS)),
    options: Mapping[str, Any] | None = None,
    out: str | Path = "results",
    jobs: int | None = None,
    scheduler: str | None = None,
    resume: bool = False,
    quiet: bool = False,
    **settings: Any,
) -> Results:
    """Runs a scenario's points and returns their results, which are in `<out>/<scenario>`.

    `scenario` is an object, a file's path, or the name of a scenario that comes with Narrows.
    `settings` set keys of the scenario, as `--set` does: `duration="5s"`,
    `bottleneck={"queue": "1bdp"}`, `**{"flow.0.count": 3}`, `seed=7`; `sweep={...}` replaces lists
    of the sweep. `options` are the target's, by their names without dashes. `jobs` are the runs at
    a time, one for each core unless given. The other arguments are those of `narrows run`.

    Failed and invalid runs are in `Results.failed`. Raises `InputError`, which names the key, and
    `RunsFailedError` if no run is valid.
    """
    chosen = _named("target", TARGETS, target)
    at_once = (os.cpu_count() or 1) if jobs is None else jobs
    own = _own_options(chosen, options or {})
    execution = execution_of(chosen, _named("hosts", HOSTS, hosts), own, at_once, scheduler)
    request = RunRequest(
        scenario=scenario.source if isinstance(scenario, Scenario) else scenario_path(scenario),
        tree=scenario.keys if isinstance(scenario, Scenario) else None,
        overrides=(),
        keys=settings_of(settings),
        seed=None,
        out=Path(out),
        scheduler=scheduler,
        resume=resume,
        quiet=quiet,
        **vars(execution),
    )
    request.check()
    with worker_process.spare(chosen) as spare:
        done = run_scenario(request, spare)
    failed = {each.job.name: each.message for each in done.outcomes if each not in done.good}
    if not done.good:
        said = "\n".join(f"{name}: {why}" for name, why in failed.items())
        raise RunsFailedError(f"{request.scenario}: no run is valid\n{said}")
    done.write_rows()
    return Results(done.directory, load_runs(done.directory), failed)


def _named(what: str, known: Mapping[str, Any], name: str) -> Any:
    """The object of this name. Raises `InputError` with the nearest name."""
    if name not in known:
        raise InputError("run", [Problem(what, catalogue.unknown(what, name, known), name)])
    return known[name]


def _own_options(target: Target, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a target, None where not given. Raises `InputError` for one of another."""
    known = [option.key for option in target.options]
    for key in given:
        if key not in known:
            what = f"is not an option of target {target.name}; it has {', '.join(known) or 'none'}"
            raise InputError("run", [Problem(f"options.{key}", what)])
    return {key: given.get(key) for key in known}
