"""The P4Runtime server from its clients' side: finsy unmodified, and a bare client for messages
that a well-behaved client never sends. Numbers are from switch/tests/programs/control.p4info.txtpb.
"""

from __future__ import annotations

import time
from typing import Any

import finsy as fy
import grpc
import pytest
from finsy.proto import p4r

from tests.p4runtime.messages import (
    ACL,
    DELETE,
    FIXED,
    FORWARD,
    INSERT,
    MAC,
    MODIFY,
    ONE,
    PORT,
    PREFIXES,
    TO_2,
    acl,
    drive,
    entry,
    exact,
    forward,
    frame,
    lpm,
    ranged,
    ternary,
)
from tests.support.p4rt import (
    BOTTLENECK,
    CONTROL,
    Client,
    Served,
    errors,
)

PROGRAM = CONTROL


# finsy, unmodified


def test_finsy_pushes_a_pipeline_and_finds_it_again(served: Served) -> None:
    async def version(switch: Any) -> Any:
        return switch.p4info.get_pipeline_info()

    first = drive(served, version)
    # The second time the program is already loaded: finsy compares P4Info and cookie.
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


# Refusals


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
    "a key twice": (FORWARD, {"match": [MAC, MAC], **TO_2}, "INVALID_ARGUMENT", "is repeated"),
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
        "INVALID_ARGUMENT", "beyond its prefix",
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


# Controllers
