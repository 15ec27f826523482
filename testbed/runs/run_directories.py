"""Run directories: finished runs to keep, and remains of killed runs to remove."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from narrows.analysis.soundness import problems
from narrows.testbed.files import make_directory
from narrows.testbed.runs.jobs import Display, Job, Outcome

if TYPE_CHECKING:
    from narrows.schema.summary import Summary

LEFTOVER = re.compile(r"\.(?P<point>.+)\.(?P<pid>\d+)\.(?P<kind>partial|retired)")


def reusable(job: Job) -> Summary | None:
    """The summary of a finished run equal to what `job` would write, if one exists."""
    try:
        record = json.loads((job.final / "run.json").read_text(encoding="utf-8"))
        summary: Summary = json.loads((job.final / "summary.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or "files" not in record:
        return None
    same = {key: record.get(key) for key in job.record} == json.loads(json.dumps(job.record))
    if not (same and record.get("valid")) or problems(job.final, record):
        return None
    return summary


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
