"""gNMI over a real gRPC connection: paths of docs/guide/gnmi.md, encodings, errors, streams."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import re
import textwrap
from typing import Any

import grpc
import pytest
from finsy import GNMIClient, GNMIPath
from finsy.gnmiclient import GNMIClientError
from finsy.proto import gnmi, gnmi_grpc

from tests.support.fake_traffic import FakeTraffic, served
from tests.support.world import ROOT
from tests.switch.gnmi.requests import (
    BUFFER,
    COUNTERS,
    RATE,
    get,
    get_json,
    path,
    put,
    read,
    refused,
)

DOC = ROOT / "docs/guide/gnmi.md"


def test_capabilities_name_models_and_encodings(stub: Any) -> None:
    reply = stub.Capabilities(gnmi.CapabilityRequest())
    assert {model.name for model in reply.supported_models} == {
        "openconfig-interfaces",
        "openconfig-qos",
        "narrows-qos",
    }
    assert list(reply.supported_encodings) == [gnmi.PROTO, gnmi.JSON_IETF, gnmi.JSON]
    assert reply.gNMI_version == "0.10.0"


def test_a_port_and_what_it_counts(stub: Any, target: FakeTraffic) -> None:
    target.state[1] |= {"received": 7, "received_bytes": 2**40, "transmitted": 5}
    target.state[1] |= {"transmitted_bytes": 700, "drops": {"queue-full": 2, "egress-program": 3}}
    assert dict(get(stub, COUNTERS)) == {
        f"{COUNTERS}/in-pkts": 7,
        f"{COUNTERS}/in-octets": 2**40,
        f"{COUNTERS}/out-pkts": 5,
        f"{COUNTERS}/out-octets": 700,
        f"{COUNTERS}/out-discards": 5,
    }
    assert get(stub, "/interfaces/interface[name=3]/state/oper-status") == [
        ("/interfaces/interface[name=3]/state/oper-status", "UP")
    ]


def test_a_queue_s_depths(stub: Any, target: FakeTraffic) -> None:
    (queue,) = target.state[2]["queues"]
    queue |= {"waiting_packets": 3, "waiting_bytes": 3000, "depth_max_packets": 9}
    queue |= {"depth_max_bytes": 9000, "depth_mean_packets": 1.25}
    at = "/qos/interfaces/interface[interface-id=2]/output/queues/queue[name=0]/state"
    found = dict(get(stub, at))
    shown = {key.removeprefix(f"{at}/"): value for key, value in found.items()}
    assert shown["queue-len"] == 3000
    assert shown["queue-len-packets"] == 3
    assert shown["max-queue-len"] == 9000
    assert shown["max-queue-len-packets"] == 9
    assert shown["avg-queue-len-packets"] == 1.25
    assert "avg-queue-len" not in shown  # this target does not keep it


@pytest.mark.parametrize(
    ("asked", "count"),
    [
        ("/interfaces/interface[name=*]/state/ifindex", 3),
        ("/interfaces/interface/state/ifindex", 3),
        ("/interfaces/*/state/ifindex", 3),
        ("/.../ifindex", 3),
        ("/interfaces/interface[name=2]/state/counters/*", 5),
        ("/interfaces/.../in-pkts", 3),
        ("/..." * 60 + "/in-pkts", 3),
    ],
)
def test_wildcards(stub: Any, asked: str, count: int) -> None:
    assert len(get(stub, asked)) == count


def test_a_prefix_goes_before_the_path(stub: Any) -> None:
    prefix = path("/interfaces/interface[name=2]")
    prefix.target = "s1"
    reply = stub.Get(
        gnmi.GetRequest(prefix=prefix, path=[path("state/ifindex")], encoding=gnmi.PROTO)
    )
    assert reply.notification[0].prefix.target == "s1"
    (update,) = reply.notification[0].update
    assert read(update) == ("/interfaces/interface[name=2]/state/ifindex", 2)


def test_json_as_rfc_7951_has_it(stub: Any, target: FakeTraffic) -> None:
    target.state[2] |= {"queue": {"packets": 60}, "rate_bps": 5_000_000}
    assert get_json(stub, BUFFER) == {
        "openconfig-qos:name": "0",
        "narrows-qos:dedicated-buffer-packets": "60",  # 64 bits: a string
    }
    assert get_json(stub, RATE) == "5000000"
    assert get_json(stub, "/interfaces/interface[name=2]/state/ifindex") == 2
    whole = get_json(stub, "/")
    assert set(whole) == {"openconfig-interfaces:interfaces", "openconfig-qos:qos"}
    ports = whole["openconfig-interfaces:interfaces"]["interface"]
    assert [port["name"] for port in ports] == ["1", "2", "3"]
    assert ports[0]["state"]["counters"]["in-pkts"] == "0"
    assert get_json(stub, BUFFER, gnmi.JSON) == {"name": "0", "dedicated-buffer-packets": 60}


def test_config_and_state(stub: Any, target: FakeTraffic) -> None:
    target.state[2]["rate_bps"] = 10
    at = RATE.removesuffix("/config/cir")
    assert get(stub, at) == [(f"{at}/config/cir", 10), (f"{at}/state/cir", 10)]
    assert get(stub, at, type=gnmi.GetRequest.CONFIG) == [(f"{at}/config/cir", 10)]
    assert get(stub, at, type=gnmi.GetRequest.STATE) == [(f"{at}/state/cir", 10)]


@pytest.mark.parametrize(
    ("leaf", "value", "limit"),
    [
        ("dedicated-buffer", 20_000, {"bytes": 20_000}),
        ("dedicated-buffer-temporal", 15_000, {"time_ps": 15_000_000_000}),  # 15 ms
        ("dedicated-buffer-packets", 100, {"packets": 100}),
    ],
)
def test_a_limit_of_each_kind(
    stub: Any, target: FakeTraffic, leaf: str, value: int, limit: dict[str, int]
) -> None:
    put(stub, (f"{BUFFER}/{leaf}", {"uint_val": value}))
    assert target.state[2]["queue"] == limit
    assert get(stub, f"{BUFFER}/{leaf}") == [(f"{BUFFER}/{leaf}", value)]


@pytest.mark.parametrize(
    "value",
    [
        {"uint_val": 5_000_000},
        {"int_val": 5_000_000},
        {"json_ietf_val": b'"5000000"'},
        {"json_val": b"5000000"},
    ],
)
def test_a_rate_in_each_encoding(stub: Any, target: FakeTraffic, value: dict[str, Any]) -> None:
    reply = put(stub, (RATE, value))
    assert target.state[2]["rate_bps"] == 5_000_000
    assert [result.op for result in reply.response] == [gnmi.UpdateResult.UPDATE]


def test_what_was_read_can_be_written_back(stub: Any, target: FakeTraffic) -> None:
    for port in target.state:
        target.state[port] |= {"rate_bps": port * 1000, "queue": {"bytes": port}}
    content = {}
    for top in ("/qos/scheduler-policies", "/qos/buffer-allocation-profiles"):
        reply = stub.Get(
            gnmi.GetRequest(path=[path(top)], encoding=gnmi.JSON_IETF, type=gnmi.GetRequest.CONFIG)
        )
        content[top] = reply.notification[0].update[0].val.json_ietf_val
    fresh = FakeTraffic()
    with served(fresh) as address, grpc.insecure_channel(address) as channel:
        other = gnmi_grpc.gNMIStub(channel)
        put(other, *((top, {"json_ietf_val": text}) for top, text in content.items()))
    assert fresh.state == target.state


def test_replace_and_a_wildcard_set_every_port(stub: Any, target: FakeTraffic) -> None:
    every = gnmi.Update(
        path=path(RATE.replace("name=2", "name=*")), val=gnmi.TypedValue(uint_val=77)
    )
    reply = stub.Set(gnmi.SetRequest(replace=[every]))
    assert [result.op for result in reply.response] == [gnmi.UpdateResult.REPLACE]
    assert {state["rate_bps"] for state in target.state.values()} == {77}


def test_a_set_is_whole_or_not_at_all(stub: Any, target: FakeTraffic) -> None:
    target.state[2]["rate_bps"] = 5
    before = json.dumps(target.state)
    limit = (f"{BUFFER}/dedicated-buffer", {"uint_val": 1})
    # The target refuses the second: the first is taken back.
    refused(
        lambda: put(stub, limit, (RATE, {"uint_val": FakeTraffic.REFUSED_BPS})),
        grpc.StatusCode.FAILED_PRECONDITION, "port 2", "13",
    )  # fmt: skip
    # The second path is invalid, so the first must not be applied.
    refused(
        lambda: put(stub, limit, (f"{RATE}s", {"uint_val": 1})),
        grpc.StatusCode.INVALID_ARGUMENT, "cirs", "did you mean 'cir'",
    )  # fmt: skip
    assert json.dumps(target.state) == before


@pytest.mark.parametrize(
    ("at", "value", "code", "words"),
    [
        (RATE, {"uint_val": 0}, "OUT_OF_RANGE", [RATE, "= 0", "bit/s", "from 1"]),
        (RATE, {"int_val": -5}, "OUT_OF_RANGE", [RATE, "= -5"]),
        (RATE, {"json_ietf_val": b'"18446744073709551616"'}, "OUT_OF_RANGE", ["615"]),
        (RATE, {"string_val": "5Mbps"}, "INVALID_ARGUMENT", ["'5Mbps'", "uint64"]),
        (RATE, {"bool_val": True}, "INVALID_ARGUMENT", ["True"]),
        (RATE, {"double_val": 1.5}, "INVALID_ARGUMENT", ["1.5"]),
        (RATE, {"bytes_val": b"1"}, "INVALID_ARGUMENT", ["bytes_val", "uint_val"]),
        (RATE, {}, "INVALID_ARGUMENT", ["missing"]),
        (RATE, {"json_ietf_val": b"{"}, "INVALID_ARGUMENT", ["not valid JSON"]),
        (RATE, {"json_ietf_val": b"[1]"}, "INVALID_ARGUMENT", ["[1]"]),
        (
            f"{BUFFER}/dedicated-buffer-temporal",
            {"uint_val": 2**64 - 1},
            "OUT_OF_RANGE",
            ["micros"],
        ),
        (RATE, {"json_val": b"[" * 100_000}, "INVALID_ARGUMENT", ["not valid JSON"]),
        (RATE, {"json_val": b'{"a":' * 900 + b"1" + b"}" * 900}, "INVALID_ARGUMENT", ["is a leaf"]),
        (BUFFER, {"uint_val": 1}, "INVALID_ARGUMENT", ["JSON object"]),
        (RATE.replace("name=2", "name=9"), {"uint_val": 1}, "NOT_FOUND", ["name=9", "1, 2, 3"]),
        (RATE.replace("=0]", "=9]"), {"uint_val": 1}, "NOT_FOUND", ["sequence=9", "expected 0"]),
        (f"{COUNTERS}/in-pkts", {"uint_val": 1}, "INVALID_ARGUMENT", ["read-only"]),
        (
            "/qos/scheduler-policies",
            {"json_ietf_val": b'{"scheduler-policy": [{}]}'},
            "INVALID_ARGUMENT",
            ["its key 'name'"],
        ),
        (
            "/qos/scheduler-policies",
            {"json_ietf_val": b'{"scheduler-policy": [5]}'},
            "INVALID_ARGUMENT",
            ["its key 'name'"],
        ),
        ("/", {"json_ietf_val": b'{"*": [null]}'}, "INVALID_ARGUMENT", ["an entry of a list"]),
    ],
)
def test_a_wrong_set_names_path_and_expectation(
    stub: Any, target: FakeTraffic, at: str, value: dict[str, Any], code: str, words: list[str]
) -> None:
    before = json.dumps(target.state)
    refused(lambda: put(stub, (at, value)), grpc.StatusCode[code], *words)
    assert json.dumps(target.state) == before


@pytest.mark.parametrize(
    ("at", "code", "words"),
    [
        ("/interface", "INVALID_ARGUMENT", ["/ has no 'interface'", "interfaces"]),
        ("/interfaces/interface[nmae=1]", "INVALID_ARGUMENT", ["no key 'nmae'", "'name'"]),
        ("/" + "\U0001f41f" * 20_000, "INVALID_ARGUMENT", ["it has interfaces, qos"]),
        ("/interfaces[name=1]", "INVALID_ARGUMENT", ["it has no keys"]),
        (f"{COUNTERS}/in-pkts/x", "INVALID_ARGUMENT", ["in-pkts is a leaf"]),
        (f"{COUNTERS}/in-pkst", "INVALID_ARGUMENT", ["did you mean 'in-pkts'?"]),
        ("/interfaces/interface[name=7]/state", "NOT_FOUND", ["name=7", "there are 1, 2, 3"]),
        (RATE, "NOT_FOUND", [RATE, "no value"]),  # port 2 has no rate
    ],
)
def test_a_wrong_get_names_the_path(stub: Any, at: str, code: str, words: list[str]) -> None:
    refused(lambda: get(stub, at), grpc.StatusCode[code], *words)


def test_what_is_not_there_is_said(stub: Any) -> None:
    refused(
        lambda: stub.Get(gnmi.GetRequest(path=[path("/")], encoding=gnmi.ASCII)),
        grpc.StatusCode.UNIMPLEMENTED, "ASCII", "PROTO, JSON_IETF, JSON",
    )  # fmt: skip
    delete = gnmi.SetRequest(delete=[path(RATE)])
    refused(lambda: stub.Set(delete), grpc.StatusCode.UNIMPLEMENTED, RATE, "update")
    delete = gnmi.SetRequest(delete=[path(COUNTERS)])
    refused(lambda: stub.Set(delete), grpc.StatusCode.INVALID_ARGUMENT, "read-only")
    union = gnmi.SetRequest(union_replace=[gnmi.Update(path=path(RATE))])
    refused(lambda: stub.Set(union), grpc.StatusCode.UNIMPLEMENTED, "union_replace")
    old = gnmi.GetRequest(path=[gnmi.Path(element=["interfaces"])])
    refused(lambda: stub.Get(old), grpc.StatusCode.INVALID_ARGUMENT, "path.elem")
    other = gnmi.GetRequest(path=[gnmi.Path(origin="cli")])
    refused(lambda: stub.Get(other), grpc.StatusCode.INVALID_ARGUMENT, "'cli'", "openconfig")


def examples() -> list[tuple[str, str]]:
    """The document's Python blocks, each with what it prints."""
    return re.findall(r"```python\n(.*?)```\n```text\n(.*?)```", DOC.read_text(), re.S)


def test_the_document_s_examples(target: FakeTraffic) -> None:
    async def run(address: str) -> None:
        names = {"GNMIPath": GNMIPath, "GNMIClientError": GNMIClientError}
        async with GNMIClient(address) as client:
            for code, printed in examples():
                body = textwrap.indent(code, "    ")
                scope: dict[str, Any] = {**names, "client": client}
                exec(f"async def example():\n{body}\n    return locals()", scope)
                out = io.StringIO()
                with contextlib.redirect_stdout(out):
                    names |= await scope["example"]()
                assert out.getvalue() == printed

    with served(target) as address:
        asyncio.run(run(address))
    assert len(examples()) == 5
