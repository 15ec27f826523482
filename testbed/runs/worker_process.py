"""The processes that runs are done in, each `python -m narrows.testbed.runs.worker TARGET`.

One can be started before its job is known: it imports what it needs while the scenario is read.
After a run in virtual time it takes the next one, since its start costs more than a short run.
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
    """A process of a target that waits for a job and does it, again and again in virtual time."""

    def __init__(self, target: Target) -> None:
        self.rest = b""
        """The beginning of a line."""
        self.errors: IO[str] = tempfile.TemporaryFile(mode="w+")  # noqa: SIM115 (see close)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "narrows.testbed.runs.worker", target.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env=environment(),
            process_group=0,  # so that the terminal's Ctrl-C comes to the parent only
        )

    def give(self, job: str) -> None:
        """Gives it a job, one line."""
        # What it said of the one before; the process writes where we are.
        self.errors.seek(0)
        self.errors.truncate()
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(job.encode() + b"\n")
            self.process.stdin.flush()

    def fileno(self) -> int:
        """What becomes readable when it says something, or ends."""
        assert self.process.stdout is not None
        return self.process.stdout.fileno()

    def read(self) -> list[str] | None:
        """The lines it has said, waiting for the first bytes of one; `None` when it has ended."""
        said = os.read(self.fileno(), READ_BYTES)
        if not said:
            return None
        *lines, self.rest = (self.rest + said).split(b"\n")
        return [line.decode() for line in lines]

    def end(self) -> tuple[int, str]:
        """Waits for its end: the exit status and what it wrote on standard error."""
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
    """Workers without a job; the first is started before there is one."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.workers = [WorkerProcess(target)]

    def take(self) -> WorkerProcess:
        """A spare one, or a new one."""
        return self.workers.pop() if self.workers else WorkerProcess(self.target)

    def put(self, worker: WorkerProcess) -> None:
        """Takes one back that has done its job."""
        self.workers.append(worker)


@contextlib.contextmanager
def spare(target: Target) -> Iterator[Spare]:
    """Starts a worker of a target; those that are spare at the end of the block end with it."""
    spare = Spare(target)
    try:
        yield spare
    finally:
        for worker in spare.workers:
            worker.stop()
