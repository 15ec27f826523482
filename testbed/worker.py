"""Runs in a process of their own: `python -m testbed.worker`, started by `testbed.process`.

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

from controller.client import ControllerError
from controller.drivers import DriverError
from testbed import catalogue, dpdk
from testbed.control import set_up
from testbed.files import publish, write_json

Json = dict[str, Any]


class SocketsError(Exception):
    """Hosts with the kernel's TCP could not be had, or did not do what they should."""


def main() -> int:
    """Does one job after the other."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for line in sys.stdin:
        job = json.loads(line)
        if do(job) != 0:
            return 1
        if job["record"]["target"] != "sim":
            break
    return 0


def do(job: Json) -> int:
    """Runs a job and puts the result in place; 1 when nobody listens any more."""
    partial, final = Path(job["partial"]), Path(job["final"])
    engine = catalogue.engine()
    partial.mkdir(parents=True)
    try:
        summary = run(engine, job["plan"], job["record"], partial)
        write_json(partial / "run.json", run_record(job["record"], summary))
        before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
        publish(partial, final)
        signal.signal(signal.SIGTERM, before)
    except engine.Cancelled:
        return 1
    except (engine.PlanError, ControllerError, DriverError) as error:
        return say({"refused": str(error)})
    except (engine.RunError, engine.DeviceError, SocketsError) as error:
        return say({"failed": str(error)})
    except OSError as error:
        return say({"failed": f"cannot write the results: {error}"})
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return say({"summary": summary})


def run(engine: Any, plan: str, record: Json, directory: Path) -> Json:
    """Runs a plan on the target that its record names; returns the summary."""
    # The state is there before the run's clock begins.
    switches = set_up(engine, json.loads(plan))
    if record["target"] == "sim":
        return dict(engine.run(plan, str(directory), report_progress, switches))

    def real_time(sockets: Any, progress: Callable[[Json], bool]) -> Json:
        setup = dpdk.setup().as_text()
        return dict(engine.run_real_time(plan, str(directory), setup, progress, switches, sockets))

    if record["hosts"] == "narrows":
        return real_time(None, report_progress)
    # Only here, since they bring the scenario's schema, which takes as long as all the rest.
    from testbed.linux import run as linux
    from testbed.linux.namespaces import PlumbingError
    from testbed.linux.variants import VariantError

    # What was made for the run is taken away when it is stopped, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        summary = linux.run(engine, json.loads(plan), record["hosts"], real_time, report_progress)
    except (PlumbingError, VariantError) as error:
        raise SocketsError(str(error)) from None
    write_summary(directory / "summary.json", summary)
    return summary


def write_summary(path: Path, summary: Json) -> None:
    """Writes a summary as the engine does."""
    path.write_text(json.dumps(summary, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def report_progress(progress: Json) -> bool:
    """Passes the engine's progress on; False, which stops the run, when nobody listens."""
    return say({"progress": progress}) == 0


def say(message: Json) -> int:
    """Writes one line; 1 when the parent is gone."""
    try:
        print(json.dumps(message), flush=True)
    except BrokenPipeError:
        sys.stdout = None
        return 1
    return 0


def run_record(record: Json, summary: Json) -> Json:
    """`run.json`: what was run, how far the instrument was off, and whether it counts."""
    # In virtual time an event is never late.
    instrument = summary.get("instrument", {"clock": "virtual", "error_ps": 0})
    valid = {"valid": summary["valid"], "invalid_reason": summary["invalid_reason"]}
    return record | {"instrument": instrument} | valid


if __name__ == "__main__":
    sys.exit(main())
