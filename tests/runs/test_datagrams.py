"""Flows of UDP datagrams through whole runs, against arithmetic written out here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from narrows.analysis import metrics
from narrows.analysis.export.iperf3 import as_iperf3
from narrows.analysis.load import Run
from narrows.testbed.problems import InputError
from narrows.testbed.scenario import sweep
from tests.support.world import narrows, run, write

CBR = """
title = "CBR over UDP into half its rate"
duration = "completion"
[bottleneck]
rate = "400kbps"
delay = "20ms"
queue = "5packets"
counts = "ip"
[access]
rate = "1Gbps"
jitter = "0s"
counts = "ip"
[[flow]]
transport = "udp"
app = { kind = "cbr", rate = "777600bps", size = "972B", messages = 100 }
"""
"""1,000 bytes of IPv4 every 10 ms; the bottleneck takes 20 ms for each."""


def test_a_queue_loses_what_exceeds_its_rate(tmp_path: Path) -> None:
    done = run(tmp_path, CBR)
    [flow] = done.summary["flows"]
    bottleneck = done.summary["bottleneck"]
    # Datagram 99 comes at 990 ms; transmissions began at 0, 20, ..., 980, and five wait.
    assert (flow["sent_segments"], flow["datagrams"]["received"]) == (100, 55)
    assert bottleneck["drops"] == {"queue-full": 45}
    # Datagram 99 is lost, which no later datagram reveals.
    assert flow["datagrams"]["lost"] == 44
    assert (flow["variant"], flow["recovery"], flow["rtt_ms"]) == ("udp", "none", None)
    assert flow["completion_s"] == pytest.approx(0.99)
    # 8 us on each access link, 20 ms on the bottleneck and on its way; at most 5 before it.
    delay = flow["one_way_delay_ms"]
    assert (delay["min"], delay["max"]) == pytest.approx((40.016, 140.016), abs=1e-3)
    # The P4 program recognizes the flow by its entry, and its reports have the ports of UDP.
    assert set(done.table("queue")["flow"]) == {1}
    assert set(done.table("packets")["source"]) == {"10.0.0.1:10001"}


def as_run(done: Any, record: Any) -> Run:
    """A run with a record that contains only this."""
    summary: Any = done.summary
    return Run(done.path, record, summary)


def test_each_datagram_is_a_message(tmp_path: Path) -> None:
    messages = run(tmp_path, CBR, duration="2s").table("messages")
    assert messages["message"].is_sorted() and len(messages) == 55


def test_goodput_counts_the_messages_that_arrived(tmp_path: Path) -> None:
    done = run(tmp_path, CBR, duration="2s")
    messages = done.table("messages")
    goodput = metrics.goodput_bps(as_run(done, {}), 10**12 // 2)
    carried = goodput["bps"].sum() / 2
    assert carried == messages["length_bytes"].sum() * 8


def test_jitter_with_a_competing_flow_follows_from_messages(tmp_path: Path) -> None:
    beside = CBR.replace("messages = 100", "messages = 400") + (
        '[[flow]]\nvariant = "reno"\napp = { kind = "bulk", bytes = "100KB" }\n'
    )
    done = run(tmp_path, beside, bottleneck__rate="900kbps")
    udp = done.summary["flows"][0]["datagrams"]
    own = done.table("messages").filter(pl.col("flow") == 1)
    # RFC 3550 section 6.4.1, from the table's rows.
    jitter = 0.0
    for difference in (own["read_ps"] - own["written_ps"]).diff().drop_nulls():
        jitter += (abs(difference) - jitter) / 16
    assert udp["jitter_ms"] == pytest.approx(jitter / 1e9, rel=1e-6)
    variation_ms = (own["read_ps"] - own["written_ps"]).diff().drop_nulls().abs() / 1e9
    assert udp["delay_variation_ms"]["max"] == pytest.approx(variation_ms.max())
    assert udp["delay_variation_ms"]["mean"] == pytest.approx(variation_ms.mean())


def test_iperf3s_json_has_what_iperf3_tells_of_udp(tmp_path: Path) -> None:
    done = run(tmp_path, CBR, duration="2s")
    record = {"target": "sim", "seed": 1, "scenario": {"title": "CBR"}}
    told = as_iperf3(as_run(done, record))
    [stream] = told["end"]["streams"]
    # The second from 0 to 1 has the datagrams that arrived in it: 48 of 20 ms after the first 40
    # ms.
    assert [interval["sum"]["bytes"] for interval in told["intervals"]] == [48 * 972, 7 * 972]
    assert (stream["udp"]["packets"], stream["udp"]["lost_packets"]) == (99, 44)
    assert stream["udp"]["lost_percent"] == pytest.approx(100 * 44 / 99)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"variant": "reno"}, 'variant = "reno": is TCP\'s; over UDP expected none, or one of udp'),
        ({"window": "20packets"}, '"window" is TCP\'s; this flow sends datagrams'),
        (
            {"app": {"kind": "bulk"}},
            'app = "bulk": is not supported by udp: it has no pace of its own',
        ),
        (
            {"app": {"kind": "request-response", "size": "80B", "response": "80B"}},
            'app = "request-response": is not supported by udp: both its ends write',
        ),
        ({"transport": "tcp", "variant": "udp"}, 'sends datagrams; expected transport = "udp"'),
        ({"params": {"alpha": 1}}, "unknown parameter of udp"),
    ],
)
def test_what_a_flow_of_datagrams_has_no_use_for_is_refused(
    tmp_path: Path, settings: dict[str, object], expected: str
) -> None:
    given = [(f"flow.{key}", value) for key, value in settings.items()]
    with pytest.raises(InputError, match=r"flow\.0") as refused:
        sweep.read(write(tmp_path, CBR), given)
    assert expected in str(refused.value)


def test_the_lists_know_datagrams() -> None:
    listed = narrows("list", "variants").stdout
    assert "UDP: datagrams leave" in listed
