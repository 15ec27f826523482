"""Handles of worker processes, each `python -m narrows.testbed.runs.worker TARGET`.

A worker can start before its job is known, so that it loads its imports while the scenario is read.
After a run in virtual time it takes the next job, since a start takes longer than a short run.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import IO

from narrows.testbed.child_process import environment
from narrows.testbed.targets.base import Target

READ_BYTES = 1 << 16


class WorkerProcess:
    """A process of a target that waits for a job and runs it; in virtual time it repeats this."""

    def __init__(self, target: Target) -> None:
        self.rest = b""
        """The incomplete last line."""
        self.errors: IO[str] = tempfile.TemporaryFile(mode="w+")  # noqa: SIM115 (see close)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "narrows.testbed.runs.worker", target.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env=environment(),
            process_group=0,  # so that only the parent receives the terminal's Ctrl-C
        )

    def give(self, job: str) -> None:
        """Sends it a job as one line."""
        # Errors of the previous job; the process writes at the shared file offset.
        self.errors.seek(0)
        self.errors.truncate()
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(job.encode() + b"\n")
            self.process.stdin.flush()

    def fileno(self) -> int:
        """The stream that becomes readable when it writes or ends."""
        assert self.process.stdout is not None
        return self.process.stdout.fileno()

    def read(self) -> list[str] | None:
        """Its complete lines, after waiting for output; `None` if it has ended."""
        said = os.read(self.fileno(), READ_BYTES)
        if not said:
            return None
        *lines, self.rest = (self.rest + said).split(b"\n")
        return [line.decode() for line in lines]

    def end(self) -> tuple[int, str]:
        """Waits for its end; returns the exit status and its standard error."""
        self.process.communicate()
        status = self.process.returncode
        self.errors.seek(0)
        said = self.errors.read().strip()
        self.errors.close()
        return status, said

    def stop(self) -> None:
        """Ends it."""
        self.process.terminate()
        self.end()


class Spare:
    """Idle workers; the first starts before a job exists."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.workers = [WorkerProcess(target)]

    def take(self) -> WorkerProcess:
        """Returns a spare worker, or a new one."""
        return self.workers.pop() if self.workers else WorkerProcess(self.target)

    def put(self, worker: WorkerProcess) -> None:
        """Takes back a worker that has finished its job."""
        self.workers.append(worker)


@contextlib.contextmanager
def spare(target: Target) -> Iterator[Spare]:
    """Starts a worker of a target; ends all spare workers at the end of the block."""
    spare = Spare(target)
    try:
        yield spare
    finally:
        for worker in spare.workers:
            worker.stop()
