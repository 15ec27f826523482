"""A port's queue discipline over gNMI: leaves that follow from a target's records."""

from __future__ import annotations

from typing import Any

import grpc
import pytest
from finsy.proto import gnmi

from tests.support.fake_traffic import FakeTraffic
from tests.switch.gnmi.requests import get, get_json, put, refused

PROFILE = "/qos/queue-management-profiles/queue-management-profile[name=2]"
CONFIG = f"{PROFILE}/config"
QUEUE = "/qos/interfaces/interface[interface-id=2]/output/queues/queue[name=0]/state"
PATIENT = (f"{CONFIG}/discipline", {"string_val": "patient"})


def shown(stub: Any, at: str) -> dict[str, Any]:
    """The leaves below a path by their names."""
    return {name.removeprefix(f"{at}/"): value for name, value in get(stub, at)}


def test_the_parameters_in_force_are_shown_and_no_others(stub: Any, target: FakeTraffic) -> None:
    assert shown(stub, f"{PROFILE}/state") == {"name": "2", "discipline": "drop-tail"}
    put(stub, PATIENT)
    assert target.state[2]["discipline"]["name"] == "patient"
    in_force = {"patient-target": 5 * 10**9, "patient-share": 0.5}
    assert shown(stub, CONFIG) == {"name": "2", "discipline": "patient"} | in_force
    assert get_json(stub, CONFIG)["narrows-qos:patient-target"] == "5000000000"
    assert get_json(stub, CONFIG, gnmi.JSON)["patient-share"] == 0.5


def test_a_set_names_the_discipline_before_its_parameters(stub: Any, target: FakeTraffic) -> None:
    put(
        stub,
        (f"{CONFIG}/patient-share", {"double_val": 0.25}),
        (f"{CONFIG}/patient-target", {"uint_val": 7000}),
        PATIENT,
    )
    parameters = {"target": 7000, "share": 0.25}
    assert target.state[2]["discipline"] == {"name": "patient", "parameters": parameters}
    # The active discipline keeps its parameters.
    put(stub, PATIENT)
    assert target.state[2]["discipline"]["parameters"] == parameters


@pytest.mark.parametrize(
    ("leaf", "value", "code", "words"),
    [
        ("discipline", {"string_val": "x"}, "INVALID_ARGUMENT", ["'x'", "one of drop-tail, pat"]),
        ("discipline", {"uint_val": 1}, "INVALID_ARGUMENT", ["1", "drop-tail"]),
        ("patient-target", {"uint_val": 5}, "OUT_OF_RANGE", ["= 5", "picoseconds from 1000 to"]),
        (
            "patient-share",
            {"double_val": 1.5},
            "OUT_OF_RANGE",
            ["1.5", "from 0.0 to 1.0"],
        ),
        ("patient-share", {"json_val": b'"nan"'}, "OUT_OF_RANGE", ["nan"]),
        ("patient-share", {"bool_val": True}, "INVALID_ARGUMENT", ["True"]),
        ("patient-share", {"uint_val": 1}, "FAILED_PRECONDITION", ["set patient first"]),
        ("hasty-target", {"uint_val": 1}, "INVALID_ARGUMENT", ["hasty-target"]),
    ],
)
def test_what_does_not_fit_is_refused(
    stub: Any, leaf: str, value: dict[str, Any], code: str, words: list[str]
) -> None:
    refused(lambda: put(stub, (f"{CONFIG}/{leaf}", value)), grpc.StatusCode[code], *words)


def test_a_refused_set_puts_the_discipline_back(stub: Any, target: FakeTraffic) -> None:
    rate = (
        "/qos/scheduler-policies/scheduler-policy[name=2]/schedulers/scheduler[sequence=0]"
        "/two-rate-three-color/config/cir"
    )
    target.state[2]["rate_bps"] = 5
    refused(
        lambda: put(stub, PATIENT, (rate, {"uint_val": FakeTraffic.REFUSED_BPS})),
        grpc.StatusCode.FAILED_PRECONDITION, "13",
    )  # fmt: skip
    assert target.state[2]["discipline"]["name"] == "drop-tail"


def test_drops_are_counted_by_reason(stub: Any, target: FakeTraffic) -> None:
    (queue,) = target.state[2]["queues"]
    queue |= {"drops": {"queue-full": 4, "egress-program": 2}, "dropped_bytes": 6000}
    found = shown(stub, QUEUE)
    assert found["dropped-pkts"] == 4
    assert found["dropped-octets"] == 6000
    assert found["dropped-queue-full-pkts"] == 4
    assert found["dropped-egress-program-pkts"] == 2
