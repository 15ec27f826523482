"""No request harms the server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from finsy.proto import gnmi, gnmi_grpc
from hypothesis import given, settings
from hypothesis import strategies as st

from narrows.switch.server.gnmi.leaves import LEAVES, at_port
from narrows.testbed import engine
from tests.support.fake_traffic import served

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
    | st.sampled_from([[(n, dict(k)) for n, k in at_port(leaf.path, 2)] for leaf in LEAVES]),
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
    """The software target itself, which refuses with its own types."""
    ports = [
        {"port": n, "rate_bps": None, "queue": {"packets": 9}, "counts": "frame"} for n in (1, 2)
    ]
    config = {"switch": {"ports": ports, "timestamp_unit": "ns"}}
    target = engine.Switch(json.dumps(config), 1)
    with served(target) as address, grpc.insecure_channel(address) as channel:
        yield gnmi_grpc.gNMIStub(channel)


@settings(max_examples=300, deadline=None)
@given(one=PATHS, value=VALUES, encoding=st.integers(0, 6), verb=st.integers(0, 2))
def test_no_request_does_harm(
    real: Any, one: gnmi.Path, value: gnmi.TypedValue, encoding: int, verb: int
) -> None:
    """Every request is answered, or refused with a code that the client can act on."""
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


def test_get_of_an_unknown_type_is_an_invalid_argument(real: Any) -> None:
    with pytest.raises(grpc.RpcError) as refused:
        real.Get(gnmi.GetRequest(type=99), timeout=5)  # type: ignore[arg-type]
    assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT
