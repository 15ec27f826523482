"""gNMI subscriptions: once, poll, sampled and on change."""

from __future__ import annotations

from typing import Any

import grpc
from finsy.proto import gnmi, gnmi_grpc

from narrows.switch.server.gnmi.service import STREAMS_MAX
from tests.support.fake_traffic import FakeTraffic, served
from tests.switch.gnmi.requests import (
    BUFFER,
    COUNTERS,
    get,
    path,
    refused,
    shown,
)


def subscription(list_mode: str, *paths: str, **more: Any) -> gnmi.SubscribeRequest:
    """A subscription list; `more` goes to every subscription of it."""
    return gnmi.SubscribeRequest(
        subscribe=gnmi.SubscriptionList(
            mode=gnmi.SubscriptionList.Mode.Value(list_mode),
            encoding=gnmi.PROTO,
            subscription=[gnmi.Subscription(path=path(one), **more) for one in paths],
        )
    )


def replies(stub: Any, *requests: gnmi.SubscribeRequest) -> list[Any]:
    return [shown(reply) for reply in stub.Subscribe(iter(requests), timeout=5)]


INDEX = "/interfaces/interface[name=2]/state/ifindex"


def test_once_sends_all_and_ends(stub: Any) -> None:
    everything = subscription("ONCE", INDEX, "/interfaces/interface/state/oper-status")
    assert replies(stub, everything) == [
        [("ifindex", 2)],
        [("oper-status", "UP")] * 3,
        "sync",
    ]
    # A missing port may appear later, so it gives neither error nor value.
    assert replies(stub, subscription("ONCE", "/interfaces/interface[name=9]/state")) == ["sync"]


def test_poll_sends_all_whenever_it_is_asked(stub: Any) -> None:
    poll = gnmi.SubscribeRequest(poll=gnmi.Poll())
    asked = replies(stub, subscription("POLL", INDEX), poll, poll)
    assert asked == [[("ifindex", 2)], "sync"] * 3


def test_a_sample_comes_at_its_interval(stub: Any, target: FakeTraffic) -> None:
    at = f"{COUNTERS}/in-pkts"
    request = subscription("STREAM", at, mode=gnmi.SAMPLE, sample_interval=20_000_000)
    stream = stub.Subscribe(iter([request]), timeout=5)
    assert [shown(next(stream)) for _ in range(2)] == [[("in-pkts", 0)], "sync"]
    target.state[1]["received"] = 4
    # A sample may have been read before the change.
    first = next(one for one in stream if shown(one) != [("in-pkts", 0)])
    second = next(stream)
    assert shown(first) == shown(second) == [("in-pkts", 4)]
    apart_ns = second.update.timestamp - first.update.timestamp
    assert 5_000_000 < apart_ns < 1_000_000_000
    stream.cancel()


def test_on_change_sends_changes_only(stub: Any, target: FakeTraffic) -> None:
    at = BUFFER.removesuffix("/config")
    stream = stub.Subscribe(iter([subscription("STREAM", at, mode=gnmi.ON_CHANGE)]), timeout=5)
    first = shown(next(stream))
    assert first.count(("dedicated-buffer-packets", 1000)) == 2  # config and state
    assert shown(next(stream)) == "sync"
    target.state[2]["queue"] = {"packets": 7}
    assert shown(next(stream)) == [("dedicated-buffer-packets", 7)] * 2
    target.state[2]["queue"] = {"bytes": 9}
    assert shown(next(stream)) == [
        ("dedicated-buffer", 9),
        ("dedicated-buffer", 9),
        ("dedicated-buffer-packets", None),
        ("dedicated-buffer-packets", None),
    ]
    stream.cancel()


def test_samples_without_news_are_left_out_but_for_the_heartbeat(stub: Any) -> None:
    request = subscription(
        "STREAM", INDEX, mode=gnmi.SAMPLE, sample_interval=10_000_000,
        suppress_redundant=True, heartbeat_interval=200_000_000,
    )  # fmt: skip
    stream = stub.Subscribe(iter([request]), timeout=5)
    first = next(stream)
    assert shown(next(stream)) == "sync"
    beat = next(stream)
    assert shown(beat) == [("ifindex", 2)]
    assert beat.update.timestamp - first.update.timestamp >= 190_000_000
    stream.cancel()


def test_wrong_subscriptions(stub: Any) -> None:
    wrong = grpc.StatusCode.INVALID_ARGUMENT
    refused(lambda: replies(stub, subscription("ONCE", "/interfaces/x")), wrong, "'x'")
    fast = subscription("STREAM", INDEX, mode=gnmi.SAMPLE, sample_interval=5)
    refused(lambda: replies(stub, fast), wrong, "sample_interval is 5 ns", "10000000")
    poll = gnmi.SubscribeRequest(poll=gnmi.Poll())
    refused(lambda: replies(stub, poll), wrong, "SubscriptionList")
    again = subscription("POLL", INDEX)
    refused(lambda: replies(stub, again, again), wrong, "Poll")


def test_many_streams_at_once_end_with_their_clients(target: FakeTraffic) -> None:
    with served(target) as address, grpc.insecure_channel(address) as channel:
        stub: Any = gnmi_grpc.gNMIStub(channel)
        for _ in range(4):  # more streams in all than the server has threads
            streams = [
                stub.Subscribe(iter([subscription("STREAM", INDEX)]), timeout=20) for _ in range(40)
            ]
            for stream in streams:
                assert shown(next(stream)) == [("ifindex", 2)]
                stream.cancel()
        assert get(stub, INDEX) == [(INDEX, 2)]


def test_there_are_so_many_subscriptions_and_no_more(stub: Any) -> None:
    streams = [
        stub.Subscribe(iter([subscription("STREAM", INDEX)]), timeout=20)
        for _ in range(STREAMS_MAX)
    ]
    for stream in streams:
        next(stream)
    full = grpc.StatusCode.RESOURCE_EXHAUSTED
    refused(lambda: replies(stub, subscription("ONCE", INDEX)), full, str(STREAMS_MAX))
    assert get(stub, INDEX) == [(INDEX, 2)]  # calls are served
    for stream in streams:
        stream.cancel()
