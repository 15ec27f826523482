"""Messages and frames that the P4Runtime tests send."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import finsy as fy
from finsy.proto import p4r

from tests.support.p4rt import (
    CONTROL,
    Client,
    Served,
    config,
)

INSERT, MODIFY, DELETE = p4r.Update.INSERT, p4r.Update.MODIFY, p4r.Update.DELETE


SET = p4r.SetForwardingPipelineConfigRequest


def frame(dst: int, src: int = 0x020000000009, kind: int = 0x0800) -> bytes:
    return dst.to_bytes(6, "big") + src.to_bytes(6, "big") + kind.to_bytes(2, "big") + bytes(50)


def forward(dst: int, port: int = 2) -> fy.P4TableEntry:
    return fy.P4TableEntry(
        "forward",
        match=fy.P4TableMatch({"hdr.ethernet.dst": dst}),
        action=fy.P4TableAction("send", port=port),
    )


def acl(priority: int, action: str, **match: Any) -> fy.P4TableEntry:
    return fy.P4TableEntry(
        "acl",
        match=fy.P4TableMatch(match),
        action=fy.P4TableAction(action),
        priority=priority,
    )


def drive(served: Served, task: Callable[[Any], Any], files: Any = CONTROL) -> Any:
    """Runs a task with finsy."""

    async def run() -> Any:
        async with served.finsy(files) as switch:
            return await task(switch)

    return asyncio.run(run())


FORWARD, ACL, PREFIXES, FIXED = "forward", "acl", "prefixes", "fixed"


def entry(made: Client, table: str, **fields: Any) -> p4r.Update:
    """A table entry by names, as raw as it can be: `match` is a list of FieldMatch, `action` a
    name, `params` byte strings in order."""
    info = config(CONTROL).p4info
    [number] = [one.preamble.id for one in info.tables if one.preamble.alias == table]
    message = p4r.TableEntry(table_id=number, priority=fields.get("priority", 0))
    message.match.extend(fields.get("match", []))
    if "action" in fields:
        [action] = [
            one.preamble.id for one in info.actions if one.preamble.alias == fields["action"]
        ]
        message.action.action.action_id = action
        for at, value in enumerate(fields.get("params", []), 1):
            message.action.action.params.add(param_id=at, value=value)
    update = p4r.Update(type=fields.get("type", INSERT))
    update.entity.table_entry.CopyFrom(message)
    return update


def exact(field: int, value: bytes) -> p4r.FieldMatch:
    return p4r.FieldMatch(field_id=field, exact=p4r.FieldMatch.Exact(value=value))


def ternary(field: int, value: bytes, mask: bytes) -> p4r.FieldMatch:
    return p4r.FieldMatch(field_id=field, ternary=p4r.FieldMatch.Ternary(value=value, mask=mask))


def ranged(field: int, low: bytes, high: bytes) -> p4r.FieldMatch:
    return p4r.FieldMatch(field_id=field, range=p4r.FieldMatch.Range(low=low, high=high))


def lpm(field: int, value: bytes, length: int) -> p4r.FieldMatch:
    return p4r.FieldMatch(field_id=field, lpm=p4r.FieldMatch.LPM(value=value, prefix_len=length))


TO_2 = {"action": "send", "params": [b"\x02"]}


MAC = exact(1, b"\x05")


ONE, PORT = ternary(1, b"\x01", b"\x01"), exact(2, b"\x01")
