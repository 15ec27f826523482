"""A simulated power cut: what was called finished is whole, and nothing else looks finished.

The results are on ext4 in a file, by a loop device. What the kernel has not written to the device
is not in the file, so a copy of the file is the disk after a power cut.
"""

from __future__ import annotations

import filecmp
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from narrows.analysis.load import load
from narrows.testbed.cli.main import main
from narrows.testbed.files import replace_json
from tests.support.world import TWO_FLOWS, command, environment, narrows, write

SIZE_MB = 96
MOUNTS = shutil.which("mkfs.ext4") is not None and os.geteuid() == 0 and Path("/dev/loop0").exists()
QUEUES = ["10packets", "20packets", "30packets"]


def sweep(queues: list[str]) -> str:
    """A scenario with a short run for each queue."""
    text = TWO_FLOWS.replace('duration = "5s"', 'duration = "1s"')
    return f'{text}\n[sweep]\n"bottleneck.queue" = {queues}\n'


pytestmark = pytest.mark.skipif(not MOUNTS, reason="needs root, mkfs.ext4 and a loop device")


class Disk:
    """A disk that loses what was not synced."""

    def __init__(self, directory: Path) -> None:
        self.image, self.top = directory / "image", directory / "top"
        self._after, self._copy, self._cuts = directory / "after", directory / "copy", 0
        with self.image.open("wb") as file:
            file.truncate(SIZE_MB * 10**6)
        subprocess.run(["mkfs.ext4", "-q", "-F", self.image], check=True)
        for at in (self.top, self._after):
            at.mkdir()
        # The kernel writes nothing by itself for five minutes.
        mount(self.image, self.top, "loop,commit=300")

    def cut(self) -> Path:
        """The disk's content after a power cut now; nobody may write while it is copied."""
        unmount(self._after)
        self._copy.unlink(missing_ok=True)
        # A new name: mount would take the loop device of the same file, should it still be there.
        self._copy = self.image.with_name(f"copy{self._cuts}")
        self._cuts += 1
        self._copy_at_one_instant()
        mount(self._copy, self._after, "loop")
        return self._after

    def _copy_at_one_instant(self) -> None:
        """Copies the image as it is when the copy ends: a second reading finds the same bytes.

        The kernel's own threads may write back to the image at any time.
        """
        for _ in range(20):
            shutil.copyfile(self.image, self._copy)
            if filecmp.cmp(self.image, self._copy, shallow=False):
                return
            time.sleep(0.1)
        raise AssertionError("the kernel does not stop writing to the disk")

    def close(self) -> None:
        for at in (self._after, self.top):
            unmount(at)


def mount(image: Path, at: Path, options: str) -> None:
    ran = subprocess.run(
        ["mount", "-o", options, image, at], capture_output=True, text=True, check=False
    )
    if ran.returncode != 0:
        pytest.skip(f"cannot mount: {ran.stderr.strip()}")


def unmount(at: Path) -> None:
    if at.is_mount():
        subprocess.run(["umount", at], check=True)


@contextmanager
def stopped(session: int) -> Iterator[None]:
    """No process of the session runs within; a write that it had begun is over.

    A copy takes a while. Otherwise it could have the journal of a later instant than the data.
    """
    again = time.monotonic() + 1
    deadline = again + 60
    try:
        while running := set(running_in(session)):
            assert time.monotonic() < deadline, "a process of the run does not stop"
            if time.monotonic() > again:
                # A process waits in vfork for its child, which stopped before its exec.
                send(signal.SIGCONT, {process for process, _ in states(session)})
                time.sleep(0.01)
                again += 1
            send(signal.SIGSTOP, running)
            time.sleep(0.001)
        yield
    finally:
        send(signal.SIGCONT, {process for process, _ in states(session)})


def running_in(session: int) -> Iterator[int]:
    """The processes of a session with a thread that is neither stopped nor dead."""
    return (process for process, state in states(session) if state not in "TtZX")


def states(session: int) -> Iterator[tuple[int, str]]:
    """The process and the state of each thread of a session."""
    for status in Path("/proc").glob("[0-9]*/task/[0-9]*/stat"):
        try:
            # After the name, which may hold anything: state, parent, process group, session.
            state, _, _, of = status.read_text().rpartition(")")[2].split()[:4]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(of) == session:
            yield int(status.parts[2]), state


def send(number: int, processes: set[int]) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, number)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    made = Disk(tmp_path)
    yield made
    made.close()


def test_the_disk_loses_what_was_not_synced(disk: Disk) -> None:
    (disk.top / "unsynced").write_text("text")
    (disk.top / "old").write_text('{"a": 1}\n')
    os.sync()
    (disk.top / "old").write_text("new")
    (disk.top / "late").write_text("text")
    replace_json(disk.top / "synced", {"a": 2})
    after = disk.cut()
    assert (after / "unsynced").read_text() == "text"
    assert not (after / "late").exists() or (after / "late").read_bytes() == b""
    assert (after / "synced").read_text() == '{\n "a": 2\n}\n'


def finished(out: Path) -> set[str]:
    """The runs that have their names."""
    return {path.parent.name for path in out.glob("[!.]*/run.json")}


def test_a_finished_scenario_outlives_a_power_cut(disk: Disk, tmp_path: Path) -> None:
    source = write(tmp_path, sweep(QUEUES))
    ran = narrows("run", source, "--out", disk.top / "results")
    assert ran.returncode == 0, ran.stderr
    after = disk.cut() / "results/scenario"
    assert main(["check", str(after)]) == 0
    assert [run.point["bottleneck.queue"] for run in load(after)] == QUEUES
    for name in ("points.json", "host.json", "runs.parquet", "runs.csv"):
        assert (after / name).read_bytes() == (disk.top / "results/scenario" / name).read_bytes()
    ran = narrows("run", source, "--out", after.parent, "--resume")
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr.count("there already") == len(QUEUES), ran.stderr


def test_power_cuts_amid_a_sweep_lose_no_finished_run(disk: Disk, tmp_path: Path) -> None:
    """A run that a cut finds finished is whole, and one that was said to be finished is found."""
    source = write(tmp_path, sweep(QUEUES))
    found, cuts = set[str](), 0
    with subprocess.Popen(
        command("run", source, "--out", disk.top / "results", "--jobs", "1", "--no-figures"),
        env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        for line in process.stdout:
            with stopped(process.pid):
                after = disk.cut() / "results/scenario"
                named = finished(disk.top / "results/scenario")
            cuts += 1
            here = finished(after)
            # The line that says so comes after the run was synced.
            assert here >= found, line
            found = named & here
            if here:
                assert main(["check", str(after)]) == 0
    assert process.returncode == 0 and cuts > len(QUEUES)
    assert finished(disk.cut() / "results/scenario") == finished(disk.top / "results/scenario")
    assert len(found) == len(QUEUES)


BUNDLE = "from narrows.testbed.cli.main import main; import sys; sys.exit(main(sys.argv[1:]))"


def test_a_bundle_outlives_a_power_cut(disk: Disk, tmp_path: Path) -> None:
    source = write(tmp_path, sweep(QUEUES[:1]))
    assert narrows("run", source, "--out", tmp_path / "results").returncode == 0
    bundle = disk.top / "one.narrows.zip"
    made = subprocess.run(
        [sys.executable, "-c", BUNDLE, "artifact", tmp_path / "results/scenario", "--out", bundle],
        env=environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    assert (disk.cut() / bundle.name).read_bytes() == bundle.read_bytes()
