"""Ports with several queues, and ports along a trace, in whole runs."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from narrows.testbed.problems import InputError
from narrows.testbed.scenario.traces.links import LinkTrace, as_csv, as_mahimahi
from tests.support.world import RunDirectory, run

MS = 1_000_000_000
QUEUES = """
title = "Three queues"
duration = "10s"
[bottleneck]
rate = "8Mbps"
delay = "5ms"
queue = "50packets"
queues = [
    { dscp = [46], rate = "1Mbps", queue = "10packets" },
    { dscp = [34], weight = 3, discipline = "codel" },
    { weight = 1 },
]
[access]
rate = "100Mbps"
delay = "1ms"
[[flow]]
transport = "udp"
dscp = 46
app = { kind = "cbr", rate = "3Mbps", size = "1000B" }
[[flow]]
transport = "udp"
dscp = 34
app = { kind = "cbr", rate = "9Mbps", size = "1000B" }
[[flow]]
transport = "udp"
app = { kind = "cbr", rate = "9Mbps", size = "500B" }
"""
HALVED = """
[[event]]
at = "5s"
set = { bottleneck = { queues = [{ queue = 1, weight = 1 }, { queue = 0, rate = "2Mbps" }] } }
"""
TRACED = """
title = "A trace"
duration = "3s"
[bottleneck]
rate = "8Mbps"
trace = "TRACE"
delay = "5ms"
queue = "20packets"
[access]
rate = "100Mbps"
delay = "1ms"
[[flow]]
transport = "udp"
app = { kind = "cbr", rate = "20Mbps", size = "1000B" }
"""


def sent_bytes(done: RunDirectory, queue: int, start_s: float, end_s: float) -> int:
    """Bytes that a queue of the bottleneck sent between two times, without those it dropped."""
    ledger = done.table("queue").filter(pl.col("queue") == queue)
    left = ledger.filter(
        (pl.col("event") == "dequeue") & pl.col("time_ps").is_between(start_s * 1e12, end_s * 1e12)
    )
    dropped = ledger.filter(pl.col("event") == "drop").select("packet")
    return int(left.join(dropped, on="packet", how="anti")["length_bytes"].sum())


def test_rates_and_weights_share_the_bottleneck(tmp_path: Path) -> None:
    """1 Mb/s for the strict queue, and 7 Mb/s shared 3 to 1; from 5 s on 2 Mb/s, and 6 equally."""
    done = run(tmp_path, QUEUES + HALVED)
    for start_s, mbps in ((1, (1, 5.25, 1.75)), (6, (2, 3, 3))):
        for queue, expected in enumerate(mbps):
            found = sent_bytes(done, queue, start_s, start_s + 4) * 8 / 4e6
            assert found == pytest.approx(expected, rel=0.01), (start_s, queue)
    queues = done.summary["bottleneck"]["queues"]
    assert [one["queue"] for one in queues] == [0, 1, 2]
    assert queues[0]["queue_packets_max"] == 10, "its own limit"
    assert set(queues[1]["drops"]) == {"queue-full", "codel"}, "its own discipline"
    assert set(queues[2]["drops"]) == {"queue-full"}
    ledger = done.table("queue").filter(pl.col("event") == "dequeue")
    total = int(ledger["length_bytes"].sum())
    assert sum(one["dequeued_bytes"] for one in queues) == total


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("dscp = [34]", "dscp = [46]", "dscp 46 is in two queues"),
        ("weight = 3", "weight = 0", "greater than or equal to 1"),
        ("queue = 1, weight", "queue = 3, weight", "is not one of the port's 3 queues"),
        ("queue = 1, weight", "queue = 0, weight", "the queue has strict priority"),
    ],
)
def test_queues_that_do_not_fit_are_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in QUEUES + HALVED
    with pytest.raises(InputError, match=words):
        run(tmp_path, (QUEUES + HALVED).replace(old, new))


@pytest.mark.parametrize("name", ["trace.csv", "trace.trace"])
def test_a_bottleneck_sends_what_its_trace_allows(tmp_path: Path, name: str) -> None:
    """12.032 Mb/s for 0.2 s, an outage of 0.1 s, 6.016 Mb/s for 0.2 s: the sender always has more.

    At any time the bytes sent are those allowed, less the packet in transmission.
    """
    one = 1504 * 8 * 1000
    trace = LinkTrace([(0, one), (200 * MS, 0), (300 * MS, one // 2)], 500 * MS)
    text = as_csv(trace) if name.endswith(".csv") else as_mahimahi(trace)
    (tmp_path / name).write_text(text)
    done = run(tmp_path, TRACED.replace("TRACE", name))
    left = done.table("queue").filter(pl.col("event") == "dequeue")
    sent, first_ps = 0, int(left["time_ps"][0])
    for at_ps, length in left.select("time_ps", "length_bytes").iter_rows():
        laps, rest = divmod(at_ps, trace.period_ps)
        allowed = (laps * trace.bit_ps(trace.period_ps) + trace.bit_ps(rest)) / 8e12
        before = trace.bit_ps(first_ps) / 8e12
        # A chance of mahimahi's is spread over its millisecond.
        assert abs(allowed - before - sent) <= (1 if name.endswith(".csv") else 1504), at_ps
        sent += length
    used = done.summary["bottleneck"]["utilization"]
    assert used == pytest.approx(1.0, abs=0.005)
    # No packet leaves in an outage.
    times = left["time_ps"].to_numpy() % trace.period_ps
    assert not ((times > 201 * MS) & (times < 300 * MS)).any()


def test_a_rate_cannot_be_set_over_a_trace(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("seconds,bps\n0,8000000\n")
    event = '\n[[event]]\nat = "1s"\nset = { bottleneck = { rate = "2Mbps" } }\n'
    with pytest.raises(InputError, match="the port follows a trace"):
        run(tmp_path, TRACED.replace("TRACE", "t.csv") + event)


def test_a_missing_trace_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r'trace = "no.csv": cannot be read'):
        run(tmp_path, TRACED.replace("TRACE", "no.csv"))
