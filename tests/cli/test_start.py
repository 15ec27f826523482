"""What a short run loads: a start is mostly imports, which are counted here in place of seconds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from narrows.testbed.runs.jobs import make_jobs
from narrows.testbed.scenario import sweep
from narrows.testbed.targets import TARGETS
from tests.support.world import TWO_FLOWS, environment, write

UNUSED = {"asyncio", "finsy", "google", "grpc", "matplotlib", "numpy", "plotly", "polars"}
"""Packages that take longer to load than a short run takes, and that it does not need."""


def imported(module: str, *arguments: str | Path, said: str = "") -> set[str]:
    """The packages that a module run as a program imports."""
    command = [sys.executable, "-X", "importtime", "-m", module, *map(str, arguments)]
    ran = subprocess.run(
        command, input=said, capture_output=True, text=True, env=environment(), check=True
    )
    lines = (line for line in ran.stderr.splitlines() if line.startswith("import time:"))
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in lines}


def test_a_worker_of_sim_loads_no_client_and_no_tables(tmp_path: Path) -> None:
    source = write(tmp_path, TWO_FLOWS)
    points = sweep.read(source, [("duration", "1ms")])
    [job] = make_jobs(source, points, tmp_path, TARGETS["sim"])
    job.final.parent.mkdir()
    found = imported("narrows.testbed.runs.worker", "sim", said=job.as_text() + "\n")
    assert (job.final / "run.json").is_file()
    assert not found & (UNUSED | {"pydantic", "rich"})


def test_a_run_without_figures_loads_no_tables(tmp_path: Path) -> None:
    """The first process; without a terminal rich draws only the table of results."""
    source = write(tmp_path, TWO_FLOWS)
    to_start = ("run", source, "--out", tmp_path, "--set", "duration=1ms", "--no-figures")
    assert "rich" in imported("narrows", *to_start)
    found = imported("narrows", *to_start, "--json")
    assert (tmp_path / "scenario/runs.parquet").is_file()
    assert not found & (UNUSED | {"rich"})


def test_a_run_leaves_its_tables_to_the_processes_that_draw(tmp_path: Path) -> None:
    source = write(tmp_path, TWO_FLOWS + '[report]\nfigures = ["cwnd", "rtt"]\n')
    code = """
import sys
from narrows.testbed.cli.main import main

main(sys.argv[1:])
print(*sys.modules)
"""
    to_draw = ["run", str(source), "--out", str(tmp_path), "--jobs", "2", "--quiet"]
    command = [sys.executable, "-c", code, *to_draw]
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment())
    assert (tmp_path / "scenario/figures/cwnd.png").is_file()
    assert not UNUSED & {module.partition(".")[0] for module in ran.stdout.split()}


GARBAGE = """
class Cycle:
    def __init__(self):
        self.cycle = self
    def __del__(self):
        print("found")

Cycle()
"""


@pytest.mark.parametrize(
    ("before", "found"),
    [("", "found\n"), ("from narrows.testbed import garbage; garbage.collect_seldom()", "")],
)
def test_the_exit_looks_through_no_objects(before: str, found: str) -> None:
    command = [sys.executable, "-c", f"{before}\n{GARBAGE}"]
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment())
    assert ran.stdout == found


def test_a_start_reads_no_metadata_of_packages() -> None:
    code = """
import importlib.metadata
from narrows.testbed.cli.main import main

importlib.metadata.entry_points = None
main(["list", "variants"])
from narrows.testbed.scenario import schema
"""
    subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=True, env=environment()
    )
