"""`narrows switch --record`: the ledger of a switch without a scenario."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import polars as pl

from narrows.controller.client import SwitchClient
from tests.support.live_switch import Between, LinuxHost, needs
from tests.support.real_time import needs_dpdk
from tests.support.switch_command import P4INFO, PROGRAM, Running
from tests.support.world import narrows
from tests.switch.test_switch_command import frame, route_to_2, write_pcap

RATE, LIMIT = "8Mbps", "4packets"
"""1 ms for each packet of 1,000 bytes."""


async def route(address: str) -> None:
    async with SwitchClient(address, p4info=P4INFO, program=PROGRAM) as client:
        await client.send([route_to_2()])


def test_a_switch_with_files_writes_its_ledger(
    start: Callable[..., Running], tmp_path: Path
) -> None:
    """Of 10 packets at once one is sent immediately, 4 wait, and the others are dropped. The five
    that are sent take 5 ms: the port is never idle.
    """
    write_pcap(tmp_path / "a_in.pcap", [(10**9, frame(number)) for number in range(10)])
    write_pcap(tmp_path / "b_in.pcap", [])
    out = tmp_path / "ledger"
    running = start(
        PROGRAM, "--p4info", P4INFO, "--use-files", "0", "--after-controller", "--exit-at-end",
        "-i", f"1@{tmp_path}/a", "-i", f"2@{tmp_path}/b", "--rate", f"2={RATE}",
        "--queue", f"2={LIMIT}", "--record", out,
    )  # fmt: skip
    asyncio.run(route(running.address))
    running.wait_for("ledger: ")
    assert running.process.wait(timeout=20) == 0
    rows = pl.read_parquet(out / "queue.parquet").filter(pl.col("port") == 2)
    events = dict(rows.group_by("event").len().rows())
    assert events == {"enqueue": 5, "dequeue": 5, "drop": 5}
    left_us = [time_ps // 10**6 for time_ps in rows.filter(pl.col("event") == "dequeue")["time_ps"]]
    assert left_us == [0, 1000, 2000, 3000, 4000]
    summary = json.loads((out / "summary.json").read_text())
    [port] = [one for one in summary["ports"] if one["port"] == 2]
    assert (port["utilization"], port["drops"]) == (1.0, {"queue-full": 5})
    assert (summary["valid"], summary["switches"]["switch"]["received"]) == (True, 10)
    assert "instrument" not in summary, "virtual time has no errors"


def test_a_directory_with_other_files_is_kept(tmp_path: Path) -> None:
    out = tmp_path / "mine"
    out.mkdir()
    (out / "thesis.txt").write_text("")
    ran = narrows("switch", "--no-p4", "--use-files", "0", "--record", str(out))
    assert ran.returncode == 2 and "has other files; expected a new directory" in ran.stderr
    assert (out / "thesis.txt").exists()


@needs_dpdk
@needs("iperf3")
def test_a_live_switch_records_every_packet(
    hosts: tuple[LinuxHost, LinuxHost], tmp_path: Path
) -> None:
    """What left each port by the ledger is what the switch counted."""
    out = tmp_path / "ledger"
    with Between(hosts, "--rate", "2=20Mbps", "--record", str(out), "--workers", "2") as between:
        between.iperf3(3)
        between.end()
    rows = pl.read_parquet(out / "queue.parquet")
    summary = json.loads((out / "summary.json").read_text())
    for port in summary["ports"]:
        own = rows.filter(pl.col("port") == port["port"])
        counted = {"enqueue": port["enqueued"], "dequeue": port["dequeued"]}
        counted |= {"drop": port["dropped"]} if port["dropped"] else {}
        assert dict(own.group_by("event").len().rows()) == counted, port
    received = summary["switches"]["switch"]["received"]
    assert received >= sum(port["arrived"] for port in summary["ports"]) > 1000
    assert summary["instrument"]["wires"]
