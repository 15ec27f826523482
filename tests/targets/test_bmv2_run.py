"""`narrows run --target bmv2`: a whole run, its results, and that it leaves nothing else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from narrows.analysis.report import write as write_report
from narrows.testbed import engine
from narrows.testbed.cli.exit_codes import STOPPED
from narrows.testbed.cli.main import main
from narrows.testbed.scenario import sweep
from narrows.testbed.scenario.plan import make_plan
from narrows.testbed.targets.bmv2 import switch as bmv2
from narrows.testbed.targets.linux import LINUX, namespaces
from narrows.testbed.targets.linux.namespaces import leftovers
from narrows.testbed.targets.switch_plan import SwitchPlan
from tests.analysis.test_report import Page
from tests.support.needs import without
from tests.support.switches import lacking_for_bmv2
from tests.support.world import ROOT, RunDirectory, command, environment, narrows, write

SECONDS = 4
SCENARIO = """
title = "One flow through bmv2"
duration = "4s"
profile = "linux"
[bottleneck]
rate = "5Mbps"
delay = "10ms"
queue = "30packets"
[access]
rate = "1Gbps"
delay = "1ms"
[instrument]
poll_gap = "100ms"
departure_error = "2ms"
[[flow]]
variant = "reno"
recovery = "sack"
[[event]]
at = "2s"
set = { bottleneck = { rate = "4Mbps" } }
"""
pytestmark = [
    pytest.mark.skipif(bool(lacking_for_bmv2()), reason=lacking_for_bmv2() or ""),
]


def any_run_on_bmv2(directory: Path, text: str, *more: str) -> RunDirectory:
    """A run, which its own checks may call void."""
    source = write(directory, text)
    ran = narrows("run", source, "--target", "bmv2", "--out", directory, "--no-figures", *more)
    if ran.returncode != 0:
        assert "invalid" in ran.stderr, ran.stderr
    [summary] = directory.glob("scenario/*/summary.json")
    return RunDirectory(summary.parent)


def skip_if_void(run: RunDirectory) -> None:
    """Skips a test of figures if the run's own checks void it."""
    if reason := run.summary["invalid_reason"]:
        print(reason)
        pytest.skip("a run on bmv2 was void on this machine")


def run_on_bmv2(directory: Path, *more: str) -> RunDirectory:
    """A run that its own checks call valid; skipped if they void it."""
    done = any_run_on_bmv2(directory, SCENARIO, *more)
    skip_if_void(done)
    return done


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    return run_on_bmv2(tmp_path_factory.mktemp("bmv2"))


def test_packets_are_conserved_and_every_one_has_its_rows(finished: RunDirectory) -> None:
    bottleneck = finished.summary["bottleneck"]
    assert bottleneck["arrived"] == bottleneck["enqueued"] + bottleneck["dropped"]
    assert bottleneck["enqueued"] == bottleneck["dequeued"] + bottleneck["queued"]
    assert bottleneck["queued"] <= 31
    # Every segment of the one sender reached the bottleneck, except those in flight at the end.
    [flow] = finished.summary["flows"]
    on_the_way = flow["sent_segments"] - bottleneck["arrived"]
    assert -3 <= on_the_way <= 10, "the handshake and the end's bare ACKs are no data"
    rows = finished.table("queue")
    assert Counter(rows["event"]) == dict.fromkeys(("enqueue", "dequeue"), bottleneck["dequeued"])
    assert rows["time_ps"].is_sorted()
    depths = rows["depth_packets"].to_list()
    assert min(depths) == depths[-1] == 0
    reports = finished.table("packets")
    assert len(reports) == bottleneck["dequeued"]
    assert min(reports["ingress_ns"].to_list()) > 0
    assert max(reports["egress_ns"].to_list()) < (SECONDS + 0.01) * 1e9


def test_it_agrees_with_virtual_time(finished: RunDirectory, tmp_path: Path) -> None:
    source = write(tmp_path, SCENARIO)
    assert narrows("run", source, "--out", tmp_path, "--no-figures").returncode == 0
    virtual = RunDirectory(tmp_path / "scenario" / "seed=1").summary
    ours, theirs = virtual["bottleneck"], finished.summary["bottleneck"]
    goodputs = [one["aggregate_goodput_bps"] for one in (finished.summary, virtual)]
    assert goodputs[0] == pytest.approx(goodputs[1], rel=0.03)
    assert theirs["queue_packets_mean"] == pytest.approx(ours["queue_packets_mean"], rel=0.1)
    assert theirs["queue_packets_max"] == 30
    mean_ms = ours["queue_delay_ms"]["mean"]
    assert theirs["queue_delay_ms"]["mean"] == pytest.approx(mean_ms, rel=0.1)
    # Little's law: the waiting packets are the same, counted in the queue or from the ledger.
    depths = finished.table("queue")
    steps = depths["time_ps"].diff().shift(-1).fill_null(0)
    integral = float((depths["depth_packets"] * steps).to_numpy().sum()) / (SECONDS * 1e12)
    assert theirs["queue_packets_mean"] == pytest.approx(integral, rel=0.001)


def test_what_bmv2_gets_wrong_is_in_the_run_and_its_report(
    finished: RunDirectory, tmp_path: Path
) -> None:
    record = json.loads((finished.path / "run.json").read_text())
    switch = record["instrument"]["switch"]
    # 5 Mb/s are 412.8 packets of 12,112 bits: 413 are 5,002,256 bit/s; 4 Mb/s are 330.3.
    there = {one["port"]: one for one in switch["ports"]}
    assert there[2]["packets_per_s"] == 413
    assert (there[2]["in_force_bps"], there[2]["queue_packets"]) == (5_002_256, 30)
    assert [one["in_force"] for one in switch["events"]] == [330 * 12_112] * 2
    assert all(one["due_ps"] == 2 * 10**12 <= one["done_ps"] for one in switch["events"])
    assert switch["lost_before_program"] == switch["unreported"] == 0
    # One ACK for two segments is a third to two thirds of the packets that the way back may send.
    assert 0.3 < there[1]["use"] < 0.7
    assert switch["clock"]["error_us"] < 5_000
    assert 0 < switch["bottleneck"]["departure_error_us"]["p50"] < 2_000
    assert switch["to_the_wire_us"]["p50"] > 0
    write_report([finished.path], tmp_path / "report.html")
    shown = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "413 packets per second of 1514 bytes (+0.045 %)" in shown
    assert "second queue of 128 packets" in shown
    Page(shown)


@without(LINUX.missing())
@pytest.mark.parametrize("discipline", ["p4-codel", "p4-red", "p4-pie"])
def test_a_discipline_in_p4_drops_after_the_queue(tmp_path: Path, discipline: str) -> None:
    done = run_on_bmv2(tmp_path, "--set", f"bottleneck.discipline={discipline}")
    bottleneck = done.summary["bottleneck"]
    assert bottleneck["drops"]["egress-program"] > 0
    assert bottleneck["arrived"] == bottleneck["enqueued"] + bottleneck["drops"].get(
        "queue-full", 0
    )
    assert bottleneck["enqueued"] == bottleneck["dequeued"] + bottleneck["queued"]
    # A full queue is 30 packets of 2.4 ms.
    assert bottleneck["queue_delay_ms"]["mean"] < 36


def test_duplicates_are_packets_of_the_bottleneck(tmp_path: Path) -> None:
    done = run_on_bmv2(tmp_path, "--set", "bottleneck.duplicate=10%")
    bottleneck = done.summary["bottleneck"]
    duplicated = done.summary["switches"]["s1"]["duplicated"]
    packets = bottleneck["arrived"] - duplicated
    # Binomial with p = 0.1: 4.5 standard deviations.
    assert abs(duplicated - 0.1 * packets) < 4.5 * (packets * 0.1 * 0.9) ** 0.5
    assert packets > 1000
    [flow] = done.summary["flows"]
    on_the_way = flow["sent_segments"] - packets
    assert -3 <= on_the_way <= 10, "the handshake and the end's bare ACKs are no data"
    assert bottleneck["arrived"] == bottleneck["enqueued"] + bottleneck["dropped"]
    assert bottleneck["enqueued"] == bottleneck["dequeued"] + bottleneck["queued"]
    assert len(done.table("packets")) == bottleneck["dequeued"]


def test_the_kernels_hosts_are_behind_it_as_well(tmp_path: Path) -> None:
    summary = run_on_bmv2(tmp_path, "--hosts", "linux").summary
    [flow] = summary["flows"]
    # 5 Mb/s for half the time and 4 for the rest, 1,448 of each 1,514 bytes being payload.
    assert 3.6e6 < flow["goodput_bps"] < 4.5e6 * 1448 / 1514
    bottleneck = summary["bottleneck"]
    assert bottleneck["arrived"] == bottleneck["enqueued"] + bottleneck["dropped"]
    assert bottleneck["dropped"] > 0
    assert bottleneck["utilization"] > 0.9


def left_over() -> set[str]:
    """Namespaces and veths of switches."""
    return {command[-1] for _, command in leftovers() if "-sw" in command[-1]}


def processes() -> set[str]:
    """The processes of bmv2 with a socket of ours."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if b"--grpc-server-addr\0unix:" in path.read_bytes():
                found.add(path.parent.name)
        except OSError:
            continue
    return found


@dataclass
class Going:
    """A run whose packets are in flight, and the machine's state before it."""

    process: subprocess.Popen[str]
    before: set[str]

    def has_gone(self) -> bool:
        """True when its bmv2 no longer runs."""
        return processes() <= self.before


@pytest.fixture
def going(tmp_path: Path) -> Iterator[Going]:
    source = write(tmp_path, SCENARIO.replace('"4s"', '"60s"'))
    before = processes()
    process = subprocess.Popen(
        command("run", source, "--target", "bmv2", "--out", tmp_path, "--no-figures"),
        env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    run = Going(process, before)
    try:
        wait_for(lambda: not run.has_gone())
        time.sleep(0.5)
        yield run
    finally:
        process.kill()
        process.wait()


def wait_for(what: Callable[[], bool], seconds: float = 20) -> None:
    until = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_run_that_is_stopped_leaves_nothing(going: Going) -> None:
    assert left_over()
    going.process.send_signal(signal.SIGTERM)
    assert going.process.wait(20) == STOPPED
    assert left_over() == set()
    assert going.has_gone()


def test_a_killed_run_leaves_nothing_that_the_next_cannot_remove(
    going: Going,
) -> None:
    pid = going.process.pid
    [worker] = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    os.kill(int(worker), signal.SIGKILL)
    assert going.process.wait(20) == 1
    wait_for(going.has_gone)
    assert left_over()
    namespaces.sweep()
    assert left_over() == set()


def test_a_network_of_many_switches_is_refused() -> None:
    source = ROOT / "scenarios/parking-lot.toml"
    made = make_plan(sweep.read(source)[0].scenario, str(source))
    with pytest.raises(engine.PlanError, match="the target is one switch; the scenario has s1, s2"):
        SwitchPlan(made)


def test_what_is_missing_is_said_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bmv2, "missing", lambda: ["setpriv is not installed"])
    assert main(["run", str(write(tmp_path, SCENARIO)), "--target", "bmv2"]) == 2
    assert "narrows: --target: bmv2: setpriv is not installed" in capsys.readouterr().err
