"""Run directories: finished runs to keep, and remains of killed runs to remove."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from narrows.testbed.files import make_directory
from narrows.testbed.runs.jobs import Display, Job, Outcome

if TYPE_CHECKING:
    from narrows.schema.summary import Summary

LEFTOVER = re.compile(r"\.(?P<point>.+)\.(?P<pid>\d+)\.(?P<kind>partial|retired)")


def reusable(job: Job) -> Summary | None:
    """The summary of a finished run equal to what `job` would write, if one exists."""
    from narrows.analysis.load import LoadError, load_run

    if not (job.final / "run.json").exists():
        return None
    try:
        run = load_run(job.final)
    except LoadError:
        return None
    record: dict[str, Any] = {**run.record}
    same = {key: record.get(key) for key in job.record} == json.loads(json.dumps(job.record))
    return run.summary if same and "files" in record and run.valid else None


def sweep_leftovers(results: Path) -> None:
    """Removes remains of killed runs, and restores a run if its replacement is incomplete."""
    for path in results.glob(".*"):
        found = LEFTOVER.fullmatch(path.name)
        if found is None or alive(int(found["pid"])):
            continue
        if found["kind"] == "retired" and not (results / found["point"]).exists():
            path.rename(results / found["point"])
        else:
            shutil.rmtree(path, ignore_errors=True)


def alive(pid: int) -> bool:
    """True if another process with this id runs."""
    if pid == os.getpid():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def put_aside_finished(
    todo: Sequence[Job], resume: bool, display: Display
) -> tuple[dict[Path, Outcome], list[Job]]:
    """The outcomes of kept runs, by run directory, and the jobs still to do.

    Creates the result directories and removes remains of killed runs.
    """
    outcomes = dict[Path, Outcome]()
    waiting = list[Job]()
    for job in todo:
        summary = reusable(job) if resume else None
        if summary is None:
            waiting.append(job)
        else:
            outcomes[job.final] = Outcome(job, "reused", summary=summary)
            display.finished(outcomes[job.final])
    for results in {job.final.parent for job in todo}:
        make_directory(results)
        sweep_leftovers(results)
    return outcomes, waiting
