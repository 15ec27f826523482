"""`narrows run --target dpdk --hosts linux`: the kernel's TCP in namespaces, our switch between.

As in test_real_time.py the limits are wide, since a machine that runs tests is not suited to
measurements. The tests assert the path's arithmetic, complete tables, and that nothing is left
behind.
"""

from __future__ import annotations

import json
import os
import platform
import re
import signal
import socket
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from narrows.testbed import engine, kernel_variants
from narrows.testbed.cli import main as cli
from narrows.testbed.scenario import sweep
from narrows.testbed.scenario.plan import make_plan
from narrows.testbed.targets.linux import checks, namespaces, settings, variants
from narrows.testbed.targets.linux.namespaces import Plumbing
from narrows.testbed.targets.linux.run import voided
from tests.interop.conftest import plumbing  # noqa: F401
from tests.runs.test_datagrams import CBR
from tests.support.needs import without
from tests.support.real_time import Machine, judged, needs_dpdk
from tests.support.world import ROOT, RunDirectory, command, environment, narrows, write
from tests.targets.test_real_time import WIDE

LACKING = namespaces.missing() + variants.missing()
if engine.dpdk_version() is None:
    LACKING.append("needs libdpdk: narrows doctor")
needs_hosts = without(LACKING)

SCENARIO = (
    """
title = "The kernel's reno and our vegas in it, beside requests"
duration = "4s"
profile = "linux"
[bottleneck]
rate = "10Mbps"
delay = "10ms"
queue = "40packets"
[access]
rate = "100Mbps"
delay = "2ms"
[[flow]]
variant = "reno"
[[flow]]
variant = "vegas"
start = "500ms"
segment = "1000B"
window = "30packets"
[[flow]]
variant = "cubic"
timestamps = false
app = { kind = "request-response", size = "200B", response = "3000B", messages = 20 }
[record]
capture = true
"""
    + WIDE
)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    directory = tmp_path_factory.mktemp("linux")
    source = write(directory, SCENARIO)
    options = ("--target", "dpdk", "--hosts", "linux", "--out", directory)
    machine = Machine()
    done = narrows("run", source, *options, "--set", 'report.figures=["cwnd"]')
    stalled_us = machine.longest_us()
    assert done.returncode == 0, done.stderr
    [path] = [made.parent for made in directory.glob("scenario/[!.]*/run.json")]
    return RunDirectory(path, stalled_us)


@needs_hosts
def test_the_kernels_tcp_fills_the_bottleneck(ran: RunDirectory) -> None:
    """4 s at 10 Mb/s, of whose frames of 1,514 bytes 1,448 are data, and of 1,066 are 1,000."""
    flows, bottleneck = ran.summary["flows"], ran.summary["bottleneck"]
    delivered = sum(flow["delivered_bytes"] for flow in flows)
    assert delivered < 5e6 * 1448 / 1514
    with judged(ran.longest_gap_us):
        assert delivered > 0.8 * 5e6 * 1000 / 1066
    assert bottleneck["arrived"] == bottleneck["enqueued"] + bottleneck["dropped"]
    assert bottleneck["dequeued"] == len(
        ran.table("queue").filter(pl.col("event") == "dequeue", pl.col("port") == 2)
    )
    assert {(flow["recovery"], flow["profile"]) for flow in flows} == {("kernel", "kernel")}
    record = json.loads((ran.path / "run.json").read_text())
    assert (record["hosts"], record["versions"]["linux"]) == ("linux", platform.release())


@needs_hosts
def test_samples_are_the_flows_own(ran: RunDirectory) -> None:
    """The base round trip is 2 x (2 x 2 + 10) ms."""
    rows = ran.table("flows").filter(pl.col("acked_bytes") > 0)
    for flow, segment_bytes in ((1, 1448), (2, 1000), (3, 1460)):
        own = rows.filter(pl.col("flow") == flow)
        columns = {name: own[name].to_list() for name in own.columns}
        assert {cwnd % segment_bytes for cwnd in columns["cwnd_bytes"]} == {0}
        assert columns["acked_bytes"] == sorted(columns["acked_bytes"])
        assert min(columns["srtt_ps"]) >= 28 * 10**9
        assert statistics.median(filter(None, columns["delivery_rate_bps"])) < 1.1 * 10e6
        if flow == 2:
            # The receiver's offered window limits outstanding data, whatever the congestion window.
            assert max(columns["in_flight_bytes"][20:]) <= 30 * 1000
        summary = ran.summary["flows"][flow - 1]
        assert 0 <= summary["delivered_bytes"] - columns["acked_bytes"][-1] < 200_000
        assert summary["retransmits"] == columns["retransmits"][-1]


@needs_hosts
def test_one_way_delays_are_the_round_trips_less_the_way_back(ran: RunDirectory) -> None:
    for flow in ran.summary["flows"][:2]:
        delay_ms = flow["one_way_delay_ms"]
        assert delay_ms["min"] >= 14
        assert flow["impossible_delays"] == 0
        # The way back has no queue.
        with judged(ran.longest_gap_us):
            assert delay_ms["p50"] == pytest.approx(flow["rtt_ms"]["p50"] - 14, rel=0.3)


@needs_hosts
def test_applications_and_messages_are_ours(ran: RunDirectory) -> None:
    flow = ran.summary["flows"][2]
    messages = ran.table("messages").filter(pl.col("flow") == 3)
    assert (flow["messages"]["read"], len(messages)) == (20, 20)
    assert messages["message"].to_list() == list(range(20))
    # A transaction takes a round trip, each after the one before.
    latencies = (messages["read_ps"] - messages["written_ps"]).to_list()
    assert min(latencies) >= 28 * 10**9
    assert flow["delivered_bytes"] == 20 * 200
    assert flow["completion_s"] is not None


@needs_hosts
def test_frames_are_as_on_a_wire(ran: RunDirectory) -> None:
    """No offloads: no frame is longer than Ethernet's, and every checksum is there."""
    captured = ran.table("capture").filter(pl.col("direction") == "sent")
    assert captured["length_bytes"].max() == 1514
    for frame in captured["bytes"].head(200):
        assert ones_complement(frame[14:34]) == 0xFFFF
        segment_bytes = int.from_bytes(frame[16:18]) - 20
        pseudo = frame[26:34] + b"\0\x06" + segment_bytes.to_bytes(2)
        assert ones_complement(pseudo + frame[34 : 34 + segment_bytes]) == 0xFFFF


def ones_complement(data: bytes) -> int:
    """The sum of RFC 1071."""
    data += b"\0" * (len(data) % 2)
    total = sum(int.from_bytes(data[at : at + 2]) for at in range(0, len(data), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


@needs_hosts
def test_a_figure_and_a_report_are_drawn_of_it(ran: RunDirectory) -> None:
    assert list(ran.path.parent.glob("figures/cwnd*"))
    done = narrows("report", ran.path.parent)
    assert done.returncode == 0, done.stderr


@needs_hosts
def test_a_transfer_ends_the_run_at_its_last_acknowledgment(
    tmp_path: Path, machine: Machine
) -> None:
    text = SCENARIO[: SCENARIO.index("[[flow]]")].replace('"4s"', '"completion"')
    app = 'app = { kind = "bulk", bytes = "500KB" }'
    text += f'[[flow]]\nvariant = "bbr"\ncount = 2\nsack = false\n{app}\n{WIDE}'
    source = write(tmp_path, text)
    options = ("--target", "dpdk", "--hosts", "linux", "--out", tmp_path, "--no-figures")
    done = narrows("run", source, *options, "--set", 'dumbbell.hosts="shared"')
    assert done.returncode == 0, done.stderr
    [path] = [made.parent for made in tmp_path.glob("scenario/[!.]*/run.json")]
    run = RunDirectory(path)
    flows = run.summary["flows"]
    assert [flow["delivered_bytes"] for flow in flows] == [500_000, 500_000]
    # 1 MB at 10 Mb/s with headers is 0.84 s.
    last_s = max(flow["completion_s"] for flow in flows)
    assert last_s > 0.84
    with judged(run.longest_gap_us, machine.longest_us()):
        assert last_s < 3


@needs_hosts
def test_datagrams_are_the_kernels_too(tmp_path: Path, machine: Machine) -> None:
    """1,000 bytes of IPv4 each 10 ms, of which the bottleneck takes 20 ms for each."""
    source = write(tmp_path, CBR + WIDE)
    options = ("--target", "dpdk", "--hosts", "linux", "--out", tmp_path, "--no-figures")
    done = narrows("run", source, *options)
    assert done.returncode == 0, done.stderr
    [path] = [made.parent for made in tmp_path.glob("scenario/[!.]*/run.json")]
    run = RunDirectory(path)
    [flow] = run.summary["flows"]
    counted, dropped = flow["datagrams"], run.summary["bottleneck"]["dropped"]
    assert (flow["sent_segments"], counted["received"] + dropped) == (100, 100)
    assert (counted["duplicates"], counted["reordered"], flow["recovery"]) == (0, 0, "kernel")
    numbers = run.table("messages")["message"].to_list()
    assert numbers == sorted(numbers) and len(numbers) == counted["received"]
    assert counted["lost"] == numbers[-1] + 1 - counted["received"]
    # A transmission and the cable, after a queue of 5, one of them in transmission.
    delay = flow["one_way_delay_ms"]
    assert delay["min"] >= 40
    # The thread that has the sockets may be late as well.
    with judged(run.longest_gap_us, machine.longest_us()):
        # The last comes at 990 ms; transmissions began at 0, 20, ..., 980, and five wait.
        assert counted["received"] in range(54, 57)
        assert flow["completion_s"] == pytest.approx(0.99, abs=0.02)
        assert delay["max"] < 150


@needs_hosts
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_killed_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    source = write(tmp_path, SCENARIO)
    process = subprocess.Popen(
        command(
            "run", source, "--target", "dpdk", "--hosts", "linux", "--out", tmp_path,
            "--no-figures", "--set", "duration=60s",
        ),
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    results = tmp_path / "scenario"
    wait_for(lambda: any(results.glob(".*.partial/queue.parquet")))
    assert "nw_vegas" in variants.registered_names()
    process.send_signal(number)
    process.wait(timeout=20)
    # The worker of a dead parent notices when it next reports progress.
    wait_for(lambda: not any(results.glob(".*.partial")))
    assert not any(results.glob("*/run.json"))
    wait_for(lambda: not ownerless())


def ownerless() -> list[int]:
    """The numbers of namespaces and veths without an owner."""
    found = []
    for number in sorted({number for number, _ in namespaces.leftovers()}):
        if lock := namespaces.try_lock(number):
            os.close(lock)
            found.append(number)
    return found


def wait_for(holds: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.05)


def test_what_a_host_drops_or_queues_is_found(plumbing: Plumbing) -> None:  # noqa: F811
    host = plumbing.add_host("a", "10.0.0.1", "02:00:00:00:00:01", "02:00:00:00:00:02")
    assert checks.excesses({"sender1": host}) == []
    host.run("tc", "qdisc", "replace", "dev", "eth0", "root", "blackhole")
    assert checks.excesses({"sender1": host}) == [
        "host sender1: eth0 has a queue (blackhole); expected noqueue"
    ]
    subprocess.run(
        host.command("bash", "-c", "echo > /dev/udp/10.0.0.9/9"), capture_output=True, check=False
    )
    assert "host sender1: eth0 blackhole drops: 1 packets; expected 0" in checks.excesses(
        {"sender1": host}
    )
    host.run("tc", "qdisc", "replace", "dev", "eth0", "root", "noqueue")


@needs_hosts
@pytest.mark.parametrize(
    ("keys", "complaint"),
    [
        (
            'variant = "vegas"\nparams = { alpha = 1 }',
            "flow 1: params.alpha = 1.0: is not supported by",
        ),
        (
            'variant = "reno"\ninitial_ssthresh = 20',
            "flow 1: initial_ssthresh = 20: is not supported by",
        ),
        ('variant = "reno"\nmax_burst = 3', "flow 1: max_burst = 3: is not supported by"),
        ('variant = "reno"\nsink = "TCPSink/Asym"', "flow 1: sink"),
        (
            'variant = "udp"\nsegment = "1473B"\n'
            'app = { kind = "cbr", rate = "1Mbps", size = "80B" }',
            "flow 1: segment = 1473: expected at most 1472 bytes",
        ),
        ('variant = "tfrc"', 'flow 1: variant = "tfrc": needs our hosts'),
        ('variant = "compound"', '"compound": is neither in this kernel'),
        ('variant = "Agent/TCP/Reno"', '"Agent/TCP/Reno": is an agent of ns-2'),
        ('variant = "reno"\ncount = 30', "hosts = 60: expected at most 26 hosts"),
    ],
)
def test_what_the_kernel_can_not_do_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], keys: str, complaint: str
) -> None:
    text = SCENARIO[: SCENARIO.index("[[flow]]")] + f"[[flow]]\n{keys}\n"
    source = str(write(tmp_path, text))
    assert cli.main(["run", source, "--target", "dpdk", "--hosts", "linux"]) == 2
    assert complaint in capsys.readouterr().err


def test_drops_at_a_host_join_the_reasons_that_void_a_run() -> None:
    good: Any = {"valid": True, "invalid_reason": None, "jain": 1.0}
    assert voided(good, []) == good
    once: Any = voided(good, ["host a: eth0 has a queue"])
    assert once == {"valid": False, "invalid_reason": "host a: eth0 has a queue", "jain": 1.0}
    assert voided(once, ["b"])["invalid_reason"] == "host a: eth0 has a queue; b"


def test_virtual_time_has_no_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", str(ROOT / "scenarios/new-aimd.toml"), "--hosts", "linux"]) == 2
    assert "linux: is in real time: --target dpdk" in capsys.readouterr().err


@needs_dpdk
def test_without_root_the_run_ends_and_names_the_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    source = str(write(tmp_path, SCENARIO))
    assert cli.main(["run", source, "--target", "dpdk", "--hosts", "linux"]) == 2
    assert "--hosts linux: this machine lacks root (to install: put sudo" in capsys.readouterr().err


def test_flows_at_one_host_must_agree(tmp_path: Path) -> None:
    text = SCENARIO[: SCENARIO.index("[[flow]]")] + "[dumbbell]\nreceivers = 1\n"
    alive = 'keep_alive = { idle = "1500ms" }'
    for keys in (f'min_rto = "1s"\n{alive}', 'sink = "TCPSink/Sack1"\nuser_timeout = "2s"'):
        text += f'[[flow]]\nvariant = "reno"\n{keys}\n'
    source = write(tmp_path, text)
    plan = make_plan(sweep.read(source, [])[0].scenario, str(source))
    asked = [settings.of_host(planned["flow"]) for planned in plan["flows"]]
    assert asked[0].route == {"rto_min": "1000ms"}
    assert asked[1].route == {"quickack": "1"}
    assert asked[1].sysctls == {"net.ipv4.tcp_sack": "1"}
    options = [settings.keep_alive_options(planned["flow"]) for planned in plan["flows"]]
    assert options[0][socket.IPPROTO_TCP, socket.TCP_KEEPIDLE] == 2
    assert options[1] == {(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT): 2000}
    [problem] = settings.problems(plan)
    assert str(problem).startswith("flow 2: flow 1 at host receiver1 needs different TCP options")


@needs_hosts
def test_the_manual_s_commands_run_its_own_variant_in_a_scenario(tmp_path: Path) -> None:
    manual = (ROOT / "docs/guide/linux.md").read_text()
    (text,) = re.findall(r"^```c\n(.*?)^```", manual, re.M | re.S)
    commands = re.findall(r"^narrows (run .*)$", manual, re.M)
    assert len(commands) == 2
    short = ["--set", "duration=1s", "--set", "instrument.departure_error=100ms"]
    short += ["--set", "instrument.poll_gap=2s", "--set", "instrument.rate_error=0.5"]
    source = kernel_variants.SOURCES / "mine.bpf.c"
    source.write_text(text)
    try:
        for number, words in enumerate(commands):
            out = tmp_path / str(number)
            done = narrows(*words.split(), *short, "--out", out, "--no-figures")
            assert done.returncode == 0, done.stderr
            [summary] = out.glob("*/[!.]*/summary.json")
            flows = json.loads(summary.read_text())["flows"]
            assert all(flow["delivered_bytes"] > 10_000 for flow in flows[:1])
            assert {flow["variant"] for flow in flows} == (
                {"mine"} if number else {"cubic", "reno"}
            )
    finally:
        source.unlink()
