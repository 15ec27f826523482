"""`profile = "linux"` beside the running kernel's TCP: CUBIC and Reno share a link."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from narrows.testbed.targets.linux import namespaces
from tests.support.needs import without
from tests.support.real_time import Machine, judged, needs_dpdk
from tests.support.world import RunDirectory, narrows, write
from tests.targets.test_real_time import WIDE

pytestmark = [needs_dpdk, without(namespaces.missing())]

SECONDS = 15
SCENARIO = f"""
title = "CUBIC and Reno through 10 Mb/s"
duration = "{SECONDS}s"
profile = "linux"
[bottleneck]
rate = "10Mbps"
delay = "10ms"
queue = "1bdp"
[access]
rate = "100Mbps"
delay = "500us"
[[flow]]
variant = "cubic"
[[flow]]
variant = "reno"
start = "1s"
{WIDE}
"""
PAYLOAD_SHARE = 1448 / 1514
"""Bytes of TCP's payload in a frame of 1,514 bytes, with time stamps."""


def ran(directory: Path, *options: str) -> RunDirectory:
    """The scenario's one run."""
    directory.mkdir()
    source = write(directory, SCENARIO)
    machine = Machine()
    done = narrows("run", source, *options, "--no-figures", "--out", directory)
    stalled_us = machine.longest_us()
    assert done.returncode == 0, done.stderr
    [path] = [made.parent for made in directory.glob("scenario/[!.]*/run.json")]
    return RunDirectory(path, stalled_us)


def goodput_mbps(run: RunDirectory) -> list[float]:
    """What CUBIC and Reno delivered, in Mb/s over the whole run."""
    return [flow["delivered_bytes"] * 8e-6 / SECONDS for flow in run.summary["flows"]]


def test_its_shares_are_near_the_running_kernels(tmp_path: Path) -> None:
    ours = ran(tmp_path / "sim")
    theirs = ran(tmp_path / "kernel", "--target", "dpdk", "--hosts", "linux")
    assert json.loads((theirs.path / "run.json").read_text())["hosts"] == "linux"
    [our_cubic, our_reno], [cubic, reno] = goodput_mbps(ours), goodput_mbps(theirs)
    print(f"sim {our_cubic:.2f} {our_reno:.2f}, kernel {cubic:.2f} {reno:.2f} Mb/s")
    assert our_cubic > our_reno
    assert our_cubic + our_reno == pytest.approx(10 * PAYLOAD_SHARE, rel=0.03)
    with judged(theirs.longest_gap_us):
        assert cubic + reno == pytest.approx(our_cubic + our_reno, rel=0.03)
        # Which packets are lost differs, and with them each flow's share.
        assert cubic == pytest.approx(our_cubic, abs=1.5)
