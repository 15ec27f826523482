"""The output before and during a run, and the error if its results can't be written."""

from __future__ import annotations

import io
import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest
from rich.console import Console

from narrows.testbed.runs import jobs, progress
from narrows.testbed.scenario import sweep
from narrows.testbed.scenario.understood import described
from narrows.testbed.targets.sim import SIM
from narrows.testbed.terminal import is_terminal
from tests.support.world import TWO_FLOWS, narrows, write


def tty() -> IO[str]:
    """A terminal."""
    controller, terminal = os.openpty()
    os.close(controller)
    return os.fdopen(terminal, "w")


def understood(tmp_path: Path, text: str, *sets: tuple[str, object]) -> list[str]:
    source = write(tmp_path, text)
    todo = jobs.make_jobs(source, sweep.read(source, sets), tmp_path, SIM)
    return described([job.path for job in todo if job.path])


def test_a_run_begins_with_its_path_and_queue(tmp_path: Path) -> None:
    # 2 x (2 x 1 ms + 5 ms) = 14 ms; 5 Mb/s x 14 ms = 8750 B, of 1514 B frames 5.78.
    assert understood(tmp_path, TWO_FLOWS) == [
        "bottleneck 5Mbps, base RTT 14ms, BDP 5.78 packets = 8.75 kB",
        "queue 20 packets = 30.3 kB = 48.4 ms = 3.46 BDP, packets of 1514 B",
    ]


@pytest.mark.parametrize(
    ("queue", "line"),
    [
        ("30280B", "queue 20 packets = 30.3 kB = 48.4 ms = 3.46 BDP, packets of 1514 B"),
        ("14ms", "queue 5.78 packets = 8.75 kB = 14 ms = 1 BDP, packets of 1514 B"),
        ("2bdp", "queue 11.6 packets = 17.5 kB = 28 ms = 2 BDP, packets of 1514 B"),
    ],
)
def test_a_queue_is_said_in_every_unit(tmp_path: Path, queue: str, line: str) -> None:
    assert understood(tmp_path, TWO_FLOWS, ("bottleneck.queue", queue))[1] == line


def test_a_sweep_says_the_least_and_the_greatest(tmp_path: Path) -> None:
    text = TWO_FLOWS + '[sweep]\nbottleneck.delay = ["5ms", "50ms"]\n'
    assert understood(tmp_path, text)[0] == (
        "bottleneck 5Mbps, base RTT 14ms to 104ms, BDP 5.78 to 42.9 packets = 8.75 kB to 65 kB"
    )


def test_packets_are_those_that_the_rate_counts(tmp_path: Path) -> None:
    for counts, size in (("ip", 1500), ("frame", 1514), ("wire", 1538)):
        lines = understood(tmp_path, TWO_FLOWS, ("bottleneck.counts", counts))
        assert lines[1].endswith(f"packets of {size} B")


def test_the_command_says_it_first(tmp_path: Path) -> None:
    ran = narrows("run", write(tmp_path, TWO_FLOWS), "--out", tmp_path, "--no-figures")
    assert ran.stderr.splitlines()[1].strip().startswith("bottleneck 5Mbps, base RTT 14ms")


@pytest.mark.parametrize(("in_real_time", "word"), [(True, "in real time"), (False, "simulated")])
def test_progress_names_its_clock(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    in_real_time: bool, word: str,
) -> None:  # fmt: skip
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    with progress.progress_display(4, in_real_time=in_real_time) as display:
        now[0] = 60.0
        display.update(0.25, 12.0)
    assert capsys.readouterr().err == f"0/4 runs, 25%, 12 s {word}, about 3 min 0 s left\n"


@pytest.mark.parametrize(("took_s", "has_bar"), [(0.1, False), (0.3, True)])
def test_a_terminal_has_a_bar_for_longer_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    took_s: float, has_bar: bool,
) -> None:  # fmt: skip
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    with progress.progress_display(4) as display:
        display.line("four runs")
        now[0] = took_s
        display.update(0.25, 12.0)
        display.line("one run")
    said = capsys.readouterr().err
    assert ("25 %" in said) == has_bar
    assert said.index("four runs") < said.index("one run")


@pytest.mark.parametrize(
    ("compatible", "force_color"), list(itertools.product((None, "0", "1", ""), (None, "", "1")))
)
@pytest.mark.parametrize("stream", [io.StringIO, tty])
def test_a_terminal_is_what_rich_takes_for_one(
    monkeypatch: pytest.MonkeyPatch, stream: Callable[[], IO[str]], compatible: str | None,
    force_color: str | None,
) -> None:  # fmt: skip
    for name, value in (("TTY_COMPATIBLE", compatible), ("FORCE_COLOR", force_color)):
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    with stream() as file:
        assert is_terminal(file) == Console(file=file).is_terminal


def test_an_unwritable_directory_is_a_message(tmp_path: Path) -> None:
    # sysfs: even root cannot create a file there.
    (tmp_path / "scenario").symlink_to("/sys/fs")
    ran = narrows("run", write(tmp_path, TWO_FLOWS), "--out", tmp_path)
    assert ran.returncode == 2
    assert "nothing can be written there" in ran.stderr
    assert "Traceback" not in ran.stderr
