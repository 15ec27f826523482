"""The processes that runs are done in, each `python -m testbed.worker`.

One can be started before its job is known: it imports what it needs while the scenario is read.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parents[1]


class WorkerProcess:
    """A process that waits for a job, does it, and ends."""

    def __init__(self) -> None:
        self.errors: IO[str] = tempfile.TemporaryFile(mode="w+")  # noqa: SIM115 (see close)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "testbed.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            env={**os.environ, "PYTHONPATH": python_path()},
            process_group=0,  # so that the terminal's Ctrl-C comes to the parent only
        )

    def give(self, job: str) -> None:
        """Gives it its job; an empty one lets it end."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError), self.process.stdin as stdin:
            stdin.write(job)

    @property
    def lines(self) -> IO[str]:
        """What it says."""
        assert self.process.stdout is not None
        return self.process.stdout

    def end(self) -> tuple[int, str]:
        """Waits for its end: the exit status and what it wrote on standard error."""
        status = self.process.wait()
        self.lines.close()
        self.errors.seek(0)
        said = self.errors.read().strip()
        self.errors.close()
        return status, said

    def stop(self) -> None:
        """Ends it."""
        self.process.terminate()
        self.end()


class Spare:
    """A worker that was started before there was a job for it."""

    def __init__(self) -> None:
        self.worker: WorkerProcess | None = WorkerProcess()

    def take(self) -> WorkerProcess:
        """The spare one, or a new one."""
        worker, self.worker = self.worker or WorkerProcess(), None
        return worker


@contextlib.contextmanager
def spare() -> Iterator[Spare]:
    """Starts a worker; one that nobody took ends with the block."""
    spare = Spare()
    try:
        yield spare
    finally:
        if spare.worker is not None:
            spare.worker.give("")
            spare.worker.stop()


def python_path() -> str:
    """PYTHONPATH with this checkout first, so that a worker finds it from any directory."""
    before = os.environ.get("PYTHONPATH")
    return f"{ROOT}{os.pathsep}{before}" if before else str(ROOT)
