"""Runs the points of a scenario, several at a time, in processes of their own.

Results are `<out>/<scenario>/<point>/`. A run directory holds nothing that depends on the wall
clock, on the number of processes or on the machine; that is in `host.json` beside the points.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import selectors
import shutil
import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from narrows.testbed import catalogue
from narrows.testbed.files import make_directory
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.runs.process import Spare, WorkerProcess
from narrows.testbed.scenario.plan import expected_ps, make_plan, program_path
from narrows.testbed.scenario.sweep import Point
from narrows.testbed.targets.dpdk.setup import RealTime
from narrows.testbed.targets.dpdk.setup import setup as dpdk_setup
from narrows.testbed.targets.linux import run as linux
from narrows.testbed.targets.linux.hosts import versions

RUN_SCHEMA = 1
LEFTOVER = re.compile(r"\.(?P<point>.+)\.(?P<pid>\d+)\.(?P<kind>partial|retired)")

Json = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """One run to do."""

    name: str
    plan: str
    """The engine's plan as JSON text."""
    record: Json
    """What `run.json` says beforehand."""
    final: Path
    expected_ps: int
    """About how long it lasts in simulated time."""
    real_time: RealTime | None = None
    """How it is done in real time; None in virtual time."""

    @property
    def partial(self) -> Path:
        """Where it is written until it is complete."""
        return self.final.parent / f".{self.name}.{os.getpid()}.partial"

    def as_text(self) -> str:
        """What the worker reads."""
        fields = {"plan": self.plan, "record": self.record}
        places = {"partial": str(self.partial), "final": str(self.final)}
        real_time = self.real_time and self.real_time.as_json()
        return json.dumps({**fields, **places, "real_time": real_time})


@dataclass(frozen=True)
class Outcome:
    """How a run ended."""

    job: Job
    state: Literal["done", "reused", "refused", "failed"]
    message: str = ""
    summary: Json | None = None
    wall_s: float = 0.0


class Display(Protocol):
    """Shows the progress of many runs."""

    def update(self, fraction: float, simulated_s: float) -> None:
        """The share of the work that is done, and the simulated time so far."""

    def finished(self, outcome: Outcome) -> None:
        """One run has ended."""


def jobs(
    source: Path,
    points: Sequence[Point],
    out: Path,
    target: str,
    hosts: str = "narrows",
    real_time: RealTime | None = None,
) -> list[Job]:
    """The runs of a scenario's points. Raises `InputError` where a point cannot be planned, or its
    hosts can't be the kernel's.
    """
    if target != "sim" and real_time is None:
        real_time = RealTime(dpdk_setup())
    made = []
    program = program_path(points[0].scenario, str(source))
    try:
        digest = hashlib.sha256(program.read_bytes()).hexdigest()
    except OSError as error:
        problem = Problem("program", f"cannot be read ({error.strerror})", str(program))
        raise InputError(str(source), [problem]) from None
    numbers: Sequence[int] = ()
    if real_time and real_time.lab:
        from narrows.testbed.targets.tofino import lab

        bench = lab.read(real_time.lab)
        numbers = bench.device_ports
        for point in points:
            lab.check(bench, real_time.lab, str(source), point.scenario)
    for point in points:
        plan = make_plan(point.scenario, str(source), numbers)
        if hosts != "narrows" and (problems := linux.problems(plan, hosts)):
            raise InputError(f"{source}: --hosts {hosts}", problems)
        record = {
            "schema": RUN_SCHEMA,
            "name": source.stem,
            "scenario": point.scenario.resolved(),
            "point": point.values,
            "seed": point.scenario.seed,
            "target": target,
            "hosts": hosts,
            "program": {"sha256": digest},
            "versions": {"narrows": catalogue.engine().version()} | versions(hosts),
        }
        final = out / source.stem / point.name
        expected = expected_ps(point.scenario, plan)
        made.append(Job(point.name, json.dumps(plan), record, final, expected, real_time))
    return made


def reusable(job: Job) -> Json | None:
    """The summary of a finished run that is what `job` would write, if there is one."""
    try:
        record = json.loads((job.final / "run.json").read_text(encoding="utf-8"))
        summary: Json = json.loads((job.final / "summary.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    same = {key: record.get(key) for key in job.record} == json.loads(json.dumps(job.record))
    return summary if same and record.get("valid") else None


def sweep_leftovers(results: Path) -> None:
    """Removes what killed runs left, and puts back a run whose replacement never came."""
    for path in results.glob(".*"):
        found = LEFTOVER.fullmatch(path.name)
        if found is None or alive(int(found["pid"])):
            continue
        if found["kind"] == "retired" and not (results / found["point"]).exists():
            path.rename(results / found["point"])
        else:
            shutil.rmtree(path, ignore_errors=True)


def alive(pid: int) -> bool:
    """True when another process of that number runs."""
    if pid == os.getpid():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


class Worker:
    """A running job."""

    def __init__(self, job: Job, process: WorkerProcess) -> None:
        self.job = job
        self.began = time.monotonic()
        self.simulated_ps = 0
        self.last: Json = {}
        self.process = process
        process.give(job.as_text())

    @property
    def fraction(self) -> float:
        """The share done, below 1."""
        return min(self.simulated_ps / max(self.job.expected_ps, 1), 0.99)

    def read(self) -> bool:
        """Takes in what it says; true when the job is done, or the process has ended."""
        lines = self.process.read()
        for line in lines or ():
            message = json.loads(line)
            if "progress" in message:
                self.simulated_ps = message["progress"]["time_ps"]
            else:
                self.last = message
        return lines is None or bool(self.last)

    def outcome(self, spare: Spare | None = None) -> Outcome:
        """How it ended. A process that can do another job becomes a spare one."""
        status, errors = 0, ""
        if self.last and spare is not None and self.job.record["target"] == "sim":
            spare.put(self.process)
        else:
            status, errors = self.process.end()
        wall_s = time.monotonic() - self.began
        if "refused" in self.last:
            return Outcome(self.job, "refused", self.last["refused"], wall_s=wall_s)
        summary = self.last.get("summary")
        if summary is None:
            what = self.last.get("failed") or errors or f"its process ended with status {status}"
            return Outcome(self.job, "failed", what, wall_s=wall_s)
        if not summary["valid"]:
            what = f"invalid: {summary['invalid_reason']}"
            return Outcome(self.job, "failed", what, summary, wall_s)
        return Outcome(self.job, "done", "", summary, wall_s)

    def stop(self) -> None:
        """Ends it and removes what it had written."""
        self.process.stop()
        shutil.rmtree(self.job.partial, ignore_errors=True)


def run_one(job: Job) -> Outcome:
    """Runs one job here and now."""
    worker = Worker(job, WorkerProcess())
    while not worker.read():
        pass
    return worker.outcome()


def put_aside_finished(
    todo: Sequence[Job], resume: bool, display: Display
) -> tuple[dict[Path, Outcome], list[Job]]:
    """The outcomes, by the run's directory, of runs that are there already, where these are kept,
    and the jobs to do.

    Makes the directories of their results and removes what killed runs left there.
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


def run_all(
    todo: Sequence[Job], at_once: int, resume: bool, display: Display, spare: Spare
) -> list[Outcome]:
    """Runs the jobs, `at_once` at a time, and returns how each ended, in the jobs' order.

    On SIGINT or SIGTERM the running ones are stopped and leave nothing; `KeyboardInterrupt`.
    """
    outcomes, waiting = put_aside_finished(todo, resume, display)
    total_ps = sum(job.expected_ps for job in waiting)
    running = list[Worker]()
    try:
        with sigterm_as_interrupt(), selectors.DefaultSelector() as selector:
            while waiting or running:
                while waiting and len(running) < at_once:
                    worker = Worker(waiting.pop(0), spare.take())
                    running.append(worker)
                    selector.register(worker.process, selectors.EVENT_READ, worker)
                for key, _ in selector.select(timeout=1.0):
                    worker = key.data
                    if not worker.read():
                        continue
                    selector.unregister(worker.process)
                    running.remove(worker)
                    outcomes[worker.job.final] = outcome = worker.outcome(spare)
                    display.finished(outcome)
                ended_ps = sum(worked_ps(outcome) for outcome in outcomes.values())
                part_ps = sum(worker.fraction * worker.job.expected_ps for worker in running)
                simulated_s = sum(worker.simulated_ps for worker in running) / 1e12
                simulated_s += sum(simulated(outcome) for outcome in outcomes.values())
                display.update((ended_ps + part_ps) / max(total_ps, 1), simulated_s)
    finally:
        with interrupts_ignored():
            for worker in running:
                worker.stop()
    return [outcomes[job.final] for job in todo]


def worked_ps(outcome: Outcome) -> int:
    """How much of the progress is an ended run's; one that was there already took no time."""
    return 0 if outcome.state == "reused" else outcome.job.expected_ps


def simulated(outcome: Outcome) -> float:
    """Simulated seconds of a run that has ended."""
    return float(outcome.summary["duration_s"]) if outcome.summary else 0.0


@contextlib.contextmanager
def sigterm_as_interrupt() -> Iterator[None]:
    """Treats SIGTERM as Ctrl-C."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def interrupts_ignored() -> Iterator[None]:
    """Lets a clean-up finish."""
    before = [(number, signal.signal(number, signal.SIG_IGN)) for number in (signal.SIGINT,)]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)
