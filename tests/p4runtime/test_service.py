"""The P4Runtime server as its clients see it: finsy unmodified, and a bare client for what a
well-behaved one never says. Numbers are from switch/tests/programs/control.p4info.txtpb.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import finsy as fy
import grpc
import pytest
from finsy.proto import p4r

from tests.support.p4rt import (
    BOTTLENECK,
    CONTROL,
    CPU,
    DEVICE,
    Client,
    Served,
    client,
    config,
    errors,
)

PROGRAM = CONTROL
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


# finsy, unmodified


def test_finsy_pushes_a_pipeline_and_finds_it_again(served: Served) -> None:
    async def version(switch: Any) -> Any:
        return switch.p4info.get_pipeline_info()

    first = drive(served, version)
    # The second time the program is there: finsy compares P4Info and cookie.
    served.switch.write_register("wide", 3, "0x7")
    assert drive(served, version) == first
    assert served.switch.read_registers("wide", 3, 1) == ["0x7"]


def test_entries_of_every_kind_are_read_back_as_written(served: Served) -> None:
    written = [
        forward(0x1),
        fy.P4TableEntry(
            "forward",
            match=fy.P4TableMatch({"hdr.ethernet.dst": 0xFFFFFFFFFFFF}),
            action=fy.P4TableAction("flood", group=7),
            metadata=b"broadcast",
        ),
        acl(10, "drop", src=(0x0200_0000_0000, 0xFF00_0000_0000), port=(1, 3), kind=0x806),
        acl(9, "NoAction", port=(0, 0)),
        acl(1, "metered"),
        fy.P4TableEntry(
            "prefixes",
            match=fy.P4TableMatch(
                {"hdr.ethernet.src": (0x0200_0000_0000, 8), "std.ingress_port": 1}
            ),
            action=fy.P4TableAction("learn"),
        ),
    ]

    async def write_and_read(switch: Any) -> Any:
        await switch.write([+entry for entry in written])
        schema = switch.p4info
        wanted = [entry.encode(schema).SerializeToString() for entry in written]
        got = [
            entry.encode(schema).SerializeToString()
            async for entry in switch.read(fy.P4TableEntry())
            if entry.table_id != "fixed"
        ]
        fixed = [entry async for entry in switch.read(fy.P4TableEntry("fixed"))]
        one = [entry.action async for entry in switch.read(acl(9, "NoAction", port=(0, 0)))]
        await switch.delete_all()
        left = [entry.table_id async for entry in switch.read(fy.P4TableEntry())]
        return sorted(wanted), sorted(got), fixed, one, left

    wanted, got, fixed, one, left = drive(served, write_and_read)
    assert got == wanted
    [constant] = fixed
    assert constant.is_const
    assert constant.match == {"kind": 0x88CC}
    assert [action.name for action in one] == ["NoAction"]
    assert left == ["fixed"]


def test_entries_do_what_they_say(served: Served) -> None:
    async def write(switch: Any) -> None:
        await switch.write(
            [
                +forward(0x1),
                +acl(5, "drop", src=(0x0300_0000_0000, 0xFF00_0000_0000), port=(2, 3)),
                +acl(6, "NoAction", kind=0x806),
            ]
        )

    drive(served, write)
    assert served.send(1, frame(1)) == [(2, frame(1))]
    assert served.send(1, frame(9)) == []
    # The range holds port 2, the mask the first byte; the higher priority wins.
    assert served.send(1, frame(1, 0x0301_0000_0000)) == [(2, frame(1, 0x0301_0000_0000))]
    assert served.send(2, frame(1, 0x0301_0000_0000)) == []
    assert len(served.send(2, frame(1, 0x0301_0000_0000, 0x806))) == 1
    assert served.send(1, frame(1, kind=0x88CC)) == []


def test_our_own_program_takes_its_routes(served: Served) -> None:
    async def write(switch: Any) -> Any:
        entry = fy.P4TableEntry(
            "ipv4_lpm",
            match=fy.P4TableMatch({"hdr.ipv4.dst_addr": "10.0.2.0/24"}),
            action=fy.P4TableAction("route", port=2, src_mac=1, dst_mac=2),
        )
        await switch.write([+entry])
        register = fy.P4RegisterEntry("delay_sum", index=3, data=1 << 63)
        await switch.write([~register])
        cells = [one async for one in switch.read(fy.P4RegisterEntry("delay_sum"))]
        return [str(one.action) async for one in switch.read(entry)], cells

    actions, cells = drive(served, write, BOTTLENECK)
    assert len(actions) == 1
    assert [cell.data for cell in cells] == [1 << 63 if n == 3 else 0 for n in range(512)]


def test_counters_registers_and_meters(served: Served) -> None:
    async def write(switch: Any) -> None:
        await switch.write([+forward(0x1), +acl(1, "metered", kind=0x0800)])
        await switch.write([~fy.P4RegisterEntry("wide", index=0, data=(1 << 100) - 2)])
        rates = fy.P4MeterConfig(cir=1, cburst=2, pir=3, pburst=4)
        await switch.write([~fy.P4MeterEntry("shaper", index=2, config=rates)])
        await switch.write([~fy.P4CounterEntry("seen", index=5, data=fy.P4CounterData(
            packet_count=40))])  # fmt: skip

    drive(served, write)
    for _ in range(3):
        served.send(1, frame(1))

    async def read(switch: Any) -> Any:
        seen = [one.data.packet_count async for one in switch.read(fy.P4CounterEntry("seen"))]
        direct = [one.data async for one in switch.read(fy.P4DirectCounterEntry("acl_counter"))]
        cell = [one.data async for one in switch.read(fy.P4RegisterEntry("wide", index=1))]
        meters = [one.config async for one in switch.read(fy.P4MeterEntry("shaper"))]
        return seen, direct, cell, meters

    seen, [direct], cell, meters = drive(served, read)
    assert seen == [0, 3, 0, 0, 0, 40, 0, 0]
    assert (direct.packet_count, direct.byte_count) == (3, 3 * 64)
    # The program writes cell 0 plus one into cell 1.
    assert cell == [(1 << 100) - 1]
    assert [None if one is None else one.cir for one in meters] == [None, None, 1, None]


def test_groups_and_clone_sessions(served: Served) -> None:
    group = fy.P4MulticastGroupEntry(7, replicas=[2, (3, 5)])
    session = fy.P4CloneSessionEntry(4, replicas=[3], packet_length_bytes=100)
    flood = fy.P4TableEntry(
        "forward",
        match=fy.P4TableMatch({"hdr.ethernet.dst": 0xFFFFFFFFFFFF}),
        action=fy.P4TableAction("flood", group=7),
    )

    async def write(switch: Any) -> Any:
        await switch.write([+group, +session, +flood])
        groups = [one async for one in switch.read(fy.P4MulticastGroupEntry())]
        sessions = [one async for one in switch.read(fy.P4CloneSessionEntry())]
        return groups, sessions

    groups, sessions = drive(served, write)
    assert [(one.multicast_group_id, len(one.replicas)) for one in groups] == [(7, 2)]
    assert [(one.session_id, one.packet_length_bytes) for one in sessions] == [(4, 100)]
    packet = frame(0xFFFFFFFFFFFF)
    assert served.send(1, packet) == [(2, packet), (3, packet)]


def test_ten_thousand_entries_in_one_batch(served: Served) -> None:
    async def write(switch: Any) -> float:
        began = time.monotonic()
        await switch.write([+forward(number) for number in range(10_000)])
        took = time.monotonic() - began
        count = len([one async for one in switch.read(fy.P4TableEntry("forward"))])
        assert count == 10_000
        return took

    assert drive(served, write) < 20
    assert served.send(1, frame(9_999)) == [(2, frame(9_999))]


def test_packets_to_and_from_a_controller(served: Served) -> None:
    async def exchange(switch: Any) -> Any:
        punt = fy.P4TableEntry(
            "forward",
            match=fy.P4TableMatch({"hdr.ethernet.dst": 0x5}),
            action=fy.P4TableAction("to_controller", reason=9),
        )
        await switch.write([+punt])
        served.send(3, frame(5))
        async with asyncio.timeout(10):
            packet = await anext(switch.read_packets())
        await switch.write([fy.P4PacketOut(frame(6), egress_port=2, pad=0)])
        async with asyncio.timeout(10):
            while not (sent := served.switch.run_until(0)):
                await asyncio.sleep(0.01)
        return packet, sent

    packet, sent = drive(served, exchange)
    assert packet.payload == frame(5)
    assert (packet["ingress_port"], packet["reason"]) == (3, 9)
    assert [(port, data) for port, _, _, data in sent] == [(2, frame(6))]


def test_digests_are_sent_once_until_acknowledged(served: Served) -> None:
    async def learn(switch: Any) -> Any:
        learn = fy.P4TableEntry(
            "prefixes",
            match=fy.P4TableMatch({"std.ingress_port": 1}),
            action=fy.P4TableAction("learn"),
        )
        digest = fy.P4DigestEntry("Seen", max_list_size=2, ack_timeout_ns=60 * 10**9)
        await switch.write([+learn, +digest])
        lists = []
        # The first source was not acknowledged, so it does not come again.
        sources = iter([(0xA, 0xB), ()])
        served.send(1, frame(1, 0xA))
        async with asyncio.timeout(10):
            async for found in switch.read_digests("Seen"):
                lists.append([dict(one) for one in found.data])
                for source in next(sources):
                    served.send(1, frame(1, source))
                if len(lists) == 2:
                    break
        return lists

    first, second = drive(served, learn)
    assert [one["src"] for one in first] == [0xA]
    assert [one["src"] for one in second] == [0xB]
    assert first[0]["port"] == 1


# Refusals

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

WRONG: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "no action": (FORWARD, {"match": [MAC]}, "INVALID_ARGUMENT", "the action is missing"),
    "a foreign action": (FORWARD, {"match": [MAC], "action": "learn"}, "INVALID_ARGUMENT", "learn"),
    "a default's action": (FORWARD, {"match": [MAC], "action": "drop"}, "INVALID_ARGUMENT", "drop"),
    "no parameter": (FORWARD, {"match": [MAC], "action": "send"}, "INVALID_ARGUMENT", "'port'"),
    "one too many": (
        FORWARD, {"match": [MAC], "action": "send", "params": [b"\x01", b"\x01"]},
        "INVALID_ARGUMENT", "parameter 2",
    ),
    "a wide parameter": (
        FORWARD, {"match": [MAC], "action": "send", "params": [b"\x02\x00"]},
        "OUT_OF_RANGE", "'port': 0x200 has more than 9 bits",
    ),
    "an empty value": (
        FORWARD, {"match": [exact(1, b"")], **TO_2}, "INVALID_ARGUMENT", "the value is empty",
    ),
    "a wide key": (
        FORWARD, {"match": [exact(1, b"\x01" * 7)], **TO_2}, "OUT_OF_RANGE", "more than 48 bits",
    ),
    "no key": (FORWARD, {**TO_2}, "INVALID_ARGUMENT", "'hdr.ethernet.dst' is missing"),
    "a key twice": (FORWARD, {"match": [MAC, MAC], **TO_2}, "INVALID_ARGUMENT", "twice"),
    "an unknown key": (
        FORWARD, {"match": [exact(9, b"\x01")], **TO_2}, "INVALID_ARGUMENT", "field 9",
    ),
    "a key of another kind": (
        FORWARD, {"match": [ONE], **TO_2}, "INVALID_ARGUMENT", "kind ternary: expected exact",
    ),
    "a priority too many": (
        FORWARD, {"match": [MAC], "priority": 1, **TO_2}, "INVALID_ARGUMENT", "priority 1",
    ),
    "no priority": (
        ACL, {"match": [ONE], "action": "drop"}, "INVALID_ARGUMENT", "expected one above zero",
    ),
    "bits outside the mask": (
        ACL, {"match": [ternary(1, b"\x03", b"\x01")], "action": "drop", "priority": 1},
        "INVALID_ARGUMENT", "outside its mask",
    ),
    "a mask of zero": (
        ACL, {"match": [ternary(1, b"\x00", b"\x00")], "action": "drop", "priority": 1},
        "INVALID_ARGUMENT", "mask 0",
    ),
    "an empty range": (
        ACL, {"match": [ranged(2, b"\x02", b"\x01")], "action": "drop", "priority": 1},
        "INVALID_ARGUMENT", "'port': the range 0x2 to 0x1 is empty",
    ),
    "a range of all": (
        ACL, {"match": [ranged(2, b"\x00", b"\x01\xff")], "action": "drop", "priority": 1},
        "INVALID_ARGUMENT", "all values",
    ),
    "bits below the prefix": (
        PREFIXES, {"match": [lpm(1, b"\x01", 40), PORT], "action": "learn"},
        "INVALID_ARGUMENT", "below its prefix",
    ),
    "a long prefix": (
        PREFIXES, {"match": [lpm(1, b"\x01", 49), PORT], "action": "learn"},
        "INVALID_ARGUMENT", "prefix length 49: expected 1 to 48",
    ),
    "a constant table": (
        FIXED, {"match": [exact(1, b"\x01")], "action": "drop"}, "PERMISSION_DENIED", "constant",
    ),
    "an unknown entry changed": (
        FORWARD, {"match": [MAC], **TO_2, "type": MODIFY}, "NOT_FOUND", "no such entry",
    ),
    "an unknown entry removed": (
        FORWARD, {"match": [MAC], "type": DELETE}, "NOT_FOUND", "no such entry",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_does_not_fit_is_refused_by_name(primary: Client, case: str) -> None:
    table, fields, code, message = WRONG[case]
    with pytest.raises(grpc.RpcError) as refused:
        primary.write([entry(primary, table, **fields)])
    assert refused.value.code() == grpc.StatusCode.UNKNOWN
    [(got, said)] = errors(refused.value)
    assert got == code
    assert message in said
    assert table in said
    left = primary.read(entry(primary, table).entity)
    assert len(left) == (1 if table == FIXED else 0)


def test_unknown_objects_are_not_found(primary: Client) -> None:
    entities = [
        p4r.Entity(table_entry=p4r.TableEntry(table_id=1)),
        p4r.Entity(counter_entry=p4r.CounterEntry(counter_id=2)),
        p4r.Entity(meter_entry=p4r.MeterEntry(meter_id=3)),
        p4r.Entity(register_entry=p4r.RegisterEntry(register_id=4)),
        p4r.Entity(digest_entry=p4r.DigestEntry(digest_id=5)),
        p4r.Entity(value_set_entry=p4r.ValueSetEntry(value_set_id=6)),
    ]
    with pytest.raises(grpc.RpcError) as refused:
        primary.write([p4r.Update(type=MODIFY, entity=entity) for entity in entities])
    assert [code for code, _ in errors(refused.value)] == ["NOT_FOUND"] * 6
    with pytest.raises(grpc.RpcError, match="0x1 is not in the P4Info"):
        primary.read(entities[0])


def test_a_full_table_and_one_entry_twice(primary: Client) -> None:
    updates = [
        entry(primary, PREFIXES, match=[exact(2, bytes([port]))], action="learn")
        for port in (1, 2, 3, 1)
    ]
    with pytest.raises(grpc.RpcError) as refused:
        primary.write(updates)
    found = errors(refused.value)
    assert [code for code, _ in found] == ["OK", "OK", "RESOURCE_EXHAUSTED", "ALREADY_EXISTS"]
    assert "its size is 2" in found[2][1]


def test_padded_values_come_back_canonical(primary: Client) -> None:
    primary.write([entry(primary, FORWARD, match=[exact(1, bytes(9) + b"\x05")], **TO_2)])
    [found] = primary.read(entry(primary, FORWARD).entity)
    assert found.table_entry.match[0].exact.value == b"\x05"
    primary.write([entry(primary, FORWARD, match=[MAC], type=DELETE)])


@pytest.mark.parametrize(
    "atomicity", [p4r.WriteRequest.ROLLBACK_ON_ERROR, p4r.WriteRequest.DATAPLANE_ATOMIC]
)
def test_a_batch_is_undone(primary: Client, served: Served, atomicity: int) -> None:
    kept = entry(primary, FORWARD, match=[exact(1, b"\x01")], **TO_2)
    primary.write([kept])
    wildcard = entry(primary, FORWARD).entity
    before = primary.read(wildcard)
    changed = entry(
        primary, FORWARD, match=[exact(1, b"\x01")], action="send", params=[b"\x03"], type=MODIFY
    )
    removed = entry(primary, FORWARD, match=[exact(1, b"\x01")], type=DELETE)
    group = p4r.MulticastGroupEntry(multicast_group_id=1)
    engine = p4r.PacketReplicationEngineEntry(multicast_group_entry=group)
    batch = [
        entry(primary, FORWARD, match=[exact(1, b"\x02")], **TO_2),
        changed,
        removed,
        p4r.Update(type=INSERT, entity=p4r.Entity(packet_replication_engine_entry=engine)),
        kept,
        entry(primary, FORWARD, match=[exact(1, b"\x02")], **TO_2),
        removed,
    ]
    with pytest.raises(grpc.RpcError) as refused:
        primary.write(batch, atomicity)
    codes = [code for code, _ in errors(refused.value)]
    assert codes == ["ABORTED"] * 5 + ["ALREADY_EXISTS", "ABORTED"]
    assert primary.read(wildcard) == before
    everything = p4r.Entity(packet_replication_engine_entry=p4r.PacketReplicationEngineEntry())
    assert primary.read(everything) == []
    assert served.send(1, frame(1)) == [(2, frame(1))]


def test_a_default_action_is_set_and_reset(primary: Client, served: Served) -> None:
    send = entry(primary, FORWARD, type=MODIFY, **TO_2)
    send.entity.table_entry.is_default_action = True
    primary.write([send])
    assert served.send(1, frame(77)) == [(2, frame(77))]
    asked = entry(primary, FORWARD).entity
    asked.table_entry.is_default_action = True
    assert primary.read(asked) == [send.entity]
    reset = entry(primary, FORWARD, type=MODIFY)
    reset.entity.table_entry.is_default_action = True
    primary.write([reset])
    assert served.send(1, frame(77)) == []
    constant = entry(primary, PREFIXES, type=MODIFY, action="learn")
    constant.entity.table_entry.is_default_action = True
    with pytest.raises(grpc.RpcError) as refused:
        primary.write([constant])
    assert errors(refused.value)[0][0] in ("PERMISSION_DENIED", "INVALID_ARGUMENT")


# Pipelines


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
        (widen, "field 'hdr.ethernet.dst': 47 bits, in the JSON 48"),
        (shrink, "register 'Receive.wide': size 5, in the JSON 4"),
        (lambda wrong: wrong.ClearField("p4_device_config"), "p4_device_config is empty"),
        (lambda wrong: setattr(wrong, "p4_device_config", b"\xff{"), "is no JSON"),
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
    # What was there goes on.
    assert served.send(1, frame(1)) == [(2, frame(1))]


def test_every_way_to_set_a_pipeline(primary: Client, served: Served) -> None:
    kept = entry(primary, FORWARD, match=[exact(1, b"\x01")], **TO_2)
    primary.write([kept])
    with pytest.raises(grpc.RpcError, match="no config was saved"):
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
    # A state that does not fit stays where it was.
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


# Controllers


def test_the_highest_election_id_writes(served: Served) -> None:
    with client(served.address, 5) as old, client(served.address, 9) as new:
        assert old.arbitrate().status.code == 0
        old.push(CONTROL)
        update = entry(old, FORWARD, match=[MAC], **TO_2)
        assert new.arbitrate().status.code == 0
        told = old.hear().arbitration
        assert (told.status.code, told.election_id.low) == (6, 9)
        with pytest.raises(grpc.RpcError) as refused:
            old.write([update])
        assert refused.value.code() == grpc.StatusCode.PERMISSION_DENIED
        new.write([update])
        assert len(old.read(entry(old, FORWARD).entity)) == 1
        new.close()
        # Nobody is the primary until one comes with 9 or more.
        assert old.hear().arbitration.status.code == 5
        with pytest.raises(grpc.RpcError):
            old.write([update])
        old.election_id = 10
        assert old.arbitrate().status.code == 0
        old.write([entry(old, FORWARD, match=[MAC], type=DELETE)])


def test_roles_have_primaries_of_their_own(served: Served) -> None:
    with client(served.address, 5) as one, client(served.address, 3, "reader") as other:
        assert one.arbitrate().status.code == 0
        assert other.arbitrate().status.code == 0
        one.push(CONTROL)
        other.write([entry(other, FORWARD, match=[MAC], **TO_2)])
        assert len(one.read(entry(one, FORWARD).entity)) == 1


def test_streams_that_are_refused(served: Served) -> None:
    with client(served.address, 5) as one, client(served.address, 5) as same:
        one.arbitrate()
        with pytest.raises(grpc.RpcError) as refused:
            same.arbitrate()
        assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT
        assert "election id 5 is used" in refused.value.details()
    with client(served.address) as stranger:
        with pytest.raises(grpc.RpcError) as refused:
            stranger.arbitrate(device=99)
        assert refused.value.code() == grpc.StatusCode.NOT_FOUND


def test_wrong_stream_messages_are_answered(primary: Client) -> None:
    packet = p4r.PacketOut(payload=b"x")
    packet.metadata.add(metadata_id=1, value=b"\x02\x00")
    wrong = [
        p4r.StreamMessageRequest(packet=packet),
        p4r.StreamMessageRequest(packet=p4r.PacketOut(payload=b"x")),
        p4r.StreamMessageRequest(digest_ack=p4r.DigestListAck(digest_id=5, list_id=1)),
        p4r.StreamMessageRequest(),
    ]
    codes, said = [], []
    for message in wrong:
        primary.say(message)
        error = primary.hear().error
        codes.append(error.canonical_code)
        said.append(error.message)
    assert codes == [11, 3, 5, 12]
    assert "'egress_port': 0x200 has more than 9 bits" in said[0]
    assert "'egress_port' is missing" in said[1]


def test_a_controller_that_vanishes_leaves_nothing_behind(served: Served) -> None:
    with client(served.address, 4) as gone:
        gone.arbitrate()
        gone.push(CONTROL)
        updates = [entry(gone, FORWARD, match=[MAC], **TO_2)] * 1
        for number in range(2_000):
            value = number.to_bytes(6, "big")
            updates.append(entry(gone, FORWARD, match=[exact(1, value)], **TO_2))
        request = p4r.WriteRequest(device_id=DEVICE, updates=updates)
        request.election_id.low = 4
        gone.stub.Write.future(request)
        gone.channel.close()
    deadline = time.monotonic() + 10
    while served.service.arbitration.connected() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert served.service.arbitration.connected() == 0
    with client(served.address, 5) as next_one:
        assert next_one.arbitrate().status.code == 0
        next_one.push(CONTROL)
        next_one.write([entry(next_one, FORWARD, match=[exact(1, b"\x01")], **TO_2)])
        assert served.send(1, frame(1)) == [(2, frame(1))]


def test_what_is_not_there_is_unimplemented_by_name(primary: Client) -> None:
    session = p4r.CloneSessionEntry(session_id=1, class_of_service=2)
    engine = p4r.PacketReplicationEngineEntry(clone_session_entry=session)
    entities = [
        p4r.Entity(extern_entry=p4r.ExternEntry(extern_type_id=1)),
        p4r.Entity(packet_replication_engine_entry=engine),
    ]
    with pytest.raises(grpc.RpcError) as refused:
        primary.write([p4r.Update(type=INSERT, entity=entity) for entity in entities])
    found = errors(refused.value)
    assert [code for code, _ in found] == ["UNIMPLEMENTED"] * 2
    assert "extern_entry" in found[0][1]
    assert "class_of_service" in found[1][1]


def test_the_cpu_port_is_no_port_of_the_files(served: Served) -> None:
    assert CPU in served.switch.ports()
