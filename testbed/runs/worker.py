"""The worker process, `python -m narrows.testbed.runs.worker TARGET`.

Standard input has a JSON object a line, each a `jobs.Job` as text. Standard output gets a JSON
object a line: `{"progress": {...}}` now and then, at last one of `{"summary": ...}`,
`{"refused": text}` (the engine refused the plan) and `{"failed": text}`. The process ends with its
input, and after a run in real time, whose devices a process can have once only.

A run is written to a directory whose name begins with a dot and is renamed when complete, so a run
that was killed never looks like a finished one. SIGINT is ignored: the parent decides. SIGTERM ends
the process at once, except while it renames. A parent that is gone is noticed at the next progress
line.
"""

from __future__ import annotations

import json
import shutil
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from narrows.testbed import catalogue
from narrows.testbed.files import publish, write_json
from narrows.testbed.targets import HOSTS, TARGETS
from narrows.testbed.targets.base import Tell
from narrows.testbed.worker_messages import reported, say

if TYPE_CHECKING:
    from narrows.schema.run import RunRecord, VirtualClock, WorkerJob
    from narrows.schema.summary import Instrument, Progress, Summary


def main() -> int:
    """Does one job after the other."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    target = TARGETS[sys.argv[1]]
    target.prepare()
    for line in sys.stdin:
        do(json.loads(line))
        if target.in_real_time:
            break
    return 0


def do(job: WorkerJob) -> None:
    """Runs a job and puts the result in place; ends the process when nobody listens any more."""
    partial, final = Path(job["partial"]), Path(job["final"])
    try:
        with reported(catalogue.engine()):
            partial.mkdir(parents=True)
            summary = carry_out(job, partial)
            write_json(partial / "run.json", run_record(job["record"], summary))
            before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
            publish(partial, final)
            signal.signal(signal.SIGTERM, before)
            say({"summary": summary})
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def carry_out(job: WorkerJob, out: Path) -> Summary:
    """Runs a job, its tables going to `out`; returns the summary."""
    plan, settings = job["plan"], job["settings"]
    target, hosts = TARGETS[job["record"]["target"]], HOSTS[job["record"]["hosts"]]

    def switch_side(sockets: Any, progress: Tell) -> Summary:
        return target.run(plan, out, progress, settings, sockets)

    return hosts.run(plan, out, report_progress, switch_side)


def report_progress(progress: Progress) -> bool:
    """Passes the engine's progress on; False, which stops the run, when nobody listens."""
    return say({"progress": progress}) == 0


def run_record(record: RunRecord, summary: Summary) -> RunRecord:
    """`run.json`: what was run, how far the instrument was off, and whether it counts."""
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
