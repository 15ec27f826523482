"""Pipeline configurations: what is refused, and every action of SetForwardingPipelineConfig."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import grpc
import pytest
from finsy.proto import p4r

from tests.p4runtime.messages import (
    FORWARD,
    MAC,
    SET,
    TO_2,
    entry,
    exact,
    frame,
)
from tests.support.p4rt import (
    BOTTLENECK,
    CONTROL,
    DEVICE,
    Client,
    Served,
    client,
    config,
)

PROGRAM = CONTROL


def refused_config(made: Client, action: int, change: Callable[[Any], None]) -> grpc.RpcError:
    wrong = config(CONTROL)
    change(wrong)
    with pytest.raises(grpc.RpcError) as refused:
        made.set_config(wrong, action)
    return refused.value


def rename(wrong: Any) -> None:
    wrong.p4info.tables[0].preamble.name = "Receive.backward"


def widen(wrong: Any) -> None:
    wrong.p4info.tables[0].match_fields[0].bitwidth = 47


def shrink(wrong: Any) -> None:
    wrong.p4info.registers[0].size = 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (rename, "table 'Receive.backward' is not in the JSON"),
        (widen, "field 'hdr.ethernet.dst': 47 bits, but 48 in the JSON"),
        (shrink, "register 'Receive.wide': size 5, but 4 in the JSON"),
        (lambda wrong: wrong.ClearField("p4_device_config"), "p4_device_config is empty"),
        (lambda wrong: setattr(wrong, "p4_device_config", b"\xff{"), "is not valid JSON"),
        (lambda wrong: setattr(wrong, "p4_device_config", b"[]"), ""),
        (lambda wrong: wrong.p4info.actions.pop(), "which is not declared"),
    ],
)
def test_a_p4info_that_disagrees_is_named(
    primary: Client, served: Served, change: Callable[[Any], None], message: str
) -> None:
    primary.write([entry(primary, FORWARD, match=[exact(1, b"\x01")], **TO_2)])
    for action in (SET.VERIFY, SET.VERIFY_AND_COMMIT, SET.RECONCILE_AND_COMMIT):
        error = refused_config(primary, action, change)
        assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
        assert message in error.details()
    # The earlier configuration remains active.
    assert served.send(1, frame(1)) == [(2, frame(1))]


def test_every_way_to_set_a_pipeline(primary: Client, served: Served) -> None:
    kept = entry(primary, FORWARD, match=[exact(1, b"\x01")], **TO_2)
    primary.write([kept])
    with pytest.raises(grpc.RpcError, match="expected VERIFY_AND_SAVE"):
        primary.set_config(None, SET.COMMIT)
    saved = config(CONTROL)
    saved.cookie.cookie = 17
    primary.set_config(saved, SET.VERIFY)
    primary.set_config(saved, SET.VERIFY_AND_SAVE)
    asked = p4r.GetForwardingPipelineConfigRequest(device_id=DEVICE)
    asked.response_type = p4r.GetForwardingPipelineConfigRequest.COOKIE_ONLY
    # Saved is not committed.
    assert not primary.stub.GetForwardingPipelineConfig(asked).config.HasField("cookie")
    primary.set_config(saved, SET.RECONCILE_AND_COMMIT)
    got = primary.stub.GetForwardingPipelineConfig(asked).config
    assert (got.cookie.cookie, got.HasField("p4info"), got.p4_device_config) == (17, False, b"")
    assert primary.read(entry(primary, FORWARD).entity) == [kept.entity]
    assert served.send(1, frame(1)) == [(2, frame(1))]
    primary.set_config(saved, SET.VERIFY_AND_SAVE)
    primary.set_config(None, SET.COMMIT)
    assert primary.read(entry(primary, FORWARD).entity) == []
    # A state that does not fit leaves the earlier one in place.
    primary.write([kept])
    with pytest.raises(grpc.RpcError, match="does not fit"):
        primary.set_config(config(BOTTLENECK), SET.RECONCILE_AND_COMMIT)
    assert served.send(1, frame(1)) == [(2, frame(1))]


def test_without_a_pipeline_nothing_is_written_or_read(served: Served) -> None:
    with client(served.address) as made:
        made.arbitrate()
        for call in (
            lambda: made.write([entry(made, FORWARD, match=[MAC], **TO_2)]),
            lambda: made.read(p4r.Entity(table_entry=p4r.TableEntry())),
        ):
            with pytest.raises(grpc.RpcError) as refused:
                call()
            assert refused.value.code() == grpc.StatusCode.FAILED_PRECONDITION
