"""Untrusted messages to the gRPC services: each is answered, most with a named refusal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from finsy.proto import p4r
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.budget import cases
from tests.p4runtime.messages import FORWARD, INSERT, MAC, TO_2, entry
from tests.support.p4rt import CONTROL, DEVICE, Client, Served, client, config

OURS = {
    grpc.StatusCode.UNIMPLEMENTED, grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.ALREADY_EXISTS, grpc.StatusCode.OUT_OF_RANGE, grpc.StatusCode.UNKNOWN,
    grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
}  # fmt: skip
"""A batch answers UNKNOWN (P4Runtime specification, 12.3); `INTERNAL` is a bug."""


@pytest.fixture(scope="module")
def primary() -> Iterator[Client]:
    served = Served()
    with client(served.address) as made:
        made.arbitrate()
        made.push(CONTROL)
        yield made
    served.close()


def seeds() -> list[bytes]:
    """Requests to start from."""
    request: Any = p4r.WriteRequest(device_id=DEVICE)
    request.election_id.low = 1
    request.updates.append(entry(None, FORWARD, match=[MAC], **TO_2))  # type: ignore[arg-type]
    engine = p4r.Update(type=INSERT)
    group = engine.entity.packet_replication_engine_entry.multicast_group_entry
    group.multicast_group_id = 1
    group.replicas.add(port=b"\x01", instance=1)
    request.updates.append(engine)
    for number in config(CONTROL).p4info.registers:
        update = p4r.Update(type=p4r.Update.MODIFY)
        update.entity.register_entry.register_id = number.preamble.id
        update.entity.register_entry.data.bitstring = b"\x01"
        request.updates.append(update)
    return [request.SerializeToString()]


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    data = bytearray(draw(st.sampled_from(seeds())))
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(data) - 1))
        match draw(st.integers(0, 2)):
            case 0:
                data[at] = draw(st.integers(0, 255))
            case 1:
                data[at:at] = draw(st.binary(max_size=8))
            case _:
                del data[at : at + draw(st.integers(1, 8))]
        if not data:
            break
    return bytes(data)


def answer(primary: Client, method: str, request: bytes) -> None:
    call = primary.channel.unary_stream(f"/p4.v1.P4Runtime/{method}")
    try:
        list(call(request, timeout=20))
    except grpc.RpcError as refused:
        assert refused.code() in OURS, refused


@cases(150)
@given(request=mutated())
def test_writes_are_answered(primary: Client, request: bytes) -> None:
    answer(primary, "Write", request)


@cases(60)
@given(
    request=mutated() | st.binary(max_size=60),
    method=st.sampled_from(["Read", "GetForwardingPipelineConfig", "Capabilities"]),
)
def test_other_calls_are_answered(primary: Client, request: bytes, method: str) -> None:
    answer(primary, method, request)
