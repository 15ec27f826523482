"""The counters of each of a port's queues over gNMI."""

from __future__ import annotations

import json
from collections.abc import Iterator
from ipaddress import IPv4Address
from typing import Any

import grpc
import pytest
from finsy import GNMIPath
from finsy.proto import gnmi, gnmi_grpc

from narrows.controller import topology as net
from narrows.controller.routes import routes
from narrows.controller.switch import switch_state
from narrows.switch.server.gnmi.service import GnmiService
from narrows.switch.server.serve import serve
from narrows.testbed import engine
from tests.support.fake_traffic import FakeTraffic, no_counts
from tests.support.world import ROOT
from tests.switch.gnmi.requests import get, refused, shown
from tests.switch.gnmi.test_subscriptions import replies, subscription

QUEUES = "/qos/interfaces/interface[interface-id=2]/output/queues"
PROGRAM = ROOT / "p4/build/v1model.json"
MS = 10**9
VOICE = 46 << 2


@pytest.fixture
def three(target: FakeTraffic) -> FakeTraffic:
    """Port 2 has three equal queues."""
    target.state[2]["queues"] = [no_counts() | {"transmitted": 10 * n} for n in (1, 2, 3)]
    return target


def counts(stub: Any, queue: int) -> dict[str, Any]:
    """The state of one of port 2's queues by its leaves' names."""
    at = f"{QUEUES}/queue[name={queue}]/state"
    return {name.removeprefix(f"{at}/"): value for name, value in get(stub, at)}


def test_each_queue_has_its_own_counts(stub: Any, three: FakeTraffic) -> None:
    first, _, last = three.state[2]["queues"]
    first |= {"drops": {"queue-full": 4, "egress-program": 1}, "dropped_bytes": 6000}
    last |= {"marks": {"early": 7}, "depth_max_bytes": 3000, "depth_mean_bytes": 12.5}
    assert [counts(stub, queue)["transmit-pkts"] for queue in range(3)] == [10, 20, 30]
    found = counts(stub, 0)
    assert (found["name"], found["dropped-pkts"], found["dropped-octets"]) == ("0", 4, 6000)
    assert (found["dropped-egress-program-pkts"], found["marked-pkts"]) == (1, 0)
    found = counts(stub, 2)
    assert (found["name"], found["marked-pkts"], found["marked-early-pkts"]) == ("2", 7, 7)
    assert (found["max-queue-len"], found["avg-queue-len"], found["dropped-pkts"]) == (3000, 12, 0)


def test_a_wildcard_selects_the_queues_that_exist(stub: Any, three: FakeTraffic) -> None:
    every = "/qos/interfaces/interface[interface-id=*]/output/queues/queue[name=*]/state/name"
    assert [value for _, value in get(stub, every)] == ["0", "0", "1", "2", "0"]


def test_a_missing_queue_is_named(stub: Any, three: FakeTraffic) -> None:
    at, code = f"{QUEUES}/queue[name=3]/state/transmit-pkts", grpc.StatusCode.NOT_FOUND
    refused(lambda: get(stub, at), code, at, "there is no such queue; port 2 has 3")
    at = f"{QUEUES}/queue[name=8]/state/transmit-pkts"
    refused(lambda: get(stub, at), code, "expected 0, 1, 2, 3, 4, 5, 6, 7")
    # It may appear later, as may a port.
    assert replies(stub, subscription("ONCE", f"{QUEUES}/queue[name=3]")) == ["sync"]


def test_one_queue_is_sampled(stub: Any, three: FakeTraffic) -> None:
    at = f"{QUEUES}/queue[name=1]/state/transmit-pkts"
    request = subscription("STREAM", at, mode=gnmi.SAMPLE, sample_interval=20_000_000)
    stream = stub.Subscribe(iter([request]), timeout=5)
    assert [shown(next(stream)) for _ in range(2)] == [[("transmit-pkts", 20)], "sync"]
    three.state[2]["queues"][1]["transmitted"] = 21
    before, after = [("transmit-pkts", 20)], [("transmit-pkts", 21)]
    # A sample may have been read before the change.
    assert next(one for one in map(shown, stream) if one != before) == after
    assert shown(next(stream)) == after
    stream.cancel()


def test_a_change_of_one_queue_is_sent_for_it(stub: Any, three: FakeTraffic) -> None:
    asked = subscription("STREAM", f"{QUEUES}/queue[name=*]/state", mode=gnmi.ON_CHANGE)
    stream = stub.Subscribe(iter([asked]), timeout=5)
    assert [value for name, value in shown(next(stream)) if name == "name"] == ["0", "1", "2"]
    assert shown(next(stream)) == "sync"
    three.state[2]["queues"][2]["marks"] = {"early": 5}
    update = next(stream)
    assert shown(update) == [("marked-pkts", 5), ("marked-early-pkts", 5)]
    assert {GNMIPath(one.path)["queue", "name"] for one in update.update.update} == {"2"}
    stream.cancel()


@pytest.fixture
def switch() -> Iterator[tuple[Any, Any]]:
    """A client and its switch: port 2 has a queue for voice, which is served first, and another.
    8 Mb/s, two packets a queue.
    """
    two = {"queues": 2, "classes": [{"dscp": [VOICE >> 2]}, {"dscp": []}]}
    ports = [
        {"port": port, "rate_bps": rate_bps, "queue": {"packets": 2}, "counts": "frame", **more}
        for port, rate_bps, more in ((1, None, {}), (2, 8_000_000, two))
    ]
    config = {"switch": {"ports": ports, "timestamp_unit": "ns"}}
    hosts = tuple(
        net.Host(f"h{n}", n, IPv4Address(0x0A000000 + n), net.End("s1", n)) for n in (1, 2)
    )
    both = tuple(net.Port(n, 0x02FF00010000 + n) for n in (1, 2))
    topology = net.Topology((net.Switch("s1", 1, both),), (), hosts, (), ())
    target = engine.Switch(json.dumps(config), 1)
    target.load(PROGRAM.read_text())
    for entry in switch_state(topology, routes(topology), topology.switches[0]).entries:
        target.insert_entry(entry.as_json())
    server, port = serve("127.0.0.1:0", [GnmiService(target).add_to])
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield gnmi_grpc.gNMIStub(channel), target
    server.stop(grace=0).wait()


def test_a_switch_counts_each_queue(switch: tuple[Any, Any]) -> None:
    """1,000 bytes take 1 ms. The first packet leaves at once; of each kind two wait, and the rest
    is dropped. Voice waits 1 and 2 ms, the others 3 and 4 ms.
    """
    stub, target = switch
    for tos in (VOICE,) * 4 + (0,) * 3:
        target.handle_packet(1, frame(tos, 1000), 0)
    target.run_until(10 * MS)
    voice, other = counts(stub, 0), counts(stub, 1)
    sent = ("transmit-pkts", "transmit-octets", "dropped-pkts", "dropped-octets")
    assert [voice[name] for name in sent] == [3, 3000, 1, 1000]
    assert [other[name] for name in sent] == [2, 2000, 1, 1000]
    depth = ("max-queue-len", "avg-queue-len", "max-queue-len-packets", "avg-queue-len-packets")
    assert [voice[name] for name in depth] == [2000, 300, 2, 0.3]
    assert [other[name] for name in depth] == [2000, 700, 2, 0.7]
    whole = target.port_state(2)
    assert (whole["transmitted"], whole["dropped_bytes"], whole["depth_mean_packets"]) == (
        5, 2000, 1.0,
    )  # fmt: skip
    # A new program takes nothing away.
    target.load(PROGRAM.read_text())
    assert (counts(stub, 0), counts(stub, 1)) == (voice, other)


def frame(tos: int, length: int) -> bytes:
    """Ethernet, IPv4 with its checksum, and zeros that stand for TCP."""
    head = bytes([0x45, tos]) + (length - 14).to_bytes(2, "big") + bytes.fromhex("000000004006")
    addresses = bytes([10, 0, 0, 1, 10, 0, 0, 2])
    words = head + b"\0\0" + addresses
    total = sum(int.from_bytes(words[at : at + 2], "big") for at in range(0, 20, 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    ip = head + (0xFFFF - total).to_bytes(2, "big") + addresses
    tcp = bytes.fromhex("2711138900000000000000005010") + b"\0" * 6
    return (b"\x02" * 12 + b"\x08\x00" + ip + tcp).ljust(length, b"\0")
