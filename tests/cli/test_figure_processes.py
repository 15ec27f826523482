"""Figures drawn in several processes at a time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from narrows.analysis import figures
from narrows.analysis.load import LoadError
from narrows.testbed.runs import figure_processes
from tests.support.analysis_runs import write_run
from tests.support.world import TWO_FLOWS, environment, write

NAMES = ["cwnd", "shares", "rtt"]


@pytest.fixture
def one(tmp_path: Path) -> Path:
    write_run(tmp_path / "one" / "seed=1", {"seed": 1}, segments=100)
    return tmp_path / "one"


def test_processes_draw_the_same_files(one: Path) -> None:
    alone = {path.name: path.read_bytes() for path in figures.draw(one, NAMES)}
    together = {
        path.name: path.read_bytes() for path in figure_processes.draw(one, NAMES, at_once=2)
    }
    assert list(together) == ["cwnd.png", "cwnd.pdf", "rtt.png", "rtt.pdf"]
    assert together == alone


def test_a_fault_in_a_process_is_raised_here(one: Path) -> None:
    (one / "seed=1/flows.parquet").write_bytes(b"PAR1")
    with pytest.raises(LoadError, match=r"flows\.parquet: not a readable Parquet file"):
        figure_processes.draw(one, NAMES, at_once=2)


def killed(results_dir: Path, name: str) -> dict[str, bytes]:
    """In place of drawing: what the kernel does where memory is short."""
    os._exit(1)


def test_a_killed_process_means_that_memory_is_short(
    one: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figure_processes, "_render", killed)
    with pytest.raises(MemoryError):
        figure_processes.draw(one, NAMES, at_once=2)


@pytest.mark.parametrize("drawn_for_s", [0.0, 0.5])
def test_ctrl_c_ends_all_processes_without_a_traceback(tmp_path: Path, drawn_for_s: float) -> None:
    names = ["throughput", "cwnd", "rtt", "queue_length", "queue_delay", "goodput", "delay_cdf"]
    source = write(tmp_path, f"{TWO_FLOWS}[report]\nfigures = {names}\n")
    arguments = ["run", str(source), "--out", str(tmp_path), "--jobs", "2"]
    command = [sys.executable, "-u", "-m", "narrows", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(),
        process_group=0,
    ) as running:  # fmt: skip
        assert running.stdout is not None
        assert any(line.startswith("results:") for line in running.stdout)
        time.sleep(drawn_for_s)
        os.killpg(running.pid, signal.SIGINT)
        _, errors = running.communicate(timeout=30)
    assert running.returncode == 130, errors
    assert "Traceback" not in errors
