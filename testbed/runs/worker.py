"""The worker process, `python -m narrows.testbed.runs.worker`; `process.py` starts it.

Standard input has a JSON object a line, each a `runs.Job` as text. Standard output gets a JSON
object a line: `{"progress": {...}}` now and then, at last one of `{"summary": ...}`,
`{"refused": text}` (the engine refused the plan) and `{"failed": text}`. The process ends with its
input, and after a run in real time, whose devices are had once a process.

The run is written to a directory whose name begins with a dot and is renamed when complete, so
a run that was killed never looks like a finished one. SIGINT is ignored (the parent decides);
SIGTERM ends the process at once, but for the moment of the renaming; a parent that is gone is
noticed at the next progress line.
"""

from __future__ import annotations

import json
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from narrows.testbed import catalogue
from narrows.testbed.files import publish, write_json
from narrows.testbed.targets.dpdk import processes
from narrows.testbed.targets.dpdk import setup as dpdk
from narrows.testbed.targets.switch_setup import set_up
from narrows.testbed.worker_messages import Json, SocketsError, say, telling


def main() -> int:
    """Does one job after the other."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for line in sys.stdin:
        job = json.loads(line)
        do(job)
        if job["record"]["target"] != "sim":
            break
    return 0


def do(job: Json) -> None:
    """Runs a job and puts the result in place; ends the process when nobody listens any more."""
    partial, final = Path(job["partial"]), Path(job["final"])
    engine = catalogue.engine()
    partial.mkdir(parents=True)
    try:
        with telling(engine):
            summary = carry_out(engine, job, partial)
            write_json(partial / "run.json", run_record(job["record"], summary))
            before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
            publish(partial, final)
            signal.signal(signal.SIGTERM, before)
            say({"summary": summary})
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def carry_out(engine: Any, job: Json, out: Path) -> Json:
    """Runs a job, its tables going to `out`; returns the summary."""
    plan, real_time, hosts = job["plan"], job["real_time"], job["record"]["hosts"]
    if real_time is None:
        # The state is there before the run's clock begins.
        switches = set_up(engine, json.loads(plan))
        return dict(engine.run(plan, str(out), report_progress, switches))
    setup, devices = real_time["setup"], real_time["devices"]
    if real_time["lab"]:
        from narrows.testbed.targets.tofino import run as tofino

        lab = Path(real_time["lab"])
        summary = tofino.run(engine, json.loads(plan), lab, out, report_progress)
        write_summary(out / "summary.json", summary)
        return summary
    if real_time["processes"]:
        summary = processes.run(engine, plan, setup, out, report_progress)
        write_summary(out / "summary.json", summary)
        return summary
    is_bmv2 = job["record"]["target"] == "bmv2"
    ready = None if devices or is_bmv2 else set_up(engine, json.loads(plan))
    meet = dpdk.begin_at(real_time["begin_s"])

    def run(sockets: Any, progress: Callable[[Json], bool]) -> Json:
        if is_bmv2:
            from narrows.testbed.targets.bmv2 import run as bmv2

            return bmv2.run(engine, json.loads(plan), setup, out, progress, sockets)
        return dict(
            engine.run_real_time(
                plan, str(out), setup, progress, ready, sockets, devices=devices, meet=meet
            )
        )

    if hosts == "narrows" and not is_bmv2:
        return run(None, report_progress)
    # Only here, since they bring the scenario's schema, which takes as long as all the rest.
    from narrows.testbed.targets.linux import run as linux
    from narrows.testbed.targets.linux.namespaces import PlumbingError
    from narrows.testbed.targets.linux.variants import VariantError

    # What was made for the run is taken away when it is stopped, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        if hosts == "narrows":
            summary = run(None, report_progress)
        else:
            summary = linux.run(engine, json.loads(plan), hosts, run, report_progress)
    except (PlumbingError, VariantError) as error:
        raise SocketsError(str(error)) from None
    write_summary(out / "summary.json", summary)
    return summary


def write_summary(path: Path, summary: Json) -> None:
    """Writes a summary as the engine does."""
    path.write_text(json.dumps(summary, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def report_progress(progress: Json) -> bool:
    """Passes the engine's progress on; False, which stops the run, when nobody listens."""
    return say({"progress": progress}) == 0


def run_record(record: Json, summary: Json) -> Json:
    """`run.json`: what was run, how far the instrument was off, and whether it counts."""
    # In virtual time an event is never late.
    instrument = summary.get("instrument", {"clock": "virtual", "error_ps": 0})
    valid = {"valid": summary["valid"], "invalid_reason": summary["invalid_reason"]}
    return record | {"instrument": instrument} | valid


if __name__ == "__main__":
    sys.exit(main())
