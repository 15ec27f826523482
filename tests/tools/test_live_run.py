"""`narrows run --live`: a run seen and changed by a page, and the same run without a change."""

from __future__ import annotations

import json
import re
import subprocess
import time
from pathlib import Path
from typing import Any, Self

import pytest

from narrows.testbed.targets.linux.namespaces import missing
from tests.support.needs import programs, without
from tests.support.real_time import needs_dpdk
from tests.support.world import command, environment, narrows, write
from tests.tools.test_live_view import fetch, first_event

SCENARIO = """
title = "One flow through 5 Mb/s"
duration = "6s"
[bottleneck]
rate = "5Mbps"
delay = "5ms"
queue = "20packets"
[access]
rate = "100Mbps"
delay = "1ms"
[[flow]]
variant = "reno"
"""
OWN = {"X-Narrows": "1"}
RATE_BPS = 2_000_000


class Watched:
    """A `narrows` command with `--live`, and its page's address."""

    def __init__(self, *words: str | Path) -> None:
        self.process = subprocess.Popen(
            command(*map(str, words)), env=environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stderr
        line = self.process.stderr.readline()
        self.address = line.split()[-1]
        assert "live view at" in line, line

    def port(self) -> dict[str, Any]:
        """The first port that the page sees, with the instant and the windows."""
        event = first_event(self.address)
        port: dict[str, Any] = event["ports"][0]
        return port | {"time_s": event["time_s"], "windows_bytes": event["windows_bytes"]}

    def change(self, **setting: object) -> tuple[int, str]:
        return fetch(self.address + "change", {"port": 0, **setting}, **OWN)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def end(self) -> tuple[int, str]:
        """The exit code, and what it printed."""
        said, errors = self.process.communicate(timeout=60)
        return self.process.returncode, said + errors


def test_a_watched_run_has_the_same_bytes(tmp_path: Path) -> None:
    source = write(tmp_path, SCENARIO)
    for name, more in (("plain", ()), ("watched", ("--live", "--pace", "1000000"))):
        ran = narrows("run", str(source), "--out", str(tmp_path / name), "--no-figures", *more)
        assert ran.returncode == 0, ran.stderr
    first, second = (sorted((tmp_path / name).rglob("*.*")) for name in ("plain", "watched"))
    kept = {"queue.parquet", "flows.parquet", "packets.parquet", "summary.json", "run.json"}
    pairs = [each for each in zip(first, second, strict=True) if each[0].name in kept]
    assert len(pairs) == len(kept)
    for one, other in pairs:
        assert one.read_bytes() == other.read_bytes(), one.name


def test_a_page_sees_and_changes_a_run(tmp_path: Path) -> None:
    """At twice the speed. After the change the port sends at most the new rate."""
    source = write(tmp_path, SCENARIO)
    began = time.monotonic()
    out = ("--out", tmp_path / "results", "--no-figures", "--pace", "2")
    with Watched("run", source, "--live", *out) as watched:
        time.sleep(0.5)
        before = watched.port()
        assert (before["rate_bps"], before["queue_limit"]) == (5_000_000, {"packets": 20})
        [(flow, window)] = before["windows_bytes"].items()
        assert flow.startswith("flow 1, ") and window > 0
        assert watched.change(rate_bps=RATE_BPS) == (200, "{}")
        assert watched.change(queue_limit={"packets": 9}) == (200, "{}")
        assert fetch(watched.address + "change", {"port": 7, "rate_bps": 1}, **OWN)[0] == 409
        # The page has a snapshot every 0.1 s.
        time.sleep(0.3)
        first = watched.port()
        time.sleep(1)
        second = watched.port()
        assert (second["rate_bps"], second["queue_limit"]) == (RATE_BPS, {"packets": 9})
        span_s = second["time_s"] - first["time_s"]
        # A packet may have begun before the span.
        most = RATE_BPS / 8 * span_s + 2 * 1514
        assert 0 < second["transmitted_bytes"] - first["transmitted_bytes"] <= most
        code, said = watched.end()
        assert code == 1 and "its ports were changed by hand" in said
        assert 2.5 < time.monotonic() - began < 30, "six seconds at twice the speed"
        [path] = (tmp_path / "results").rglob("summary.json")
        summary = json.loads(path.read_text())
        assert summary["bottleneck"]["rate_bps"] == RATE_BPS and not summary["valid"]


@needs_dpdk
def test_a_run_in_real_time_is_seen_and_changed(tmp_path: Path) -> None:
    source = write(tmp_path, SCENARIO)
    out = ("--out", tmp_path / "results", "--no-figures", "--set", "duration=4s")
    with Watched("run", source, "--target", "dpdk", "--live", *out) as watched:
        watched.port()
        assert watched.change(rate_bps=RATE_BPS) == (200, "{}")
        time.sleep(0.5)
        assert watched.port()["rate_bps"] == RATE_BPS
        code, said = watched.end()
        assert code == 1 and "its ports were changed by hand" in said


@needs_dpdk
@without(missing())
@programs("iperf3")
def test_a_shell_is_seen_and_changed(tmp_path: Path) -> None:
    shell = ("shell", "--rate", "5Mbps", "--live", "--quiet", "--no-figures", "--out", tmp_path)
    with Watched(
        *shell, "--server", "iperf3 -s", "--", "iperf3", "-c", "server", "-t", "3"
    ) as watched:
        names = [port["name"] for port in first_event(watched.address)["ports"]]
        assert names == ["far port 1", "program port 1"]
        assert watched.change(rate_bps=RATE_BPS) == (200, "{}")
        time.sleep(0.5)
        assert watched.port()["rate_bps"] == RATE_BPS
        code, said = watched.end()
        assert code == 0 and re.search("its ports were changed by hand", said)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--set", "flow.count=[1, 2]"), ""),
        (("--resume",), "--live: expected no --resume with it"),
        (("--pace", "0"), "--pace: 0.0: expected above 0"),
        (("--target", "rtl"), "--live"),
    ],
)
def test_a_run_that_cannot_be_watched_is_refused(
    tmp_path: Path, more: tuple[str, ...], said: str
) -> None:
    ran = narrows("run", str(write(tmp_path, SCENARIO)), "--live", *more)
    assert ran.returncode == 2 and said in ran.stderr, ran.stderr
