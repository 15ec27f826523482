"""Budgets of gNMI requests: paths, selected leaves, and the length of a message."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from finsy.proto import gnmi, gnmi_grpc

from narrows.schema import budgets
from narrows.switch.server.gnmi.service import GnmiService
from narrows.switch.server.serve import serve
from narrows.testbed import engine
from tests.switch.gnmi.requests import path, refused
from tests.switch.gnmi.test_subscriptions import subscription

PORTS = 60


@pytest.fixture(scope="module")
def stub() -> Iterator[Any]:
    """A client of a switch with many ports."""
    ports = [
        {"port": port, "queue": {"packets": 64}, "counts": "frame"} for port in range(1, PORTS + 1)
    ]
    config = {"switch": {"ports": ports, "timestamp_unit": "us"}}
    target = engine.Switch(json.dumps(config), 1)
    server, port = serve("127.0.0.1:0", [GnmiService(target).add_to])
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield gnmi_grpc.gNMIStub(channel)
    server.stop(grace=0).wait()


EXHAUSTED = grpc.StatusCode.RESOURCE_EXHAUSTED


def test_too_many_paths_are_refused(stub: Any) -> None:
    paths = [path("/interfaces/interface[name=1]/state/ifindex")] * (budgets.GNMI_PATHS + 1)
    words = f"{budgets.GNMI_PATHS + 1} paths: expected at most {budgets.GNMI_PATHS}"
    refused(lambda: stub.Get(gnmi.GetRequest(path=paths)), EXHAUSTED, words)
    refused(lambda: stub.Set(gnmi.SetRequest(delete=paths)), EXHAUSTED, words)
    asked = [gnmi.Subscription(path=one) for one in paths]
    request = gnmi.SubscribeRequest(subscribe=gnmi.SubscriptionList(subscription=asked))
    refused(lambda: list(stub.Subscribe(iter([request]))), EXHAUSTED, words)


@pytest.mark.parametrize("elem", [gnmi.PathElem(name="*"), gnmi.PathElem(name="...")])
def test_a_path_without_end_is_refused(stub: Any, elem: gnmi.PathElem) -> None:
    """100,000 elements took 0.7 s of a processor."""
    long = gnmi.Path(elem=[elem] * 100_000)
    request = gnmi.GetRequest(path=[long])
    refused(lambda: stub.Get(request), EXHAUSTED, "a path of 100000 elements: expected at most 64")
    keys = {f"k{number}": "*" for number in range(70)}
    request = gnmi.GetRequest(path=[gnmi.Path(elem=[gnmi.PathElem(name="*", key=keys)])])
    refused(lambda: stub.Get(request), EXHAUSTED, "a path of 71 elements")


def test_paths_that_select_too_much_are_refused(stub: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One path may select the whole switch, three may not."""
    monkeypatch.setattr(budgets, "GNMI_VALUES", 300 * PORTS)
    whole = len(stub.Get(gnmi.GetRequest(encoding=gnmi.PROTO)).notification[0].update)
    assert whole > 10 * PORTS
    many = [gnmi.Path()] * 3
    refused(lambda: stub.Get(gnmi.GetRequest(path=many, encoding=gnmi.PROTO)), EXHAUSTED, "select")
    asked = [gnmi.Subscription(path=one) for one in many]
    request = gnmi.SubscribeRequest(subscribe=gnmi.SubscriptionList(subscription=asked))
    refused(lambda: list(stub.Subscribe(iter([request]))), EXHAUSTED, "select")


def test_a_large_subscription_comes_in_parts(stub: Any) -> None:
    request = subscription("ONCE", "/")
    *parts, last = stub.Subscribe(iter([request]), timeout=30)
    assert last.sync_response
    sizes = [len(one.update.update) for one in parts]
    assert len(sizes) > 1 and max(sizes) <= 1000
    names = [str(update.path) for one in parts for update in one.update.update]
    assert len(names) == len(set(names)) == sum(sizes) > 10 * PORTS
