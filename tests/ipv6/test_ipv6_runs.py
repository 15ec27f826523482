"""Whole runs over IPv6, against IPv4 with packets of the same length, and against Scapy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scapy.config import conf
from scapy.layers.inet import TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Packet
from scapy.utils import PcapNgReader

from narrows.analysis.export.pcapng import FORMAT
from narrows.analysis.load import Run
from narrows.testbed.problems import InputError
from narrows.testbed.scenario import plan, sweep
from narrows.testbed.scenario.background import BackgroundRequest
from narrows.testbed.scenario.background import read as read_background
from narrows.testbed.targets import TARGETS
from tests.support.world import TWO_FLOWS, RunDirectory, run, write

CBR = """
title = "Datagrams into half their rate"
duration = "completion"
[bottleneck]
rate = "400kbps"
delay = "20ms"
queue = "5packets"
loss = 0.05
[access]
rate = "1Gbps"
[[flow]]
transport = "udp"
app = { kind = "cbr", rate = "800kbps", size = "1000B", messages = 200 }
"""


def over_ipv6(directory: Path, text: str, **settings: Any) -> RunDirectory:
    return run(directory / "ipv6", text, ip_version=6, **settings)


def test_datagrams_as_long_as_over_ipv4_get_the_same_ledger(tmp_path: Path) -> None:
    """Messages of 20 bytes more over IPv4, at the same times."""
    longer = CBR.replace("1000B", "1020B").replace("800kbps", "816kbps")
    first, second = run(tmp_path / "ipv4", longer), over_ipv6(tmp_path, CBR)
    ours = second.table("queue")
    assert_frame_equal(first.table("queue"), ours)
    assert set(ours["flow"]) == {1}
    assert {"queue-full"} <= set(ours["reason"])
    differing = ("source", "destination")
    left, right = (one.table("packets") for one in (first, second))
    assert_frame_equal(left.drop(*differing), right.drop(*differing))
    assert set(right["source"]) == {"[fd00::a00:1]:10001"}
    assert set(right["destination"]) == {"[fd00::a01:1]:5001"}


def test_tcp_gets_what_it_gets_over_ipv4(tmp_path: Path) -> None:
    """Data packets are equally long, but ACKs are 20 bytes longer, so times differ a little."""
    first = run(tmp_path / "ipv4", TWO_FLOWS).summary
    second = over_ipv6(tmp_path, TWO_FLOWS).summary
    queues = [one["bottleneck"] for one in (first, second)]
    sent = [sum(flow["sent_segments"] for flow in one["flows"]) for one in (first, second)]
    assert sent[0] == pytest.approx(sent[1], rel=0.005)
    assert queues[0]["dropped"] == pytest.approx(queues[1]["dropped"], rel=0.2)
    goodput = [sum(flow["goodput_bps"] for flow in one["flows"]) for one in (first, second)]
    # 1,428 of 1,448 bytes.
    assert goodput[1] / goodput[0] == pytest.approx(1428 / 1448, rel=0.005)
    for quantile in ("p50", "max"):
        delays = [one["queue_delay_ms"][quantile] for one in queues]
        assert delays[0] == pytest.approx(delays[1], rel=0.1)


MARKING = TWO_FLOWS.replace('"reno"', '"dctcp"')


@pytest.mark.parametrize(
    "keys",
    [
        'ecn_threshold = "5packets"',
        'discipline = { name = "p4-codel", ecn = true }',
        'discipline = "p4-dualpi2"',
        'discipline = { name = "codel", ecn = true }',
        'discipline = "dualpi2"',
        'discipline = { name = "ecn-threshold", packets = 5 }',
    ],
)
def test_marks_over_ipv6_are_as_many_as_over_ipv4(tmp_path: Path, keys: str) -> None:
    text = MARKING.replace('queue = "20packets"', f'queue = "20packets"\n{keys}')
    first, second = run(tmp_path / "ipv4", text), over_ipv6(tmp_path, text)
    marks = [sum(one.summary["bottleneck"]["marks"].values()) for one in (first, second)]
    assert marks[0] > 20
    assert marks[1] == pytest.approx(marks[0], rel=0.3)


def test_a_filter_of_acks_knows_those_of_ipv6(tmp_path: Path) -> None:
    text = TWO_FLOWS.replace('rate = "5Mbps"', 'rate = "5Mbps"\ndiscipline = "ack-filter"')
    text += 'reverse = true\n[[flow]]\nvariant = "reno"\n[record]\nqueue = "both"\n'
    ledger = over_ipv6(tmp_path, text).table("queue")
    assert ledger.filter(pl.col("reason") == "ack-filter").height > 20


def test_links_name_the_flow(tmp_path: Path) -> None:
    text = CBR.replace('delay = "20ms"', 'delay = "20ms"\nduplicate = { probability = "10%" }')
    done = over_ipv6(tmp_path, text)
    assert set(done.table("links")["flow"]) == {1}


def built(data: bytes, length: int) -> tuple[Packet, bytes]:
    """A captured frame, and what Scapy builds of its fields: lengths and checksums."""
    frame = Ether(data + bytes(length - len(data)))
    fresh = frame.copy()
    del fresh[IPv6].plen
    for kind in (TCP, UDP):
        if kind in fresh:
            del fresh[kind].chksum
    return frame, bytes(fresh)


def test_scapy_builds_our_packets(tmp_path: Path) -> None:
    text = TWO_FLOWS.replace('variant = "reno"', 'variant = "dctcp"\ndscp = 46\nttl = 9')
    text += '[[flow]]\ntransport = "udp"\ndscp = 10\n'
    text += 'app = { kind = "cbr", rate = "100kbps", size = "200B" }\n[record]\ncapture = true\n'
    done = over_ipv6(tmp_path, text, duration="1s")
    captured = done.table("capture")
    kinds = set()
    for data, length in captured.select("bytes", "length_bytes").iter_rows():
        frame, fresh = built(data, length)
        assert fresh == bytes(frame)
        ip = frame[IPv6]
        kinds.add((ip.nh, ip.tc >> 2))
        assert ip.hlim in (64, 63, 9, 8)
    assert kinds == {(6, 46), (17, 10)}

    record: Any = {"name": "a", "scenario": {"title": "t"}}
    summary: Any = done.summary
    out = tmp_path / "captures"
    FORMAT.write(Run(done.path, record, summary), out)
    assert {path.name for path in out.iterdir()} >= {"fd00::a00:1.pcapng", "fd00::a01:1.pcapng"}
    conf.verb = 0
    with PcapNgReader(str(out / "fd00::a00:1.pcapng")) as packets:
        read = [IPv6 in frame for frame in packets]
    assert len(read) > 100
    assert all(read)


def planned(directory: Path, text: str, **settings: Any) -> tuple[sweep.Point, Any]:
    source = write(directory, text)
    overrides = [(key.replace("__", "."), value) for key, value in settings.items()]
    point = sweep.read(source, overrides)[0]
    return point, plan.make_plan(point.scenario, str(source))


@pytest.mark.parametrize("text", [TWO_FLOWS, CBR])
def test_an_ipv4_plan_differs_in_its_addresses_only(tmp_path: Path, text: str) -> None:
    _, by_default = planned(tmp_path, text)
    _, asked = planned(tmp_path, text, ip_version=4)
    assert by_default == asked
    _, other = planned(tmp_path, text, ip_version=6)
    assert other["switches"][0]["config"] == by_default["switches"][0]["config"]
    tables = [entry["table"] for entry in other["switches"][0]["entries"]]
    assert sum(name.endswith("forward.ipv6_lpm") for name in tables) == 2 * len(other["flows"])
    assert sum(name.endswith("identify_flow.ipv6_flow") for name in tables) == 2 * len(
        other["flows"]
    )
    assert "ipv4" not in json.dumps(tables)


def test_a_version_that_is_not_there_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"ip_version.*4 or 6"):
        planned(tmp_path, TWO_FLOWS, ip_version=5)
    point, _ = planned(tmp_path, TWO_FLOWS, ip_version=6)
    with pytest.raises(InputError, match="ip_version = 6: is not supported by --target tofino"):
        TARGETS["tofino"].check(point.scenario, "s.toml", {})
    with pytest.raises(InputError, match=r"telemetry.collector.*an IPv4 address and a UDP port"):
        planned(tmp_path, TWO_FLOWS, telemetry__collector="10.0.0.256:5600")
    source = write(tmp_path, "ip_version = 6\n" + CBR.replace('"completion"', '"1s"'))
    with pytest.raises(InputError, match=r"ip_version.*packet generators send IPv4 only"):
        read_background(BackgroundRequest(source))
