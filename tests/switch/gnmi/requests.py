"""gNMI requests as the tests write them."""

from __future__ import annotations

import json
from typing import Any

import grpc
import pytest
from finsy import GNMIPath
from finsy.proto import gnmi

RATE = (
    "/qos/scheduler-policies/scheduler-policy[name=2]/schedulers/scheduler[sequence=0]"
    "/two-rate-three-color/config/cir"
)


BUFFER = (
    "/qos/buffer-allocation-profiles/buffer-allocation-profile[name=2]/queues/queue[name=0]/config"
)


COUNTERS = "/interfaces/interface[name=1]/state/counters"


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


def shown(reply: gnmi.SubscribeResponse) -> Any:
    """`sync`, or the updates as (last name, value) with None for a deletion."""
    if reply.sync_response:
        return "sync"
    found = [(one[0].rpartition("/")[2], one[1]) for one in map(read, reply.update.update)]
    return found + [(GNMIPath(one).last, None) for one in reply.update.delete]
