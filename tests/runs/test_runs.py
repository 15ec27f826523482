"""Whole runs through the command: equal bytes every time, and no incomplete files."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from narrows.testbed import child_process
from narrows.testbed.runs import jobs as runs
from narrows.testbed.runs import local, worker_process
from narrows.testbed.runs.progress import Silent
from narrows.testbed.scenario import sweep
from narrows.testbed.targets.sim import SIM
from tests.support.world import TWO_FLOWS, command, environment, narrows, write

SWEEP = """
[sweep]
"flow.variant" = ["reno", "new-aimd", "cubic"]
repeat = 2
"""

RUN_FILES = {
    "run.json",
    "summary.json",
    "queue.parquet",
    "flows.parquet",
    "packets.parquet",
    "messages.parquet",
}


def digests(results: Path) -> dict[str, str]:
    """SHA-256 of every file of every run directory."""
    files = [path for path in results.glob("*/*") if path.is_file()]
    return {
        str(path.relative_to(results)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }


def test_a_seed_gives_the_same_bytes_on_one_and_two_processes(tmp_path: Path) -> None:
    source = write(tmp_path, TWO_FLOWS + SWEEP)
    found = []
    for out, jobs in (("one", 1), ("two", 2), ("one", 2)):
        ran = narrows("run", source, "--out", tmp_path / out, "--jobs", str(jobs))
        assert ran.returncode == 0, ran.stderr
        found.append(digests(tmp_path / out / "scenario"))
    assert len(found[0]) == 6 * len(RUN_FILES)
    assert {Path(name).name for name in found[0]} == RUN_FILES
    assert found[0] == found[1] == found[2]


def test_a_process_does_one_run_after_the_other(tmp_path: Path) -> None:
    source = write(tmp_path, TWO_FLOWS)
    read = sweep.read(source, [("duration", "1s"), ("sweep.repeat", 3)])
    todo = runs.make_jobs(source, read, tmp_path, SIM)
    with worker_process.spare(SIM) as spare:
        first = spare.workers[0]
        outcomes = local.run_all(todo, 1, False, Silent(), spare)
        # A second one may begin while the first stores its run.
        assert first in spare.workers
        assert len(spare.workers) <= 2
    assert [outcome.state for outcome in outcomes] == ["done"] * 3


@pytest.mark.parametrize(
    ("computing", "storing", "begins"),
    [(0, 0, True), (1, 0, True), (2, 0, False), (1, 2, True), (0, 3, True), (1, 3, False)],
)
def test_runs_that_wait_for_the_disk_make_room_for_as_many(
    computing: int, storing: int, begins: bool
) -> None:
    running = [cast("local.Worker", SimpleNamespace(is_storing=index < storing))
               for index in range(computing + storing)]  # fmt: skip
    assert local.may_begin(running, 2) is begins


def test_runs_of_one_name_in_two_directories_are_two(tmp_path: Path) -> None:
    source = write(tmp_path, TWO_FLOWS)
    read = sweep.read(source, [("duration", "1s")])
    one, other = (
        runs.make_jobs(source, read, tmp_path / name, SIM)[0] for name in ("one", "other")
    )
    assert one.name == other.name
    with worker_process.spare(SIM) as spare:
        local.run_all([one], 1, False, Silent(), spare)
        outcomes = local.run_all([one, other], 1, True, Silent(), spare)
    assert [outcome.state for outcome in outcomes] == ["reused", "done"]
    # Finished runs took no time here, so they do not affect the time left.
    assert [runs.Ended([outcome]).worked_ps for outcome in outcomes] == [0, 10**12]


HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")


@pytest.mark.skipif(
    platform.libc_ver() < ("glibc", "2.35")
    or not HUGE_PAGES.exists()
    or "[never]" in HUGE_PAGES.read_text(),
    reason="needs glibc 2.35 and a kernel that gives huge pages to whoever asks",
)
def test_what_a_process_allocates_may_lie_in_huge_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.arena_max=2")
    found = child_process.environment()
    assert found["GLIBC_TUNABLES"].endswith(":glibc.malloc.arena_max=2")
    allocates = (
        "kept = [bytes(1000) for _ in range(20_000)]; print(open('/proc/self/smaps').read())"
    )
    command = [sys.executable, "-c", allocates]
    smaps = subprocess.run(command, env=found, capture_output=True, text=True, check=True).stdout
    # proc_pid_smaps(5): a mapping advised to use them has the flag hg.
    flags = [line.split()[1:] for line in smaps.splitlines() if line.startswith("VmFlags:")]
    assert any("hg" in of_one for of_one in flags)


def test_another_seed_gives_another_run(tmp_path: Path) -> None:
    source = write(tmp_path, TWO_FLOWS.replace('every = "100ms"', 'spread = "100ms"'))
    for seed in ("1", "2"):
        ran = narrows("run", source, "--out", tmp_path / "out", "--seed", seed)
        assert ran.returncode == 0, ran.stderr
    one, two = (tmp_path / f"out/scenario/seed={seed}/queue.parquet" for seed in (1, 2))
    assert one.read_bytes() != two.read_bytes()


def test_run_json_says_what_was_run(tmp_path: Path) -> None:
    source = write(tmp_path, TWO_FLOWS + SWEEP)
    ran = narrows("run", source, "--out", tmp_path, "--set", "flow.variant=reno")
    assert ran.returncode == 0, ran.stderr
    record = json.loads((tmp_path / "scenario/variant=reno,seed=2/run.json").read_text())
    assert record["schema"] == 1
    assert record["seed"] == 2
    assert record["point"] == {"flow.variant": "reno", "seed": 2}
    assert record["scenario"]["title"] == "Two flows through 5 Mb/s"
    assert record["scenario"]["bottleneck"]["rate"] == "5Mbps"
    assert record["target"] == "sim"
    assert record["segment_bytes"] == [1448, 1448]
    assert record["valid"] is True
    assert len(record["program"]["sha256"]) == 64
    host = json.loads((tmp_path / "scenario/host.json").read_text())
    assert set(host["wall_s"]) == {"variant=reno,seed=1", "variant=reno,seed=2"}
    assert "variant=reno,seed=2" in ran.stderr


def test_resume_keeps_finished_runs_that_are_the_same(tmp_path: Path) -> None:
    source = write(tmp_path, TWO_FLOWS)
    summary = tmp_path / "scenario/seed=1/summary.json"
    assert narrows("run", source, "--out", tmp_path).returncode == 0
    for text, kept in ((TWO_FLOWS, True), (TWO_FLOWS.replace("20packets", "30packets"), False)):
        before = summary.stat().st_mtime_ns
        source.write_text(text)
        ran = narrows("run", source, "--out", tmp_path, "--resume")
        assert ran.returncode == 0
        assert ("there already" in ran.stderr) == kept
        assert (summary.stat().st_mtime_ns == before) == kept


LONG = TWO_FLOWS.replace('"5s"', '"20000s"')
"""A run without tables that is longer than any test."""

QUIET = """
[record]
queue = false
packets = false
flows = "off"
messages = false
[telemetry]
every = 0
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_stopped_sweep_leaves_finished_runs_and_nothing_else(
    tmp_path: Path, how: signal.Signals
) -> None:
    text = LONG + QUIET + '[sweep]\nduration = ["1s", "20000s", "20001s", "20002s"]\n'
    source = write(tmp_path, text)
    results = tmp_path / "scenario"
    with subprocess.Popen(
        command("run", source, "--out", tmp_path, "--jobs", "2"),
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    ) as sweep:
        # The first run is finished, and both processes execute the long ones.
        wait_for(lambda: len(list(results.glob(".*.partial"))) == 2 and finished(results))
        os.kill(sweep.pid, how)
        _, errors = sweep.communicate(timeout=30)
    assert sweep.returncode == (-how if how == signal.SIGKILL else 130), errors
    assert ("--resume" in errors) == (how != signal.SIGKILL)
    assert "Traceback" not in errors
    # After SIGKILL the workers notice that the parent is gone.
    wait_for(lambda: not list(results.glob(".*.partial")))
    assert finished(results) == ["duration=1s,seed=1"]
    assert [path.name for path in results.iterdir() if path.is_dir()] == ["duration=1s,seed=1"]
    assert {path.name for path in (results / "duration=1s,seed=1").iterdir()} >= {"run.json"}


def test_what_a_killed_run_left_is_swept(tmp_path: Path) -> None:
    results = tmp_path / "scenario"
    ended = subprocess.Popen(["true"])
    ended.wait()
    # Half a run; a run that was being replaced at a power failure; a live process's run.
    (results / f".seed=1.{ended.pid}.partial").mkdir(parents=True)
    (results / f".seed=9.{ended.pid}.retired").mkdir()
    (results / f".seed=9.{ended.pid}.retired/run.json").write_text("{}")
    (results / f".seed=8.{os.getpid()}.partial").mkdir()
    ran = narrows("run", write(tmp_path, TWO_FLOWS), "--out", tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert {path.name for path in results.iterdir()} == {
        "seed=1",
        "seed=9",
        f".seed=8.{os.getpid()}.partial",
        "host.json",
        "points.json",
        "runs.csv",
        "runs.parquet",
    }


def finished(results: Path) -> list[str]:
    return sorted(path.parent.name for path in results.glob("[!.]*/run.json"))


def wait_for(condition: object) -> None:
    """Waits at most 30 s until the condition holds."""
    assert callable(condition)
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, "waited for 30 s"
        time.sleep(0.05)


def test_a_run_that_reaches_its_limit_is_invalid(tmp_path: Path) -> None:
    text = TWO_FLOWS.replace('duration = "5s"', 'duration = "completion"\nlimit = "2s"')
    text = text.replace("count = 2", 'count = 2\napp = { kind = "bulk", bytes = "100MB" }')
    ran = narrows("run", write(tmp_path, text), "--out", tmp_path)
    assert ran.returncode == 1
    assert "invalid" in ran.stderr
    record = json.loads((tmp_path / "scenario/seed=1/run.json").read_text())
    assert record["valid"] is False
    assert record["invalid_reason"]
