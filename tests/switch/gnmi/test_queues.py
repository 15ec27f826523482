"""A port's several queues over gNMI: schedulers with weights and rates."""

from __future__ import annotations

from typing import Any

import grpc
import pytest

from narrows.switch.server.target import QueueClass
from tests.support.fake_traffic import FakeTraffic, no_counts
from tests.switch.gnmi.requests import get, put, refused

POLICY = "/qos/scheduler-policies/scheduler-policy[name=2]/schedulers"
WEIGHT = f"{POLICY}/scheduler[sequence=2]/inputs/input[id=1]/config/weight"
RATE = f"{POLICY}/scheduler[sequence=1]/two-rate-three-color/config/cir"


@pytest.fixture
def queues(target: FakeTraffic) -> list[QueueClass]:
    """Port 2 has a strict queue with a rate, and one with a weight."""
    classes: list[QueueClass] = [
        {"weight": None, "rate_bps": 1_000_000},
        {"weight": 3, "rate_bps": None},
    ]
    target.state[2] |= {"classes": classes, "queues": [no_counts(), no_counts()]}
    return classes


def test_each_queue_has_a_scheduler(stub: Any, queues: list[QueueClass]) -> None:
    found = {name.removeprefix(f"{POLICY}/"): value for name, value in get(stub, POLICY)}
    strict, weighted = "scheduler[sequence=1]", "scheduler[sequence=2]"
    assert found[f"{strict}/state/priority"] == "STRICT"
    assert found[f"{strict}/two-rate-three-color/state/cir"] == 1_000_000
    assert found[f"{weighted}/inputs/input[id=1]/state/weight"] == 3
    assert found[f"{weighted}/inputs/input[id=1]/state/queue"] == "1"
    absent = {
        f"{strict}/inputs/input[id=0]/state/weight",
        f"{weighted}/state/priority",
        f"{weighted}/two-rate-three-color/state/cir",
        "scheduler[sequence=3]/state/sequence",
    }
    assert not absent & set(found)


def test_weight_and_rate_are_set(stub: Any, queues: list[QueueClass]) -> None:
    put(stub, (WEIGHT, {"uint_val": 5}), (RATE, {"uint_val": 2_000_000}))
    assert queues == [{"weight": None, "rate_bps": 2_000_000}, {"weight": 5, "rate_bps": None}]


def test_a_port_of_one_queue_has_no_weights(stub: Any, target: FakeTraffic) -> None:
    assert not [name for name, _ in get(stub, POLICY) if "sequence=1]" in name]
    words = "there is no such queue; port 2 has 1"
    refused(lambda: put(stub, (WEIGHT, {"uint_val": 5})), grpc.StatusCode.NOT_FOUND, words)


def test_equal_queues_have_no_weights(stub: Any, target: FakeTraffic) -> None:
    target.state[2]["queues"] = [no_counts(), no_counts()]
    code = grpc.StatusCode.FAILED_PRECONDITION
    refused(lambda: put(stub, (WEIGHT, {"uint_val": 5})), code, "queue 1 has no settings")


@pytest.mark.parametrize("value", [0, 65_536])
def test_a_weight_out_of_range_is_refused(stub: Any, queues: list[QueueClass], value: int) -> None:
    code = grpc.StatusCode.OUT_OF_RANGE
    refused(lambda: put(stub, (WEIGHT, {"uint_val": value})), code, "uint64 from 1 to 65535")


def test_a_refused_set_puts_shares_back(stub: Any, queues: list[QueueClass]) -> None:
    port = f"{POLICY}/scheduler[sequence=0]/two-rate-three-color/config/cir"
    refused(
        lambda: put(
            stub, (WEIGHT, {"uint_val": 9}), (port, {"uint_val": FakeTraffic.REFUSED_BPS})
        ),
        grpc.StatusCode.FAILED_PRECONDITION, "13",
    )  # fmt: skip
    assert queues[1]["weight"] == 3
