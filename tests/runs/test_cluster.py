"""A sweep on a Dask scheduler with two worker processes, some of which die."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from narrows.testbed.problems import InputError
from narrows.testbed.runs import cluster, local
from narrows.testbed.runs import jobs as runs
from narrows.testbed.scenario import sweep
from narrows.testbed.targets.sim import SIM
from tests.support.world import ROOT, narrows
from tests.support.world import write as write_scenario

pytest.importorskip("distributed", reason="no Dask (pip install distributed)")

SCENARIO = """
title = "Six points"
duration = "30s"
[bottleneck]
rate = "20Mbps"
delay = "5ms"
queue = "1bdp"
[access]
rate = "1Gbps"
delay = "1ms"
[[flow]]
variant = "reno"
[sweep]
"flow.count" = [1, 2, 3]
"flow.variant" = ["reno", "cubic"]
"""
COMMAND = [sys.executable, "-m", "narrows"]
ENVIRONMENT = os.environ | {
    "PYTHONPATH": str(ROOT),
    "DASK_DISTRIBUTED__ADMIN__EVENT_LOOP": "asyncio",
}


@dataclass
class Cluster:
    """A scheduler and its workers, one process each."""

    address: str
    directory: Path
    processes: list[subprocess.Popen[bytes]]

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """`dask …`, with its output in a file."""
        with (self.directory / f"dask-{len(self.processes)}.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", *arguments], cwd=self.directory, env=ENVIRONMENT,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip
        self.processes.append(process)
        return process

    def start_worker(self) -> subprocess.Popen[bytes]:
        """A worker that runs one task at a time and is not restarted when it dies."""
        return self.start("worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard",
                          "--host", "127.0.0.1")  # fmt: skip

    def count(self, what: Callable[..., Any]) -> int:
        """A value from the scheduler; `what` receives it as `dask_scheduler`."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            return int(client.run_on_scheduler(what))


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[Cluster]:
    started = Cluster("", tmp_path, [])
    try:
        started.start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        log = tmp_path / "dask-0.log"
        wait(lambda: "Scheduler at" in log.read_text())
        line = next(line for line in log.read_text().splitlines() if "Scheduler at" in line)
        started.address = "tcp://" + line.split("tcp://")[1].strip()
        yield started
    finally:
        for process in started.processes:
            process.kill()
            process.wait()


def wait(true: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def runs_a_point(process: subprocess.Popen[bytes]) -> bool:
    """Whether a worker has a run in progress: a child process of its own."""
    children = Path(f"/proc/{process.pid}/task").glob("*/children")
    return any(path.read_text().strip() for path in children)


def contents(results: Path) -> dict[str, str]:
    """The digest of every file of every run."""
    return {
        path.relative_to(results).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(results.glob("[!.]*/*"))
        if path.is_file()
    }


needs_proc = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="no /proc")


@needs_proc
def test_a_worker_dies_and_the_results_are_those_of_one_machine(
    dask: Cluster, tmp_path: Path
) -> None:
    source = write_scenario(tmp_path, SCENARIO, "six")
    workers = [dask.start_worker(), dask.start_worker()]
    client = subprocess.Popen(
        [*COMMAND, "run", str(source), "--scheduler", dask.address, "--no-figures",
         "--out", str(tmp_path / "far")],
        env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    wait(lambda: runs_a_point(workers[0]))
    workers[0].kill()
    output, _ = client.communicate(timeout=120)
    assert client.returncode == 0, output
    near = narrows("run", source, "--out", tmp_path / "near", "--no-figures")
    assert near.returncode == 0, near.stderr
    expected = contents(tmp_path / "near/six")
    assert len(expected) >= 6 * 6
    assert contents(tmp_path / "far/six") == expected
    # No task remains on the scheduler.
    assert dask.count(lambda dask_scheduler: len(dask_scheduler.tasks)) == 0


@needs_proc
def test_a_client_that_died_finds_its_tasks_again(dask: Cluster, tmp_path: Path) -> None:
    source = write_scenario(tmp_path, SCENARIO, "six")
    worker = dask.start_worker()
    command = [*COMMAND, "run", str(source), "--scheduler", dask.address, "--no-figures",
               "--resume", "--out", str(tmp_path / "far")]  # fmt: skip
    client = subprocess.Popen(
        command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
    )
    wait(lambda: runs_a_point(worker))
    wait(lambda: dask.count(lambda dask_scheduler: len(dask_scheduler.tasks)) == 6)
    wait(lambda: dask.count(unpublished) == 0)
    os.kill(client.pid, signal.SIGKILL)
    client.wait()

    # The worker continues without it, and nothing is computed again for the second client.
    wait(lambda: dask.count(unfinished) == 0)
    before = dask.count(computed)
    again = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert dask.count(computed) == before
    assert len(contents(tmp_path / "far/six")) >= 6 * 6


def unpublished(dask_scheduler: Any) -> int:
    """Tasks that would end with their client."""
    return len(dask_scheduler.tasks.keys() - dask_scheduler.extensions["publish"].datasets.keys())


def unfinished(dask_scheduler: Any) -> int:
    """Tasks without a result that a worker holds. A client may have died just after it stored a
    result, whose task is then still there.
    """
    return sum(task.state != "memory" for task in dask_scheduler.tasks.values())


def computed(dask_scheduler: Any) -> int:
    """Number of times that a worker finished a task."""
    moves = [(entry[1], entry[2]) for entry in dask_scheduler.transition_log]
    return moves.count(("processing", "memory"))


def test_no_scheduler_is_an_error_that_names_the_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "CONNECT_S", 1)
    with pytest.raises(InputError, match=r"no Dask scheduler there .*127\.0\.0\.1:1"):
        cluster.connect("tcp://127.0.0.1:1")


def parcel_of(tmp_path: Path, **settings: Any) -> tuple[runs.Job, cluster.Parcel]:
    source = write_scenario(tmp_path, SCENARIO, "six")
    read = sweep.read(source, [("duration", "1s"), *settings.items()])
    job = runs.make_jobs(source, read, tmp_path / "results", SIM)[0]
    return job, cluster.pack(job)


def test_a_parcel_holds_all_and_its_key_is_its_content(tmp_path: Path) -> None:
    job, parcel = parcel_of(tmp_path)
    assert str(ROOT) not in parcel.plan
    assert parcel_of(tmp_path)[1].key == parcel.key
    assert parcel_of(tmp_path, seed=2)[1].key != parcel.key
    outcome = cluster.unpack(job, cluster.run_parcel(parcel))
    assert outcome.state == "done"
    here = local.run_one(replace(job, final=tmp_path / "here" / job.name))
    assert here.state == "done"
    assert contents(job.final.parent) == contents(tmp_path / "here")


def test_another_version_and_a_damaged_result_are_no_runs(tmp_path: Path) -> None:
    job, parcel = parcel_of(tmp_path)
    refused = cluster.run_parcel(replace(parcel, version="0.0.0"))
    assert refused.state == "refused" and "has narrows" in refused.message
    result = cluster.run_parcel(parcel)
    damaged = cluster.unpack(job, replace(result, tar=result.tar[:-1]))
    assert damaged.state == "failed" and "corrupt" in damaged.message
    assert not job.final.exists()
    shutil.rmtree(job.final.parent, ignore_errors=True)
