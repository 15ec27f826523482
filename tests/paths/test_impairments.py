"""Links with impairments in whole runs: fates in the ledger, conservation, and refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from narrows.testbed.problems import InputError
from narrows.testbed.scenario.sweep import read
from narrows.testbed.targets import TARGETS
from tests.support.world import RunDirectory, run

MS = 1_000_000_000
DUMBBELL = """
title = "A link"
duration = "10s"
[bottleneck]
rate = "10Mbps"
delay = "20ms"
queue = "50packets"
KEYS
[access]
rate = "100Mbps"
delay = "1ms"
[[flow]]
FLOW
"""
UDP = 'transport = "udp"\napp = { kind = "cbr", rate = "5Mbps", size = "1000B" }'
BULK = 'variant = "cubic"\napp = { kind = "bulk", bytes = "3000KB" }'
BURSTS = 'loss = { model = "gemodel", p = "2%", r = "25%" }\n'
TWICE = 'duplicate = { probability = "10%" }\n'
OVERTAKING = 'reorder = { probability = "5%", correlation = "25%" }\n'
VARYING = 'jitter = { time = "3ms", distribution = "normal" }\nkeep_order = false\n'


def ran(path: Path, keys: str, flow: str = UDP, events: str = "", **changed: Any) -> RunDirectory:
    """A run of the dumbbell with these keys of its bottleneck."""
    text = DUMBBELL.replace("KEYS", keys).replace("FLOW", flow) + events
    return run(path, text, **changed)


def link(done: RunDirectory, direction: str = "out") -> dict[str, Any]:
    """The summary's counts of the bottleneck's link."""
    [found] = [one for one in done.summary["links"] if one["direction"] == direction]
    return dict(found)


def test_every_packet_has_its_fate(tmp_path: Path) -> None:
    """6,250 datagrams of 5 Mb/s in 10 s, twice in 10 %, of which p / (p + r) are lost."""
    done = ran(tmp_path, BURSTS + TWICE + OVERTAKING + VARYING)
    counts, rows = link(done), done.table("links")
    assert counts["received"] + counts["duplicated"] == (
        counts["delivered"] + counts["lost"] + counts["in_flight"]
    )
    assert counts["received"] == done.summary["bottleneck"]["dequeued"] == rows["packet"].n_unique()
    assert len(rows) == counts["received"] + counts["duplicated"]
    lost = rows.filter(pl.col("event") == "drop")
    assert set(lost["reason"]) == {"gemodel"}
    assert len(lost) == counts["lost"] == lost["delay_ps"].null_count()
    assert len(lost) / len(rows) == pytest.approx(2 / 27, abs=0.02)
    assert counts["duplicated"] / counts["received"] == pytest.approx(0.1, abs=0.02)
    skipped = rows.filter(pl.col("reason").str.contains("reorder"))
    assert len(skipped) / counts["delivered"] == pytest.approx(0.05, abs=0.015)
    assert set(skipped["delay_ps"]) == {0}
    assert set(rows["flow"]) == {1}
    [flow] = done.summary["flows"]
    assert flow["datagrams"]["duplicates"] > 0 < flow["datagrams"]["reordered"]
    delays = rows.filter(pl.col("reason") == "")["delay_ps"].drop_nulls() / MS
    assert delays.mean() == pytest.approx(20, abs=0.2)
    assert delays.std() == pytest.approx(3, abs=0.15)


def test_a_run_is_a_function_of_its_seed(tmp_path: Path) -> None:
    keys = BURSTS + TWICE + OVERTAKING + VARYING
    first, again, other = (
        ran(tmp_path / str(number), keys, seed=seed).table("links")
        for number, seed in enumerate((1, 1, 2))
    )
    assert first.equals(again)
    assert not first.equals(other)


@pytest.mark.parametrize("keys", [OVERTAKING, VARYING, TWICE, BURSTS + TWICE + OVERTAKING])
def test_tcp_completes_over_an_impaired_link(tmp_path: Path, keys: str) -> None:
    done = ran(tmp_path, keys, BULK, duration="completion")
    assert done.summary["valid"]
    assert done.summary["flows"][0]["delivered_bytes"] == 3_000_000


def test_order_is_kept_unless_asked(tmp_path: Path) -> None:
    ordered = VARYING.replace("false", "true")
    assert link(ran(tmp_path / "kept", ordered))["reordered"] == 0
    assert link(ran(tmp_path / "free", VARYING))["reordered"] > 0


EVENTS = """
[[event]]
at = "4s"
set = { bottleneck = { delay = "50ms" } }
[[event]]
at = "8s"
set = { bottleneck = { delay = "10ms" } }
"""


def test_delay_follows_events_in_both_directions(tmp_path: Path) -> None:
    """The round trip is 2 x (2 x 1 ms + delay) plus transmissions below 3 ms."""
    done = ran(tmp_path, "", 'variant = "cubic"\nwindow = "4packets"', EVENTS)
    rows = done.table("links")
    for low, high, delay in ((0, 4000, 20), (4000, 8000, 50), (8200, 10_000, 10)):
        within = pl.col("time_ps").is_between(low * MS, high * MS, closed="left")
        found = rows.filter(within)
        assert set(found["direction"]) == {"in", "out"}
        assert set(found["delay_ps"] / MS) == {delay}
        later = pl.col("time_ps").is_between((low + 200) * MS, high * MS, closed="left")
        rtt = done.table("flows").filter(later)["rtt_ps"].drop_nulls().to_numpy() / MS
        assert 2 * (2 + delay) <= rtt.min() <= rtt.max() <= 2 * (2 + delay) + 10
    assert link(done)["reordered"] == link(done, "in")["reordered"] == 0


def test_delay_follows_a_trace(tmp_path: Path) -> None:
    trace = tmp_path / "delays.csv"
    trace.write_text("seconds,delay_ms\n0,5\n1,40\n", encoding="utf-8")
    done = ran(tmp_path / "run", f"delay_trace = {json.dumps(str(trace))}\nkeep_order = false\n")
    rows = done.table("links")
    at = pl.col("time_ps") % (2000 * MS) < 1000 * MS
    assert set(rows.filter(at)["delay_ps"] / MS) == {5}
    assert set(rows.filter(~at)["delay_ps"] / MS) == {40}
    # Packets of the last 35 ms before a fall of the delay are overtaken; those after it overtake.
    assert link(done)["reordered"] > 4 * 10


def test_links_without_impairments_have_no_table(tmp_path: Path) -> None:
    done = ran(tmp_path, 'loss = "1%"\n')
    assert "links" not in done.summary
    assert not (done.path / "links.parquet").exists()


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ('loss = { model = "gemodel", p = 2, r = 0.5 }\n', "bottleneck.loss.p"),
        ('loss = { model = "gemodel", p = 0.1, q = 0.5 }\n', "bottleneck.loss.q"),
        ('loss = { model = "gilbert", p = 0.1 }\n', "bottleneck.loss.model"),
        ("loss = 2\n", "bottleneck.loss = 2"),
        ("duplicate = { probability = -0.1 }\n", "bottleneck.duplicate.probability"),
        ("reorder = { probability = 0.1, gap = 0 }\n", "bottleneck.reorder.gap"),
        ('jitter = { time = "1ms", distribution = "gauss" }\n', "bottleneck.jitter.distribution"),
        ('jitter = { time = "0s" }\n', "bottleneck.jitter.time"),
        ('jitter = { time = "1ms", correlation = 1 }\n', "bottleneck.jitter.correlation"),
        ('delay_trace = "nowhere.csv"\n', "bottleneck.delay_trace"),
    ],
)
def test_bad_values_name_their_key(tmp_path: Path, keys: str, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        ran(tmp_path, keys)


@pytest.mark.parametrize("target", ["bmv2", "tofino"])
@pytest.mark.parametrize(
    ("keys", "key"),
    [(BURSTS, "loss"), (TWICE, "duplicate"), (OVERTAKING, "reorder"), (VARYING, "jitter")],
)
def test_targets_refuse_impairments(tmp_path: Path, target: str, keys: str, key: str) -> None:
    path = tmp_path / "scenario.toml"
    path.write_text(DUMBBELL.replace("KEYS", keys).replace("FLOW", UDP), encoding="utf-8")
    [point] = read(path)
    with pytest.raises(InputError, match=f"bottleneck.{key}.*--target {target}"):
        TARGETS[target].check(point.scenario, str(path), {})
