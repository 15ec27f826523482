"""`narrows run --target tofino` with a stand-in of two halves: a server that checks the
controller's BfRuntime messages, and a `narrows switch` that forwards the hosts' packets.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from narrows.testbed.cli.main import main
from narrows.testbed.scenario import sweep
from narrows.testbed.scenario.plan import make_plan
from tests.support.bfrt.server import PORTS, FakeSwitch, served
from tests.support.live_switch import put_away
from tests.support.real_time import needs_dpdk
from tests.support.switch_command import P4INFO, PROGRAM, Running
from tests.support.world import ROOT, narrows
from tests.targets.test_lab import LAB

pytestmark = needs_dpdk

Json = dict[str, Any]

SCENARIO = """
title = "Two flows on a Tofino"
duration = "3s"
[bottleneck]
rate = "5Mbps"
delay = "1ms"
queue = "20packets"
[access]
rate = "100Mbps"
delay = "1ms"
[[flow]]
variant = "reno"
count = 2
[[event]]
at = "1s"
set = { bottleneck = { rate = "2Mbps" } }
# Two processes and two servers on a test's machine: what is judged here is not the time.
[instrument]
departure_error = "1s"
rate_error = 0.9
poll_gap = "10s"
lost_packets = 100000
"""


class Bench:
    """A lab without a Tofino."""

    def __init__(self, directory: Path, address: str) -> None:
        socket = f"narrows-tofino-{os.getpid()}"
        self.scenario = directory / "scenario.toml"
        self.scenario.write_text(SCENARIO)
        ports = [
            word
            for n, port in enumerate(PORTS)
            for word in ("--port", f"{port}=net_memif{n},role=server,id={n},socket={socket}")
        ]
        shaper = ("--rate", "140=5Mbps", "--queue", "140=20packets")
        self.switch = Running(*ports, "--no-p4", *shaper, "--timestamp-unit", "ns")
        [point] = sweep.read(self.scenario)
        [planned] = make_plan(point.scenario, str(self.scenario), PORTS)["switches"]
        state = directory / "state.json"
        state.write_text(json.dumps(planned))
        connected = ("--address", self.switch.address, "--p4info", P4INFO, "--json", PROGRAM)
        subprocess.run(
            [sys.executable, "-m", "narrows.controller", *connected, "push", "--state", state],
            cwd=ROOT, check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        text = LAB.replace("127.0.0.1:50052", address).replace(
            'calibration = "calibration.json"\n', ""
        )
        nics = ("0000:81:00.0", "81:00.1", "net_memif0,role=client")
        for n, nic in enumerate(nics):
            memif = f"net_memif{n},role=client,id={n},socket={socket}"
            text = text.replace(f'"{nic}"', f'"{memif}"')
        self.lab = directory / "lab.toml"
        self.lab.write_text(text)


@pytest.fixture
def fake() -> Iterator[FakeSwitch]:
    switch = FakeSwitch()
    with served(switch):
        yield switch


def test_a_scenario_runs_on_the_labs_switch_and_cards(fake: FakeSwitch, tmp_path: Path) -> None:
    bench = Bench(tmp_path, fake.address)
    try:
        ran = narrows(
            "run", bench.scenario, "--target", "tofino", "--lab", bench.lab, "--out", tmp_path
        )
    finally:
        put_away(bench.switch)
    assert ran.returncode == 0, ran.stderr
    [record] = tmp_path.glob("scenario/[!.]*/run.json")
    summary = json.loads((record.parent / "summary.json").read_text())
    switch = summary["switch"]
    # 5,000 kbit/s in the shaper's steps of 16, in both directions; 20 packets are.
    assert switch["set"] == [
        {"port": 132, "rate_bps": 5_000_000, "in_force": 5_008_000},
        {"port": 132, "queue": {"packets": 20}, "in_force": {"packets": 20}},
        {"port": 140, "rate_bps": 5_000_000, "in_force": 5_008_000},
        {"port": 140, "queue": {"packets": 20}, "in_force": {"packets": 20}},
    ]
    assert [one["in_force"] for one in switch["events"]] == [2_000_000, 2_000_000]
    assert all(one["done_ps"] >= one["due_ps"] == 10**12 for one in switch["events"])
    assert [one["port"] for one in switch["queues"]] == [132, 140]
    # The stand-in ignores the events: 3 s at 5 Mb/s, less headers and the first round trips.
    delivered = sum(flow["delivered_bytes"] for flow in summary["flows"])
    assert 0.6 * 1.875e6 < delivered < 1.875e6
    # Ports were set up before anything else, and both flows have their entries in the fake.
    assert fake.names_written()[:3] == ["$PORT"] * 3
    flows = fake.entries[fake.names["pipe.NarrowsIngress.identify_flow.flow"]]
    assert len(flows) == 4
    check_the_queue(record.parent, summary)


def check_the_queue(run: Path, summary: Json) -> None:
    """By the reports, the stand-in kept 5 Mb/s while its events requested 5.008 and then 2."""
    bottleneck = summary["bottleneck"]
    assert (bottleneck["port"], bottleneck["rate_bps"]) == (140, 2_000_000)
    packets = pl.read_parquet(run / "packets.parquet").filter(pl.col("egress_port") == 140)
    queue = pl.read_parquet(run / "queue.parquet")
    counts = dict(queue.group_by("event").len().iter_rows())
    assert counts == {"enqueue": packets.height, "dequeue": packets.height}
    assert bottleneck["dequeued"] == packets.height
    until_s = summary["switch"]["events"][0]["done_ps"] / 1e12
    let_through = 5.008e6 * until_s + 2e6 * (3 - until_s)
    used = 8 * sum(packets["ip_length_bytes"].to_list()) / let_through
    assert bottleneck["utilization"] == pytest.approx(used, rel=0.01)
    # At most 20 packets waited, so no wait is longer than 21 packets of 1,500 bytes take.
    depths = queue["depth_packets"].to_list()
    assert 10 <= max(depths) <= 20
    assert 24 < bottleneck["queue_delay_ms"]["max"] < 21 * 2.4
    # By the run's clock, packets left from its beginning to its end.
    left_s = [at / 1e9 for at in packets["egress_ns"].to_list()]
    assert 0 < min(left_s) < 0.5
    assert 2.5 < max(left_s) < 3.1


def test_what_a_lab_cannot_do_is_said(fake: FakeSwitch, tmp_path: Path, capsys: object) -> None:
    scenario, lab = tmp_path / "s.toml", tmp_path / "lab.toml"
    scenario.write_text(SCENARIO)
    run = ["run", str(scenario), "--target", "tofino", "--out", str(tmp_path)]
    assert main(run) == 2
    lab.write_text(LAB.replace('calibration = "calibration.json"\n', ""))
    # No server answers BfRuntime there.
    assert main([*run, "--lab", str(lab.with_name("none.toml"))]) == 2
    refused = narrows(*run, "--lab", lab)
    assert refused.returncode == 2
    assert "127.0.0.1:50052: UNAVAILABLE" in refused.stderr
