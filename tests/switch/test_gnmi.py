"""gNMI over a real gRPC connection: the paths of docs/gnmi.md, encodings, errors, streams."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import re
import textwrap
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from finsy import GNMIClient, GNMIPath
from finsy.gnmiclient import GNMIClientError
from finsy.proto import gnmi, gnmi_grpc
from hypothesis import given, settings
from hypothesis import strategies as st

from narrows.switch.server.gnmi.leaves import LEAVES, PORT, place, show
from narrows.switch.server.gnmi.service import STREAMS_MAX
from narrows.testbed.catalogue import engine
from tests.support.fake_traffic import FakeTraffic, served
from tests.support.world import ROOT

RATE = (
    "/qos/scheduler-policies/scheduler-policy[name=2]/schedulers/scheduler[sequence=0]"
    "/two-rate-three-color/config/cir"
)
BUFFER = (
    "/qos/buffer-allocation-profiles/buffer-allocation-profile[name=2]/queues/queue[name=0]/config"
)
COUNTERS = "/interfaces/interface[name=1]/state/counters"
DOC = ROOT / "docs/gnmi.md"


@pytest.fixture
def target() -> FakeTraffic:
    return FakeTraffic()


@pytest.fixture
def stub(target: FakeTraffic) -> Iterator[Any]:
    with served(target) as address, grpc.insecure_channel(address) as channel:
        yield gnmi_grpc.gNMIStub(channel)


def path(text: str) -> gnmi.Path:
    return GNMIPath(text).path


def get(stub: Any, *paths: str, **more: Any) -> list[tuple[str, Any]]:
    request = gnmi.GetRequest(path=[path(one) for one in paths], encoding=gnmi.PROTO, **more)
    return [read(update) for one in stub.Get(request).notification for update in one.update]


def read(update: gnmi.Update) -> tuple[str, Any]:
    kind = update.val.WhichOneof("value")
    return f"/{GNMIPath(update.path)}", getattr(update.val, kind or "")


def get_json(stub: Any, text: str, encoding: gnmi.Encoding.ValueType = gnmi.JSON_IETF) -> Any:
    reply = stub.Get(gnmi.GetRequest(path=[path(text)], encoding=encoding))
    (update,) = reply.notification[0].update
    return json.loads(update.val.json_ietf_val or update.val.json_val)


def put(stub: Any, *updates: tuple[str, dict[str, Any]], **more: Any) -> gnmi.SetResponse:
    reply: gnmi.SetResponse = stub.Set(
        gnmi.SetRequest(
            update=[
                gnmi.Update(path=path(at), val=gnmi.TypedValue(**value)) for at, value in updates
            ],
            **more,
        )
    )
    return reply


def refused(call: Any, code: grpc.StatusCode, *words: str) -> None:
    with pytest.raises(grpc.RpcError) as raised:
        call()
    error: Any = raised.value
    assert error.code() == code, error
    for word in words:
        assert word in error.details()


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
    target.state[1] |= {"transmitted_bytes": 700, "dropped_queue_full": 2, "dropped_egress": 3}
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
    target.state[2] |= {"waiting_packets": 3, "waiting_bytes": 3000, "depth_max_packets": 9}
    target.state[2] |= {"depth_max_bytes": 9000, "depth_mean_packets": 1.25}
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
        ("/..." * 200 + "/in-pkts", 3),
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
    # The second is no path: the first is never done.
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
        (RATE, {"json_ietf_val": b"{"}, "INVALID_ARGUMENT", ["no JSON"]),
        (RATE, {"json_ietf_val": b"[1]"}, "INVALID_ARGUMENT", ["[1]"]),
        (
            f"{BUFFER}/dedicated-buffer-temporal",
            {"uint_val": 2**64 - 1},
            "OUT_OF_RANGE",
            ["micros"],
        ),
        (RATE, {"json_val": b"[" * 100_000}, "INVALID_ARGUMENT", ["no JSON"]),
        (RATE, {"json_val": b'{"a":' * 900 + b"1" + b"}" * 900}, "INVALID_ARGUMENT", ["is a leaf"]),
        (BUFFER, {"uint_val": 1}, "INVALID_ARGUMENT", ["JSON object"]),
        (RATE.replace("name=2", "name=9"), {"uint_val": 1}, "NOT_FOUND", ["name=9", "1, 2, 3"]),
        (RATE.replace("=0]", "=4]"), {"uint_val": 1}, "NOT_FOUND", ["sequence=4", "expected 0"]),
        (f"{COUNTERS}/in-pkts", {"uint_val": 1}, "INVALID_ARGUMENT", ["read only"]),
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
    refused(lambda: stub.Set(delete), grpc.StatusCode.INVALID_ARGUMENT, "read only")
    union = gnmi.SetRequest(union_replace=[gnmi.Update(path=path(RATE))])
    refused(lambda: stub.Set(union), grpc.StatusCode.UNIMPLEMENTED, "union_replace")
    old = gnmi.GetRequest(path=[gnmi.Path(element=["interfaces"])])
    refused(lambda: stub.Get(old), grpc.StatusCode.INVALID_ARGUMENT, "path.elem")
    other = gnmi.GetRequest(path=[gnmi.Path(origin="cli")])
    refused(lambda: stub.Get(other), grpc.StatusCode.INVALID_ARGUMENT, "'cli'", "openconfig")


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


def shown(reply: gnmi.SubscribeResponse) -> Any:
    """`sync`, or the updates as (last name, value) with None for a deletion."""
    if reply.sync_response:
        return "sync"
    found = [(one[0].rpartition("/")[2], one[1]) for one in map(read, reply.update.update)]
    return found + [(GNMIPath(one).last, None) for one in reply.update.delete]


INDEX = "/interfaces/interface[name=2]/state/ifindex"


def test_once_sends_all_and_ends(stub: Any) -> None:
    everything = subscription("ONCE", INDEX, "/interfaces/interface/state/oper-status")
    assert replies(stub, everything) == [
        [("ifindex", 2)],
        [("oper-status", "UP")] * 3,
        "sync",
    ]
    # A port that is not there may come to be: no error, no value.
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
    first, second = next(stream), next(stream)
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


NAMES = st.sampled_from(
    [*sorted({name for leaf in LEAVES for name, _ in leaf.path}), "*", "...", "", "x", "é[]/="]
)
KEYS = st.dictionaries(
    st.sampled_from(["name", "interface-id", "sequence", "x", ""]),
    st.sampled_from(["1", "2", "0", "9", "*", "", "-1", "99999999999"]), max_size=2,
)  # fmt: skip
PATHS = st.builds(
    lambda elems: gnmi.Path(elem=[gnmi.PathElem(name=name, key=keys) for name, keys in elems]),
    st.lists(st.tuples(NAMES, KEYS), max_size=9)
    | st.sampled_from([[(n, dict(k)) for n, k in place(leaf.path, 2)] for leaf in LEAVES]),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=5,
)
VALUES = (
    st.builds(lambda n: gnmi.TypedValue(uint_val=n), st.integers(0, 2**64 - 1))
    | st.builds(lambda n: gnmi.TypedValue(int_val=n), st.integers(-(2**63), 2**63 - 1))
    | st.builds(lambda c: gnmi.TypedValue(json_ietf_val=json.dumps(c).encode()), JSON)
    | st.builds(lambda b: gnmi.TypedValue(json_val=b), st.binary(max_size=6))
    | st.just(gnmi.TypedValue())
)


@pytest.fixture(scope="module")
def real() -> Iterator[Any]:
    """The software target itself, which refuses by its own types."""
    ports = [
        {"port": n, "rate_bps": None, "queue": {"packets": 9}, "counts": "frame"} for n in (1, 2)
    ]
    config = {"switch": {"ports": ports, "timestamp_unit": "ns"}}
    target = engine().Switch(json.dumps(config), 1)
    with served(target) as address, grpc.insecure_channel(address) as channel:
        yield gnmi_grpc.gNMIStub(channel)


@settings(max_examples=300, deadline=None)
@given(one=PATHS, value=VALUES, encoding=st.integers(0, 6), verb=st.integers(0, 2))
def test_no_request_does_harm(
    real: Any, one: gnmi.Path, value: gnmi.TypedValue, encoding: int, verb: int
) -> None:
    """Whatever comes is answered, or refused with a code that is the client's to mend."""
    try:
        if verb == 0:
            real.Get(gnmi.GetRequest(path=[one], encoding=encoding), timeout=5)  # type: ignore[arg-type]
        elif verb == 1:
            real.Set(gnmi.SetRequest(update=[gnmi.Update(path=one, val=value)]), timeout=5)
        else:
            once = gnmi.SubscriptionList(mode=gnmi.SubscriptionList.ONCE, encoding=encoding)  # type: ignore[arg-type]
            once.subscription.append(gnmi.Subscription(path=one))
            list(real.Subscribe(iter([gnmi.SubscribeRequest(subscribe=once)]), timeout=5))
    except grpc.RpcError as error:
        code = error.code()
        known = ("NOT_FOUND", "INVALID_ARGUMENT", "OUT_OF_RANGE", "UNIMPLEMENTED")
        assert code.name in known, error


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


def test_the_document_has_every_leaf() -> None:
    text = DOC.read_text()
    for leaf in LEAVES:
        shown = show(leaf.path).replace(PORT, "N")
        assert leaf.path[-1][0] in text, shown
        if leaf.write:
            assert f"config/{leaf.path[-1][0]}`" in text, shown
