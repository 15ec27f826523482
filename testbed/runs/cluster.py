"""Runs on the workers of a Dask scheduler: `narrows run … --scheduler ADDRESS`.

A run is one task. Its parcel holds all inputs (plan, P4 program, the fixed part of `run.json`), so
workers need the same version of narrows but no shared disk. The task's key is the SHA-256 of the
parcel, so equal runs of several clients are one task. If a worker dies, Dask repeats its task on
another. A task stays published on the scheduler until a client collects its result. So a client
that is killed and restarted finds finished and running tasks.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from narrows.testbed import engine
from narrows.testbed.files import publish
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.runs.jobs import Display, Ended, Job, Outcome
from narrows.testbed.runs.local import interrupts_ignored, run_one, sigterm_as_interrupt
from narrows.testbed.runs.run_directories import put_aside_finished

if TYPE_CHECKING:
    from narrows.schema.run import RunRecord
    from narrows.schema.summary import Summary

AT_ONCE: Final = 1000
"""Maximum tasks on the scheduler at once; the others wait in the client."""
CONNECT_S: Final = 10
"""How long to wait for the scheduler."""


@dataclass(frozen=True)
class Parcel:
    """A run as sent to a worker."""

    name: str
    plan: str
    """The plan; it refers to programs by their names in `files`."""
    record: RunRecord
    files: dict[str, str]
    """The programs and their accompanying files, by file name."""
    version: str

    @property
    def key(self) -> str:
        """The task's key: equal for equal runs."""
        content = json.dumps(asdict(self), sort_keys=True)
        return f"narrows-{hashlib.sha256(content.encode()).hexdigest()}"


@dataclass(frozen=True)
class Result:
    """The result of a task: the outcome, and the run directory as a tar file."""

    state: Literal["done", "reused", "refused", "failed"]
    message: str
    summary: Summary | None
    wall_s: float
    tar: bytes
    sha256: str
    """SHA-256 of the tar file."""


def pack(job: Job) -> Parcel:
    """Packs a job. Raises `OSError` if a program cannot be read."""
    plan = json.loads(job.plan)
    files = {}
    for switch in plan["switches"]:
        program = Path(switch["program"])
        p4info = program.with_suffix(".p4info.txtpb")
        # Keep programs with the same name from different directories apart.
        digest = hashlib.sha256(str(program).encode()).hexdigest()[:8]
        switch["program"] = f"{digest}-{program.name}"
        files[switch["program"]] = program.read_text(encoding="utf-8")
        if p4info.exists():
            files[f"{digest}-{p4info.name}"] = p4info.read_text(encoding="utf-8")
    return Parcel(job.name, json.dumps(plan), job.record, files, engine.version())


def run_parcel(parcel: Parcel) -> Result:
    """The task: runs a parcel in a new directory and a new process."""
    own = engine.version()
    if own != parcel.version:
        message = (
            f"a worker has narrows {own}, the client {parcel.version}; expected equal versions"
        )
        return Result("refused", message, None, 0.0, b"", hashlib.sha256().hexdigest())
    with tempfile.TemporaryDirectory(prefix="narrows-") as name:
        directory = Path(name)
        for file, text in parcel.files.items():
            (directory / file).write_text(text, encoding="utf-8")
        plan = json.loads(parcel.plan)
        for switch in plan["switches"]:
            switch["program"] = str(directory / switch["program"])
        job = Job(parcel.name, json.dumps(plan), parcel.record, directory / "run", 0)
        outcome = run_one(job)
        tar = _tar(job.final)
    digest = hashlib.sha256(tar).hexdigest()
    return Result(outcome.state, outcome.message, outcome.summary, outcome.wall_s, tar, digest)


def unpack(job: Job, result: Result) -> Outcome:
    """Stores a result. The run has failed if the result is corrupt or the disk is full."""
    if hashlib.sha256(result.tar).hexdigest() != result.sha256:
        return Outcome(job, "failed", f"its result is corrupt (expected SHA-256 {result.sha256})")
    if result.tar:
        job.partial.mkdir(parents=True)
        with tarfile.open(fileobj=io.BytesIO(result.tar)) as tar:
            unpack_files(tar, job.partial)
        publish(job.partial, job.final)
    return Outcome(job, result.state, result.message, result.summary, result.wall_s)


def unpack_files(tar: tarfile.TarFile, directory: Path) -> None:
    """Extracts the regular files of an archive into one directory, by their base names.

    Python 3.11.2 (Debian 12) has no `filter` argument of `extractall`.
    """
    for member in tar:
        content = tar.extractfile(member)
        if content is not None:
            (directory / Path(member.name).name).write_bytes(content.read())


def run_all(address: str, todo: Sequence[Job], resume: bool, display: Display) -> list[Outcome]:
    """Runs the jobs on a scheduler's workers and returns their outcomes, in the jobs' order.

    SIGINT and SIGTERM cancel the tasks and raise `KeyboardInterrupt`. Raises `InputError` if no
    scheduler answers at the address, or Dask is not installed.
    """
    outcomes, waiting = put_aside_finished(todo, resume, display)
    ended = Ended(outcomes.values())
    parcels = ((job, pack(job)) for job in waiting)
    total_ps = sum(job.expected_ps for job in waiting)
    client = connect(address)
    tasks = Tasks(client)
    try:
        with sigterm_as_interrupt():
            for _ in range(AT_ONCE):
                tasks.submit_next(parcels)
            for job, result in tasks.finished(parcels):
                outcomes[job.final] = outcome = unpack(job, result)
                ended.add(outcome)
                display.finished(outcome)
                display.update(ended.worked_ps / max(total_ps, 1), ended.simulated_s)
    except KeyboardInterrupt:
        with interrupts_ignored():
            tasks.cancel()
        raise
    finally:
        client.close()
    return [outcomes[job.final] for job in todo]


def connect(address: str) -> Any:
    """A client of the scheduler. Raises `InputError`."""
    try:
        from distributed import Client
    except ImportError:
        problem = Problem("", "needs Dask: pip install 'narrows[cluster]'")
        raise InputError("--scheduler", [problem]) from None
    if not re.fullmatch(r"(\w+://)?[^/]+:\d+", address):
        raise InputError("--scheduler", [Problem(address, "expected tcp://HOST:PORT")])
    try:
        return Client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        problem = Problem(address, f"no Dask scheduler there ({error})")
        raise InputError("--scheduler", [problem]) from None


class Tasks:
    """The tasks on the scheduler."""

    def __init__(self, client: Any) -> None:
        from distributed import as_completed

        self._client = client
        self._completed = as_completed(loop=client.loop)
        self._jobs: dict[str, tuple[Job, Any]] = {}

    def submit_next(self, parcels: Iterator[tuple[Job, Parcel]]) -> None:
        """Submits the next parcel, if any remains.

        A published task outlives this client. A task with this key may already exist.
        """
        for job, parcel in parcels:
            future = self._client.submit(run_parcel, parcel, key=parcel.key)
            self._client.publish_dataset(future, name=parcel.key, override=True)
            self._jobs[parcel.key] = (job, future)
            self._completed.add(future)
            return

    def finished(self, parcels: Iterator[tuple[Job, Parcel]]) -> Iterator[tuple[Job, Result]]:
        """Yields each job that ends, with its result, and submits the next parcel."""
        for future in self._completed:
            job, _ = self._jobs[future.key]
            if future.status == "finished":
                yield job, future.result()
            else:
                # Several workers died while running it, or its result could not be sent.
                yield job, Result("failed", str(future.exception()), None, 0.0, b"",
                                  hashlib.sha256().hexdigest())  # fmt: skip
            self._client.unpublish_dataset(future.key)
            del self._jobs[future.key]
            self.submit_next(parcels)

    def cancel(self) -> None:
        """Cancels the unfinished tasks."""
        for key, (_, future) in self._jobs.items():
            self._client.unpublish_dataset(key)
            future.cancel()


def _tar(directory: Path) -> bytes:
    """A tar of a directory's files, without owners and dates; empty if the directory does not
    exist.
    """
    if not directory.is_dir():
        return b""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as tar:
        for path in sorted(directory.iterdir()):
            about = tarfile.TarInfo(path.name)
            about.size = path.stat().st_size
            with path.open("rb") as file:
                tar.addfile(about, file)
    return content.getvalue()
