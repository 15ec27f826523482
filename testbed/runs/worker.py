"""The worker process, `python -m narrows.testbed.runs.worker TARGET`.

Standard input has one JSON object per line, each a `jobs.Job` as text. Standard output has one JSON
object per line: `{"progress": {...}}` at intervals, in virtual time `{"storing": true}` at the end
of the run, and finally one of `{"summary": ...}`, `{"refused": text}` (the engine refused the plan)
and `{"failed": text}`.

The process ends with its input. It also ends after a run in real time, since a process can open its
devices only once.

A run is written to a directory with a leading dot in its name, which is renamed when complete. So a
killed run never looks finished. SIGINT is ignored: the parent decides. SIGTERM ends the process
immediately, except during the renaming. The next progress line detects a parent that has ended.
"""

from __future__ import annotations

import json
import shutil
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from narrows.analysis.soundness import digests
from narrows.testbed.files import publish, write_json
from narrows.testbed.garbage import collect_seldom
from narrows.testbed.targets import HOSTS, TARGETS
from narrows.testbed.targets.base import Target, Tell
from narrows.testbed.worker_messages import report_errors, say

if TYPE_CHECKING:
    from narrows._engine import Sockets
    from narrows.schema.run import RunRecord, VirtualClock, WorkerJob
    from narrows.schema.summary import Instrument, Progress, Summary


def main() -> int:
    """Runs one job after the other."""
    collect_seldom()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    target = TARGETS[sys.argv[1]]
    target.prepare()
    for line in sys.stdin:
        do(json.loads(line))
        if target.in_real_time:
            break
    return 0


def do(job: WorkerJob) -> None:
    """Runs a job and stores its result; ends the process if the parent has ended."""
    partial, final = Path(job["partial"]), Path(job["final"])
    try:
        with report_errors():
            partial.mkdir(parents=True)
            summary = carry_out(job, partial)
            if not target_of(job).in_real_time:
                say({"storing": True})
            before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
            store(job["record"], summary, partial, final)
            signal.signal(signal.SIGTERM, before)
            say({"summary": summary})
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def store(record: RunRecord, summary: Summary, partial: Path, final: Path) -> None:
    """Completes a run directory with `run.json`, and moves it to its place."""
    complete = run_record(record, summary)
    complete["files"] = digests(partial, complete)
    write_json(partial / "run.json", complete)
    publish(partial, final)


def carry_out(job: WorkerJob, out: Path) -> Summary:
    """Runs a job, its tables going to `out`; returns the summary."""
    plan, settings = job["plan"], job["settings"]
    target, hosts = target_of(job), HOSTS[job["record"]["hosts"]]

    def switch_side(sockets: Sockets | None, progress: Tell) -> Summary:
        return target.run(plan, out, progress, settings, sockets)

    return hosts.run(plan, out, report_progress, switch_side)


def target_of(job: WorkerJob) -> Target:
    """The target that the record names."""
    return TARGETS[job["record"]["target"]]


def report_progress(progress: Progress) -> bool:
    """Forwards the engine's progress; returns False, which stops the run, if the
    parent has ended.
    """
    return say({"progress": progress}) == 0


def run_record(record: RunRecord, summary: Summary) -> RunRecord:
    """Completes `run.json`: the run's inputs, the instrument's errors, and the run's validity."""
    # In virtual time an event is never late.
    instrument: Instrument | VirtualClock = {"clock": "virtual", "error_ps": 0}
    if "instrument" in summary:
        instrument = summary["instrument"]
    valid = summary["valid"]
    return record | {
        "instrument": instrument,
        "valid": valid,
        "invalid_reason": summary["invalid_reason"],
    }


if __name__ == "__main__":
    sys.exit(main())
