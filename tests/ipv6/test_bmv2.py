"""IPv6 through bmv2: flows, marks and reports, and the figures of the same run in virtual time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from narrows.testbed.targets.linux import LINUX
from tests.support.needs import without
from tests.support.switches import lacking_for_bmv2
from tests.support.world import RunDirectory, narrows, write
from tests.targets.test_bmv2_run import any_run_on_bmv2, skip_if_void

SCENARIO = """
title = "DCTCP and datagrams over IPv6"
duration = "4s"
ip_version = 6
profile = "linux"
[bottleneck]
rate = "5Mbps"
delay = "10ms"
queue = "30packets"
ecn_threshold = "8packets"
[access]
rate = "1Gbps"
delay = "1ms"
[instrument]
poll_gap = "100ms"
departure_error = "2ms"
[record]
capture = true
[[flow]]
variant = "dctcp"
[[flow]]
transport = "udp"
app = { kind = "cbr", rate = "500kbps", size = "1452B" }
"""
"""Datagrams are as long as full segments, 1,514 bytes of frame: bmv2 counts packets."""
DROPPING = SCENARIO.replace("dctcp", "reno").replace('ecn_threshold = "8packets"\n', "")
WAYS = {
    (1, "[fd00::a00:1]:10001", "[fd00::a01:1]:5001"),
    (2, "[fd00::a00:2]:10002", "[fd00::a01:2]:5001"),
}
"""Flow, source and destination of the bottleneck's packets."""
pytestmark = [
    pytest.mark.skipif(bool(lacking_for_bmv2()), reason=lacking_for_bmv2() or ""),
]


@pytest.fixture(scope="module")
def marking(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    return any_run_on_bmv2(tmp_path_factory.mktemp("bmv2"), SCENARIO)


@pytest.fixture(scope="module")
def dropping(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    return any_run_on_bmv2(tmp_path_factory.mktemp("bmv2"), DROPPING)


def conserved(run: RunDirectory) -> dict[str, Any]:
    """The bottleneck's figures, whose packets add up."""
    bottleneck: dict[str, Any] = run.summary["bottleneck"]
    assert bottleneck["arrived"] == bottleneck["enqueued"] + bottleneck["dropped"]
    assert bottleneck["enqueued"] == bottleneck["dequeued"] + bottleneck["queued"]
    assert len(run.table("packets")) == bottleneck["dequeued"]
    return bottleneck


def test_packets_are_conserved(marking: RunDirectory, dropping: RunDirectory) -> None:
    assert conserved(marking)["dropped"] == 0
    assert conserved(dropping)["drops"]["queue-full"] > 0


def test_reports_name_flows_and_addresses(marking: RunDirectory) -> None:
    reports = marking.table("packets")
    assert set(reports.select("flow", "source", "destination").iter_rows()) == WAYS
    assert set(reports["frame_length_bytes"]) <= {*range(62, 200), 1514}


def congested(run: RunDirectory) -> Iterator[bytes]:
    """Received packets that carry the mark."""
    received = run.table("capture").filter(pl.col("direction") == "received")
    for data in received["bytes"]:
        assert data[12:15].hex()[:5] == "86dd6"
        if data[15] >> 4 & 3 == 3:
            yield data


def test_a_mark_is_in_the_header_and_counted(marking: RunDirectory) -> None:
    marks = conserved(marking)["marks"]
    assert set(marks) == {"egress-program"}
    # Packets in flight at the end are counted, and captured by nobody.
    assert 0 <= marks["egress-program"] - len([*congested(marking)]) <= 30
    assert {data[20] for data in congested(marking)} == {6}, "datagrams cannot carry it"


def test_a_run_without_a_threshold_has_no_mark(dropping: RunDirectory) -> None:
    assert not [*congested(dropping)]
    assert "marks" not in conserved(dropping)


def in_virtual_time(directory: Path, text: str) -> dict[str, Any]:
    source = write(directory, text)
    assert narrows("run", source, "--out", directory, "--no-figures").returncode == 0
    return RunDirectory(directory / "scenario" / "seed=1").summary


def agree(ours: RunDirectory, theirs: dict[str, Any]) -> None:
    """Goodput and queueing delay, as over IPv4 (tests/targets/test_bmv2_run.py)."""
    skip_if_void(ours)
    goodputs = [one["aggregate_goodput_bps"] for one in (ours.summary, theirs)]
    assert goodputs[0] == pytest.approx(goodputs[1], rel=0.03)
    here, there = ours.summary["bottleneck"], theirs["bottleneck"]
    assert here["queue_packets_mean"] == pytest.approx(there["queue_packets_mean"], rel=0.1)
    mean_ms = there["queue_delay_ms"]["mean"]
    assert here["queue_delay_ms"]["mean"] == pytest.approx(mean_ms, rel=0.1)


def test_marks_agree_with_virtual_time(marking: RunDirectory, tmp_path: Path) -> None:
    virtual = in_virtual_time(tmp_path, SCENARIO)
    agree(marking, virtual)
    marks = [one["bottleneck"]["marks"]["egress-program"] for one in (virtual, marking.summary)]
    assert marks[0] > 100
    assert marks[1] == pytest.approx(marks[0], rel=0.3)


def test_drops_agree_with_virtual_time(dropping: RunDirectory, tmp_path: Path) -> None:
    virtual = in_virtual_time(tmp_path, DROPPING)
    agree(dropping, virtual)
    assert dropping.summary["bottleneck"]["queue_packets_max"] == 30


@without(LINUX.missing())
def test_the_kernels_hosts_are_behind_it(tmp_path: Path) -> None:
    done = any_run_on_bmv2(tmp_path, DROPPING.replace("capture = true", ""), "--hosts", "linux")
    assert set(done.table("packets")["flow"]) == {1, 2}
    assert conserved(done)["dropped"] > 0
    skip_if_void(done)
    tcp, udp = (flow["goodput_bps"] for flow in done.summary["flows"])
    # Of each 1,514 bytes 1,428 are a segment's payload; datagrams have at least 0.4 of 5 Mb/s.
    assert 3.4e6 < tcp < 4.6e6 * 1428 / 1514
    assert 0.4e6 < udp < 0.51e6
    assert done.summary["bottleneck"]["utilization"] > 0.9
