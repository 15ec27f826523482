"""`narrows run --target dpdk`: the same scenarios with real packets, in real time.

A machine that runs tests is not suited to measurements, so limits are wide here. On any machine the
ledger must be complete, the path's bytes must arrive, and a run outside its limits must be void.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest

from tests.support.real_time import judged, needs_dpdk
from tests.support.world import TWO_FLOWS, RunDirectory, command, environment, narrows, write
from tests.tools.test_artifact import changed, edit

pytestmark = needs_dpdk

WIDE = """
[instrument]
departure_error = "100ms"
rate_error = 0.5
poll_gap = "2s"
"""
EVENT = """
[[event]]
at = "2s"
set = { bottleneck = { rate = "2Mbps" } }
"""


ONE_AND_TWO = [("--no-processes",), ("--processes",)]
IN_PROCESSES = pytest.mark.parametrize("processes", ONE_AND_TWO, ids=["one", "two"])


@pytest.fixture(scope="module", params=ONE_AND_TWO, ids=["one", "two"])
def real(tmp_path_factory: pytest.TempPathFactory, request: Any) -> RunDirectory:
    directory = tmp_path_factory.mktemp("real")
    source = write(directory, TWO_FLOWS + WIDE + EVENT)
    arguments = ["--target", "dpdk", *request.param, "--out", str(directory), "--no-figures"]
    ran = narrows("run", source, *arguments)
    assert ran.returncode == 0, ran.stderr
    [path] = [made.parent for made in directory.glob("scenario/[!.]*/run.json")]
    return RunDirectory(path)


def test_the_ledger_and_the_reports_are_whole(real: RunDirectory) -> None:
    bottleneck = real.summary["bottleneck"]
    assert bottleneck["arrived"] == bottleneck["enqueued"] + bottleneck["dropped"]
    assert bottleneck["enqueued"] == bottleneck["dequeued"] + bottleneck["queued"]
    counts = dict(real.table("queue").group_by("event").len().iter_rows())
    assert counts["enqueue"] == bottleneck["enqueued"]
    assert counts["dequeue"] == bottleneck["dequeued"]
    assert counts.get("drop", 0) == bottleneck["dropped"]
    # A report crosses its own cable; the latest ones are still on it.
    reports = real.table("packets").filter(pl.col("egress_port") == bottleneck["port"])
    assert bottleneck["dequeued"] - 5 <= len(reports) <= bottleneck["dequeued"]
    assert real.summary["bad_reports"] == real.summary["misdelivered"] == 0


def test_tcp_fills_the_bottleneck_and_follows_an_event(real: RunDirectory) -> None:
    """2 s at 5 Mb/s and 3 s at 2 Mb/s: 2 MB, of which a segment's headers are 40 of 1,500."""
    delivered = sum(flow["delivered_bytes"] for flow in real.summary["flows"])
    assert delivered < 2e6 * 1460 / 1514
    dequeued = real.table("queue").filter(pl.col("event") == "dequeue")
    seconds = dequeued.group_by(pl.col("time_ps") // 10**12).agg(pl.col("length_bytes").sum() * 8)
    by_second = dict(seconds.iter_rows())
    # The ledger has the ideal schedule: a busy second is its rate, to the packet.
    with judged(real.longest_gap_us):
        assert delivered > 0.75 * 2e6
        assert by_second[4] == pytest.approx(2e6, abs=2 * 12_112)
        assert by_second[1] == pytest.approx(5e6, abs=0.2 * 5e6)


def test_the_instrument_says_how_far_it_was_off(real: RunDirectory) -> None:
    record = json.loads((real.path / "run.json").read_text())
    instrument = record["instrument"]
    assert (record["valid"], record["target"], instrument["clock"]) == (True, "dpdk", "tsc")
    wires = {wire["name"]: wire for wire in instrument["wires"]}
    assert set(wires) == {
        "s1 port 1", "s1 port 2", "s1 port 3", "senders", "receivers", "collector at s1",
    }  # fmt: skip
    for near, far in (("s1 port 1", "senders"), ("s1 port 2", "receivers")):
        for here, there in ((near, far), (far, near)):
            # Packets in a ring at the end were sent and not received.
            assert 0 <= wires[here]["sent"] - wires[there]["received"] <= 32
    late = wires["s1 port 2"]["departure_error_us"]
    assert 0 < late["p50"] <= late["p99"] <= late["max"] * 1.01
    assert instrument["polls"]["count"] > 1000
    assert instrument["clock_steps_back"] == 0


@IN_PROCESSES
def test_duplicates_are_in_the_ledger(tmp_path: Path, processes: tuple[str, ...]) -> None:
    source = write(tmp_path, TWO_FLOWS + WIDE)
    ran = narrows(
        "run", source, "--target", "dpdk", *processes, "--out", tmp_path, "--no-figures",
        "--set", "duration=2s", "--set", "bottleneck.duplicate=20%",
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    [path] = [made.parent for made in tmp_path.glob("scenario/[!.]*/run.json")]
    done = RunDirectory(path)
    arrived = done.summary["bottleneck"]["arrived"]
    duplicated = done.summary["switches"]["s1"]["duplicated"]
    rows = done.table("queue").filter(pl.col("port") == done.summary["bottleneck"]["port"])
    copies = len(rows.filter(pl.col("reason") == "duplicate"))
    refused = done.summary["bottleneck"]["drops"].get("queue-full", 0)
    assert 0 < copies <= duplicated <= copies + refused
    # Binomial with p = 0.2: 4.5 standard deviations.
    packets = arrived - duplicated
    assert abs(duplicated - 0.2 * packets) < 4.5 * (packets * 0.2 * 0.8) ** 0.5


def test_a_run_outside_its_limits_is_void_and_says_why(tmp_path: Path) -> None:
    source = write(tmp_path, TWO_FLOWS + WIDE)
    ran = narrows(
        "run", source, "--target", "dpdk", "--out", tmp_path, "--no-figures",
        "--set", "duration=1s", "--set", "instrument.departure_error=1ns",
    )  # fmt: skip
    assert ran.returncode == 1
    assert "invalid: s1 port 1: 1 % of packets left over" in ran.stderr
    [path] = tmp_path.glob("scenario/[!.]*/run.json")
    record = json.loads(path.read_text())
    assert record["valid"] is False
    assert "at most 0.001 us" in record["invalid_reason"]


@pytest.fixture
def going_on(tmp_path: Path, processes: tuple[str, ...]) -> Iterator[subprocess.Popen[str]]:
    """A run that has begun its tables."""
    source = write(tmp_path, TWO_FLOWS + WIDE)
    arguments = ["--target", "dpdk", *processes, "--out", str(tmp_path), "--no-figures"]
    process = subprocess.Popen(
        command("run", source, *arguments),
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(lambda: any(tmp_path.glob("scenario/.*.partial/**/queue.parquet")))
    yield process
    process.kill()
    process.communicate()


@IN_PROCESSES
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_killed_leaves_nothing(
    tmp_path: Path, going_on: subprocess.Popen[str], number: signal.Signals
) -> None:
    going_on.send_signal(number)
    going_on.wait(timeout=20)
    # The worker of a dead parent notices when it next reports progress.
    wait_for(lambda: not any(tmp_path.glob("scenario/.*.partial")))
    wait_for(lambda: not processes_of(tmp_path))
    assert not any(tmp_path.glob("scenario/*/run.json"))


@pytest.mark.parametrize("processes", [("--processes",)], ids=["two"])
def test_a_run_with_killed_switches_fails_and_leaves_nothing(
    tmp_path: Path, going_on: subprocess.Popen[str]
) -> None:
    [switches] = [
        pid
        for pid in processes_of(tmp_path)
        if "narrows.testbed.targets.dpdk.processes" in pid.command
    ]
    os.kill(switches.number, signal.SIGKILL)
    _, errors = going_on.communicate(timeout=20)
    assert going_on.returncode == 1
    assert "the switches' process ended with status -9" in errors
    assert not any(tmp_path.glob("scenario/.*.partial"))
    assert not any(tmp_path.glob("scenario/*/run.json"))


class Process(NamedTuple):
    """A process of this machine."""

    number: int
    command: str


def processes_of(directory: Path) -> list[Process]:
    """The processes of runs that have a file open below a directory."""
    found = []
    for open_file in Path("/proc").glob("[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            if open_file.readlink().is_relative_to(directory):
                number = open_file.parts[2]
                said = Path("/proc", number, "cmdline").read_text().replace("\0", " ")
                found.append(Process(int(number), said))
    return sorted(set(found))


def wait_for(holds: Callable[[], bool], seconds: float = 180.0) -> None:
    """Waits. Ten busy processes per core have made a worker's start take over 30 s."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.05)


ONE_FLOW = """
title = "One flow in real time"
duration = "3s"
[bottleneck]
rate = "5Mbps"
delay = "5ms"
queue = "20packets"
[access]
rate = "100Mbps"
delay = "1ms"
[[flow]]
variant = "reno"
[instrument]
departure_error = "1s"
poll_gap = "10s"
rate_error = 0.99
lost_packets = 1000
"""
"""The limits are those of any machine: what is compared are two runs of it."""


def test_a_run_in_real_time_is_compared_by_its_statistics(tmp_path: Path) -> None:
    source, out = write(tmp_path, ONE_FLOW), tmp_path / "results"
    ran = narrows("run", str(source), "--target", "dpdk", "--out", str(out), "--no-figures")
    assert ran.returncode == 0, ran.stderr
    assert narrows("artifact", str(out / "scenario")).returncode == 0
    bundle = str(out / "scenario.narrows.zip")
    near = narrows("verify", bundle, "--target", "dpdk", "--tolerance", "90%")
    assert near.returncode == 0, near.stdout + near.stderr
    assert "seed=1: as in the bundle: goodput" in near.stdout
    for measure in ("link use", "queueing delay, mean", "loss", "Jain's index"):
        assert measure in near.stdout
    slower = edit("run.json", "scenario.bottleneck.rate", "2Mbps")
    other = changed(Path(bundle), tmp_path / "other.zip", slower, sign=True)
    far = narrows("verify", str(other), "--target", "dpdk", "--tolerance", "10%")
    assert far.returncode == 1 and "(differs)" in far.stdout, far.stdout + far.stderr
