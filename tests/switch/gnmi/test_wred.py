"""OpenConfig's leaves of weighted RED, on our switch with the discipline `red`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from finsy.proto import gnmi_grpc

from narrows.switch.server.gnmi.service import GnmiService
from narrows.switch.server.serve import serve
from narrows.testbed import engine
from tests.switch.gnmi.requests import get, get_json, put, refused

PROFILE = "/qos/queue-management-profiles/queue-management-profile[name=1]"
WRED = f"{PROFILE}/wred/uniform"
NAME = (f"{PROFILE}/config/discipline", {"string_val": "red"})
MEAN = (f"{PROFILE}/config/red-mean-packet", {"uint_val": 1500})


@pytest.fixture
def switch() -> Iterator[tuple[Any, Any]]:
    ports = [{"port": 1, "rate_bps": 10**7, "queue": {"packets": 100}, "counts": "frame"}]
    target = engine.Switch(json.dumps({"switch": {"ports": ports, "timestamp_unit": "ns"}}), 1)
    server, port = serve("127.0.0.1:0", [GnmiService(target).add_to])
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield gnmi_grpc.gNMIStub(channel), target
    server.stop(grace=0).wait()


def test_thresholds_are_bytes_of_mean_packets(switch: tuple[Any, Any]) -> None:
    stub, target = switch
    put(
        stub, NAME, MEAN,
        (f"{WRED}/config/max-threshold", {"uint_val": 45_000}),
        (f"{WRED}/config/min-threshold", {"uint_val": 15_000}),
        (f"{WRED}/config/enable-ecn", {"bool_val": True}),
        (f"{WRED}/config/max-drop-probability-percent", {"uint_val": 20}),
    )  # fmt: skip
    in_force = target.port_state(1)["discipline"]["parameters"]
    found = {name: in_force[name] for name in ("min-th", "max-th", "ecn", "max-p")}
    assert found == {"min-th": 10, "max-th": 30, "ecn": 1, "max-p": 0.2}
    shown = {name.rpartition("/")[2]: value for name, value in get(stub, f"{WRED}/state")}
    assert shown == {
        "min-threshold": 15_000, "max-threshold": 45_000, "enable-ecn": True,
        "max-drop-probability-percent": 20,
    }  # fmt: skip
    assert get_json(stub, f"{WRED}/state") == {
        "openconfig-qos:min-threshold": "15000", "openconfig-qos:max-threshold": "45000",
        "openconfig-qos:enable-ecn": True, "openconfig-qos:max-drop-probability-percent": 20,
    }  # fmt: skip


def test_without_red_there_is_no_wred(switch: tuple[Any, Any]) -> None:
    stub, _ = switch
    refused(lambda: get(stub, f"{WRED}/state"), grpc.StatusCode.NOT_FOUND, "no value")
    for leaf, value in (
        ("min-threshold", {"uint_val": 3000}),
        ("enable-ecn", {"bool_val": True}),
        ("max-drop-probability-percent", {"uint_val": 5}),
    ):
        code = grpc.StatusCode.FAILED_PRECONDITION
        refused(lambda at=leaf, new=value: put(stub, (f"{WRED}/config/{at}", new)), code, "set red")


@pytest.mark.parametrize(
    ("leaf", "value", "code", "words"),
    [
        ("enable-ecn", {"uint_val": 1}, "INVALID_ARGUMENT", ["true or false"]),
        ("max-drop-probability-percent", {"uint_val": 101}, "OUT_OF_RANGE", ["from 1 to 100"]),
        ("min-threshold", {"bool_val": True}, "INVALID_ARGUMENT", ["True"]),
    ],
)
def test_wrong_values_are_refused(
    switch: tuple[Any, Any], leaf: str, value: dict[str, Any], code: str, words: list[str]
) -> None:
    stub, _ = switch
    put(stub, NAME)
    refused(lambda: put(stub, (f"{WRED}/config/{leaf}", value)), grpc.StatusCode[code], *words)
