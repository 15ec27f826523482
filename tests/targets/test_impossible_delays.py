"""A run is void, and says so, if its instrument reports a delay below the path's minimum."""

from __future__ import annotations

import json
import subprocess

import pytest

from narrows.testbed.targets.linux import namespaces
from tests.support.needs import without
from tests.support.real_time import needs_dpdk
from tests.support.world import RunDirectory, command, environment, write
from tests.targets.test_real_time import WIDE

pytestmark = [needs_dpdk, without(namespaces.missing())]

LATE_STAMPS = """
import struct
from narrows.testbed.targets.linux import sockets

class Late(struct.Struct):
    def unpack_from(self, data):
        seconds, nanoseconds = super().unpack_from(data)
        return seconds, nanoseconds + 8_000_000

sockets.TIMESPEC = Late("=qq")
"""
"""Python runs a module of this name at its start: departures are reported 8 ms late."""

LEAST_MS = 14
SCENARIO = f"""
title = "One flow of the kernel's reno"
duration = "2s"
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
window = "4packets"
{WIDE}
"""
"""The path takes 2 + 10 + 2 ms at least; a window of 4 packets keeps the queue short."""


@pytest.fixture(scope="module")
def ran(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[RunDirectory, subprocess.CompletedProcess[str]]:
    directory = tmp_path_factory.mktemp("late")
    (directory / "sitecustomize.py").write_text(LATE_STAMPS)
    environs = environment()
    environs["PYTHONPATH"] = f"{directory}:{environs['PYTHONPATH']}"
    source = write(directory, SCENARIO)
    options = ("--target", "dpdk", "--hosts", "linux", "--no-figures", "--out", directory)
    done = subprocess.run(
        command("run", source, *options), env=environs, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    [path] = [made.parent for made in directory.glob("scenario/[!.]*/run.json")]
    return RunDirectory(path), done


def test_impossible_delays_are_counted_and_no_samples(
    ran: tuple[RunDirectory, subprocess.CompletedProcess[str]],
) -> None:
    [flow] = ran[0].summary["flows"]
    assert flow["impossible_delays"] > 0
    samples = flow["one_way_delay_ms"]
    assert samples is None or samples["min"] >= LEAST_MS


def test_a_run_with_impossible_delays_is_void(
    ran: tuple[RunDirectory, subprocess.CompletedProcess[str]],
) -> None:
    directory, done = ran
    record = json.loads((directory.path / "run.json").read_text())
    assert record["valid"] is False
    said = "one-way delays were below the least of the path"
    assert said in record["invalid_reason"]
    assert said in done.stderr
