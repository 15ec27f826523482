"""`narrows run --target fpga` through the RTL of a board, by Verilator."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from narrows.analysis.load import load_run
from narrows.testbed.targets.linux.namespaces import missing as missing_namespaces
from narrows.testbed.targets.rtl.library import missing
from tests.fpga.lab.bench import Bench, Wire, bench
from tests.support import needs
from tests.support.real_time import needs_dpdk
from tests.support.world import ROOT, command, environment, narrows

pytestmark = [
    needs_dpdk,
    needs.without([*missing(), *missing_namespaces()]),
    needs.without([] if Path("/dev/net/tun").exists() else ["/dev/net/tun does not exist"]),
]

RATE_BPS, SLOWER_BPS, FRAME_BYTES, DELAY_PS = 400_000, 200_000, 1514, 20 * 10**9
FELL_BEHIND_PPM = -100_000
SCENARIO = f"""
title = "Flows through a board"
duration = "6s"
[bottleneck]
rate = "{RATE_BPS}bps"
delay = "20ms"
queue = "8packets"
counts = "wire"
%s
[access]
rate = "1Mbps"
[[flow]]
variant = "reno"
[[flow]]
variant = "cubic"
start = "0.5s"
%s
# The model may be slower than the machine's clock.
[instrument]
departure_error = "10s"
rate_error = 0.99
poll_gap = "10s"
"""
BOTH = '\n[record]\nqueue = "both"\n'
EVENT = f'[[event]]\nat = "3s"\nset = {{ bottleneck = {{ rate = "{SLOWER_BPS}bps" }} }}'


@pytest.fixture(scope="module")
def board() -> Iterator[Bench]:
    with bench() as made:
        yield made


@dataclass
class Result:
    """A run's directory and summary."""

    path: Path
    summary: Any

    def rows(self, port: int) -> pl.DataFrame:
        rows = pl.read_parquet(self.path / "queue.parquet")
        return rows.filter(pl.col("port") == port)

    def queue(self, event: str, port: int = 2) -> pl.DataFrame:
        return self.rows(port).filter(pl.col("event") == event)


def carried_out(board: Bench, directory: Path, scenario: str, *options: str) -> Result:
    """Runs a scenario; checks that its directory is sound and has a report."""
    source = directory / "scenario.toml"
    source.write_text(scenario)
    lab = board.lab(directory)
    ran = narrows(
        "run", source, "--target", "fpga", "--lab", lab, "--out", directory, "--no-figures",
        *options,
    )  # fmt: skip
    [record] = (directory / "scenario").glob("[!.]*/run.json")
    found = load_run(record.parent)
    assert ran.returncode == 0 or not found.valid, ran.stderr
    assert narrows("check", directory / "scenario").returncode == 0
    return Result(found.path, found.summary)


def counts_agree(result: Result, port: int) -> dict[str, int]:
    """The board's counts of a port, after it let out all that entered."""
    [counts] = [one for one in result.summary["switch"]["queues"] if one["port"] == port]
    assert counts["enqueue"] == counts["dequeue"] == counts["left"]
    harm = ("errored", "runts", "giants", "underruns", "drop-memory-full")
    assert [counts[name] for name in harm] == [0] * 5
    found: dict[str, int] = counts
    return found


def test_a_scenario_has_its_ledger_from_the_board(board: Bench, tmp_path: Path) -> None:
    with Wire(board.interfaces[1]) as wire:
        result = carried_out(board, tmp_path, SCENARIO % ("", EVENT + BOTH))
    assert result.summary["invalid_reason"] is None
    counts = counts_agree(result, 2)
    counts_agree(result, 1)
    wires = {one["name"]: one for one in result.summary["instrument"]["wires"]}
    assert wires["senders"]["sent"] == counts["enqueue"] + counts["drop-queue-full"]
    # The wire saw the packets of the ledger's departures, in their order.
    left = result.queue("dequeue")
    assert counts["left"] == len(wire.lengths) >= left.height
    assert left["length_bytes"].to_list() == [
        max(length + 4, 64) + 20 for length in wire.lengths[: left.height]
    ]
    assert counts["late"] == 0
    check_departures(result)
    check_depths(result)
    check_delay(result)


def check_departures(result: Result) -> None:
    """A packet that waited leaves when the one before it has been sent, to the picosecond."""
    events = result.summary["switch"]["events"]
    [changed_ps] = {one["done_ps"] for one in events}
    assert {one["due_ps"] for one in events} == {3 * 10**12}
    assert changed_ps == 3 * 10**12
    left = result.queue("dequeue").select("time_ps", "length_bytes", "sojourn_ps").rows()
    compared = {RATE_BPS: 0, SLOWER_BPS: 0}
    for (before_ps, length_bytes, _), (at_ps, _, waited_ps) in pairwise(left):
        rate_bps = RATE_BPS if before_ps < changed_ps else SLOWER_BPS
        if waited_ps and before_ps:
            assert at_ps - before_ps == length_bytes * 8 * 10**12 // rate_bps
            compared[rate_bps] += 1
    if min(compared.values()) <= 10:
        # A model that falls behind has few packets in the run's time.
        assert result.summary["instrument"]["switch"]["clock"]["drift_ppm"] < FELL_BEHIND_PPM
        pytest.skip("the board's model fell behind the machine's clock")


def check_depths(result: Result) -> None:
    """The depths follow from the events, and drops happen at the limit."""
    rows = result.rows(2)
    step = {"enqueue": 1, "dequeue": -1, "drop": 0}
    steps = [step[event] for event in rows["event"]]
    assert rows["depth_packets"].to_list() == pl.Series(steps).cum_sum().to_list()
    assert set(result.queue("drop")["depth_packets"]) == {8}
    assert set(rows["flow"]) == {1, 2}
    bottleneck = result.summary["bottleneck"]
    assert bottleneck["arrived"] == bottleneck["enqueued"] + bottleneck["dropped"]
    assert bottleneck["queue_packets_max"] == 8


def check_delay(result: Result) -> None:
    """By the board's clock, the first answer comes after a transmission and the delay."""
    sent_ps, length_bytes = result.queue("dequeue").select("time_ps", "length_bytes").row(0)
    answered_ps = result.queue("enqueue", port=1)["time_ps"][0]
    assert answered_ps >= sent_ps + length_bytes * 8 * 10**12 // RATE_BPS + DELAY_PS


def test_the_kernels_tcp_is_marked_and_loses_at_random(board: Bench, tmp_path: Path) -> None:
    keys = 'loss = 0.1\ndiscipline = { name = "ecn-threshold", packets = 2 }'
    scenario = SCENARIO.replace('"reno"', '"reno"\necn = true') % (keys, "")
    result = carried_out(board, tmp_path, scenario, "--hosts", "linux")
    counts = counts_agree(result, 2)
    lost = counts["drop-random-loss"]
    assert result.summary["switches"]["s1"]["dropped_ingress"] == lost > 0
    assert counts["mark-threshold-packets"] > 0
    marks = result.queue("mark").filter(pl.col("reason") == "threshold-packets")
    # A mark comes with its packet's arrival, above two packets.
    assert marks["depth_packets"].min() == 3
    assert sum(flow["delivered_bytes"] for flow in result.summary["flows"]) > 0


def test_codel_drops_at_the_board(board: Bench, tmp_path: Path) -> None:
    codel = 'discipline = { name = "codel", target = "40ms", interval = "300ms" }'
    result = carried_out(board, tmp_path, SCENARIO % (codel, ""))
    assert result.summary["invalid_reason"] is None
    [counts] = [one for one in result.summary["switch"]["queues"] if one["port"] == 2]
    dropped = result.queue("drop").filter(pl.col("reason") == "codel")
    # What is still queued at the end of the run may be dropped after it.
    assert 0 < dropped.height <= counts["drop-codel"]
    assert result.summary["bottleneck"]["drops"]["codel"] == dropped.height
    assert counts["enqueue"] == counts["dequeue"] == counts["left"] + counts["drop-codel"]


def test_a_board_that_does_not_answer_is_named(board: Bench, tmp_path: Path) -> None:
    source = tmp_path / "scenario.toml"
    source.write_text(SCENARIO % ("", ""))
    lab = board.lab(tmp_path, 'address = "192.168.78.67"')
    ran = narrows("run", source, "--target", "fpga", "--lab", lab, "--out", tmp_path)
    assert ran.returncode != 0
    where = f"by {board.interfaces[0]}"
    said = f"the board at 192.168.78.67 does not answer: sent 10 requests in 3 s ({where})"
    assert said in ran.stderr
    doctor = narrows("doctor", "--target", "fpga", "--lab", lab)
    assert (doctor.returncode, said in doctor.stdout) == (1, True)


def test_a_scenario_beyond_the_board_is_refused(board: Bench, tmp_path: Path) -> None:
    source = tmp_path / "scenario.toml"
    source.write_text((SCENARIO % ("", "")).replace(f"{RATE_BPS}bps", "2Mbps"))
    ran = narrows(
        "run", source, "--target", "fpga", "--lab", board.lab(tmp_path), "--out", tmp_path
    )
    assert ran.returncode != 0
    assert "rate = 2Mbps: above 1Mbps, this board's line" in ran.stderr


def test_records_are_kept_when_the_board_vanishes(board: Bench, tmp_path: Path) -> None:
    source = tmp_path / "scenario.toml"
    source.write_text((SCENARIO % ("", "")).replace('"6s"', '"60s"'))
    words = command(
        "run", source, "--target", "fpga", "--lab", board.lab(tmp_path), "--out", tmp_path
    )
    more = received(board) + 100
    with (
        subprocess.Popen(
            words, cwd=ROOT, env=environment(), stderr=subprocess.PIPE, text=True
        ) as ran,
        board.silenced(lambda: received(board) >= more),
    ):
        _, said = ran.communicate(timeout=100)
    assert ran.returncode != 0
    [record] = (tmp_path / "scenario").glob("[!.]*/run.json")
    found = load_run(record.parent)
    assert found.invalid_reason is not None
    assert "fpga: the board at 192.168.78.66 does not answer" in found.invalid_reason
    assert "s after the start of the run" in said
    assert found.summary["duration_s"] < 40
    queue, flows = (pl.read_parquet(found.path / f"{name}.parquet") for name in ("queue", "flows"))
    assert queue.filter(pl.col("event") == "dequeue").height > 30
    assert flows.height > 0
    assert json.loads(record.read_text())["valid"] is False


def received(board: Bench) -> int:
    """Frames that the receivers' interface has received."""
    path = Path(f"/sys/class/net/{board.interfaces[1]}/statistics/rx_packets")
    return int(path.read_text())
