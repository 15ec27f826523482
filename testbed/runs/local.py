"""Runs jobs on this machine in worker processes, several at a time."""

from __future__ import annotations

import contextlib
import json
import selectors
import shutil
import signal
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from narrows.schema.units import PS_PER_S
from narrows.testbed.runs.jobs import Display, Ended, Job, Outcome
from narrows.testbed.runs.run_directories import put_aside_finished
from narrows.testbed.runs.worker_process import Spare, WorkerProcess

if TYPE_CHECKING:
    from narrows.schema.run import WorkerMessage


class Worker:
    """A running job."""

    def __init__(self, job: Job, process: WorkerProcess) -> None:
        self.job = job
        self.began = time.monotonic()
        self.simulated_ps = 0
        self.is_storing = False
        """Whether the run has ended and its files go to the disk."""
        self.last: WorkerMessage = {}
        self.process = process
        process.give(job.as_text())

    @property
    def fraction(self) -> float:
        """The completed share, below 1."""
        return min(self.simulated_ps / max(self.job.expected_ps, 1), 0.99)

    def read(self) -> bool:
        """Reads its messages; returns true if the job is done or the process has ended."""
        lines = self.process.read()
        for line in lines or ():
            message = json.loads(line)
            if "progress" in message:
                self.simulated_ps = message["progress"]["time_ps"]
            elif "storing" in message:
                self.is_storing = True
            else:
                self.last = message
        return lines is None or bool(self.last)

    def outcome(self, spare: Spare | None = None) -> Outcome:
        """The outcome. A process that can do another job becomes a spare."""
        status, errors = 0, ""
        if self.last and spare is not None and not self.job.target.in_real_time:
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
        """Ends it and removes its output."""
        self.process.stop()
        shutil.rmtree(self.job.partial, ignore_errors=True)


def run_one(job: Job) -> Outcome:
    """Runs one job in the foreground."""
    worker = Worker(job, WorkerProcess(job.target))
    while not worker.read():
        pass
    return worker.outcome()


def run_all(
    todo: Sequence[Job], at_once: int, resume: bool, display: Display, spare: Spare
) -> list[Outcome]:
    """Runs the jobs, `at_once` at a time, and returns their outcomes, in the jobs' order.

    SIGINT and SIGTERM stop running jobs, remove their output and raise `KeyboardInterrupt`.
    """
    outcomes, todo_now = put_aside_finished(todo, resume, display)
    waiting, ended = deque(todo_now), Ended(outcomes.values())
    total_ps = sum(job.expected_ps for job in waiting)
    running = list[Worker]()
    try:
        with sigterm_as_interrupt(), selectors.DefaultSelector() as selector:
            while waiting or running:
                while waiting and may_begin(running, at_once):
                    worker = Worker(waiting.popleft(), spare.take())
                    running.append(worker)
                    selector.register(worker.process, selectors.EVENT_READ, worker)
                for key, _ in selector.select(timeout=1.0):
                    worker = key.data
                    if not worker.read():
                        continue
                    selector.unregister(worker.process)
                    running.remove(worker)
                    outcomes[worker.job.final] = outcome = worker.outcome(spare)
                    ended.add(outcome)
                    display.finished(outcome)
                part_ps = sum(worker.fraction * worker.job.expected_ps for worker in running)
                running_s = sum(worker.simulated_ps for worker in running) / PS_PER_S
                fraction = (ended.worked_ps + part_ps) / max(total_ps, 1)
                display.update(fraction, ended.simulated_s + running_s)
    finally:
        with interrupts_ignored():
            for worker in running:
                worker.stop()
    return [outcomes[job.final] for job in todo]


def may_begin(running: Sequence[Worker], at_once: int) -> bool:
    """Whether a run may begin beside these. One that is being stored waits for the disk, and does
    not count; up to as many as may run at once.
    """
    storing = sum(worker.is_storing for worker in running)
    return len(running) - min(storing, at_once) < at_once


@contextlib.contextmanager
def sigterm_as_interrupt() -> Iterator[None]:
    """Treats SIGTERM as Ctrl-C. Only the main thread may set this; elsewhere nothing changes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def interrupts_ignored() -> Iterator[None]:
    """Ignores signals during a clean-up; outside the main thread none arrive."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = [(number, signal.signal(number, signal.SIG_IGN)) for number in (signal.SIGINT,)]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)
