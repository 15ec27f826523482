"""Action profiles, selectors and idle time-outs over P4Runtime
(switch/tests/programs/profiles.p4)."""

from __future__ import annotations

from typing import Any

import grpc
import pytest
from finsy.proto import p4r

from tests.support.p4rt import PROGRAMS, Client, Served, config, errors

PROGRAM = (PROGRAMS / "profiles.p4info.txtpb", PROGRAMS / "profiles.json")
INSERT, MODIFY, DELETE = p4r.Update.INSERT, p4r.Update.MODIFY, p4r.Update.DELETE
NUMBERS = {
    one.preamble.alias: one.preamble.id
    for kind in ("tables", "actions", "action_profiles")
    for one in getattr(config(PROGRAM).p4info, kind)
}


def packet(kind: int, a: int, b: int = 0, c: int = 0) -> bytes:
    return bytes([kind, a]) + b.to_bytes(2, "big") + c.to_bytes(4, "big") + bytes(52)


def member(kind: int, profile: str, number: int, port: int) -> p4r.Update:
    update = p4r.Update(type=kind)  # type: ignore[arg-type]
    one = update.entity.action_profile_member
    one.action_profile_id, one.member_id = NUMBERS[profile], number
    one.action.action_id = NUMBERS["out_by"]
    one.action.params.add(param_id=1, value=bytes([port]))
    return update


def group(kind: int, number: int, **weights: int) -> p4r.Update:
    update = p4r.Update(type=kind)  # type: ignore[arg-type]
    one = update.entity.action_profile_group
    one.action_profile_id, one.group_id = NUMBERS["chosen"], number
    for name, weight in weights.items():
        one.members.add(member_id=int(name[1:]), weight=weight)
    return update


def entry(table: str, a: int, kind: int = INSERT, **action: Any) -> p4r.Update:
    update = p4r.Update(type=kind)  # type: ignore[arg-type]
    one = update.entity.table_entry
    one.table_id = NUMBERS[table]
    one.match.add(field_id=1).exact.value = bytes([a])
    for name, value in action.items():
        setattr(one.action, name, value)
    return update


def crc16(data: bytes) -> int:
    """CRC-16/ARC, bit by bit: the polynomial 0x8005 reflected."""
    value = 0
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0xA001 if value & 1 else 0)
    return value


def test_members_choose_the_port(primary: Client, served: Served) -> None:
    updates = [
        member(INSERT, "plain", 4, port=2),
        entry("by_member", 1, action_profile_member_id=4),
    ]
    primary.write(updates)
    assert [port for port, _ in served.send(1, packet(0, 1))] == [2]
    primary.write([member(MODIFY, "plain", 4, port=3)])
    assert [port for port, _ in served.send(1, packet(0, 1))] == [3]
    everything = p4r.Entity(action_profile_member=p4r.ActionProfileMember())
    assert primary.read(everything) == [member(MODIFY, "plain", 4, port=3).entity]
    table = p4r.Entity(table_entry=p4r.TableEntry(table_id=NUMBERS["by_member"]))
    assert primary.read(table) == [updates[1].entity]
    # It can't be deleted while an entry refers to it.
    with pytest.raises(grpc.RpcError) as refused:
        primary.write([member(DELETE, "plain", 4, port=3)])
    assert errors(refused.value)[0][0] == "FAILED_PRECONDITION"
    primary.write([entry("by_member", 1, DELETE), member(DELETE, "plain", 4, port=3)])
    assert primary.read(everything) == []


def test_a_group_spreads_packets_by_weight(primary: Client, served: Served) -> None:
    written = [
        member(INSERT, "chosen", 1, port=2),
        member(INSERT, "chosen", 2, port=3),
        group(INSERT, 9, m1=1, m2=3),
        entry("by_group", 5, action_profile_group_id=9),
    ]
    primary.write(written)
    assert crc16(b"123456789") == 0xBB3D
    ports = [port for c in range(400) for port, _ in served.send(1, packet(1, 5, 7 * c, c))]
    hashes = [crc16((7 * c).to_bytes(2, "big") + c.to_bytes(4, "big")) for c in range(400)]
    assert ports == [2 if hashed % 4 < 1 else 3 for hashed in hashes]
    everything = p4r.Entity(action_profile_group=p4r.ActionProfileGroup())
    assert primary.read(everything) == [written[2].entity]
    # A new pipeline configuration with the state kept.
    primary.push(PROGRAM, p4r.SetForwardingPipelineConfigRequest.RECONCILE_AND_COMMIT)
    assert primary.read(everything) == [written[2].entity]
    assert len(served.send(1, packet(1, 5))) == 1


def test_what_does_not_fit_a_profile_is_named(primary: Client) -> None:
    wrong = member(INSERT, "plain", 1, port=2)
    wrong.entity.action_profile_member.action_profile_id = 77
    foreign = member(INSERT, "plain", 1, port=2)
    foreign.entity.action_profile_member.action.action_id = NUMBERS["marked"]
    direct = entry("by_member", 1)
    direct.entity.table_entry.action.action.action_id = NUMBERS["discard"]
    plain_group = group(INSERT, 1)
    plain_group.entity.action_profile_group.action_profile_id = NUMBERS["plain"]
    with pytest.raises(grpc.RpcError) as refused:
        primary.write(
            [
                wrong,
                foreign,
                direct,
                plain_group,
                entry("by_member", 1, action_profile_member_id=8),
                group(INSERT, 1, m5=1),
                group(INSERT, 1, m5=0),
            ]
        )
    found = errors(refused.value)
    codes = ["NOT_FOUND", *["INVALID_ARGUMENT"] * 3, *["NOT_FOUND"] * 2, "INVALID_ARGUMENT"]
    assert [code for code, _ in found] == codes
    assert "I.plain" in found[1][1]
    assert "member or group" in found[2][1]


def one_shot(a: int, *actions: tuple[int, int], kind: int = INSERT) -> p4r.Update:
    """An entry of by_group with an action set: ports and weights."""
    update = entry("by_group", a, kind)
    chosen = update.entity.table_entry.action.action_profile_action_set
    chosen.SetInParent()
    for port, weight in actions:
        one = chosen.action_profile_actions.add(weight=weight)
        one.action.action_id = NUMBERS["out_by"]
        one.action.params.add(param_id=1, value=bytes([port]))
    return update


def test_an_entry_brings_its_own_actions(primary: Client, served: Served) -> None:
    written = one_shot(5, (2, 1), (3, 3))
    primary.write([written])
    ports = [port for c in range(100) for port, _ in served.send(1, packet(1, 5, 7 * c, c))]
    hashes = [crc16((7 * c).to_bytes(2, "big") + c.to_bytes(4, "big")) for c in range(100)]
    assert ports == [2 if hashed % 4 < 1 else 3 for hashed in hashes]
    table = p4r.Entity(table_entry=p4r.TableEntry(table_id=NUMBERS["by_group"]))
    assert primary.read(table) == [written.entity]
    # How it is composed is not part of the contract.
    members = p4r.Entity(action_profile_member=p4r.ActionProfileMember())
    groups = p4r.Entity(action_profile_group=p4r.ActionProfileGroup())
    assert primary.read(members, groups) == []
    primary.push(PROGRAM, p4r.SetForwardingPipelineConfigRequest.RECONCILE_AND_COMMIT)
    assert primary.read(table) == [written.entity]
    primary.write([one_shot(5, (3, 1), kind=MODIFY)])
    assert {port for c in range(9) for port, _ in served.send(1, packet(1, 5, c, c))} == {3}
    primary.write([entry("by_group", 5, DELETE)])
    assert primary.read(table) == []


def test_action_sets_come_and_go_without_a_trace(primary: Client, served: Served) -> None:
    # The selector holds a weight of 64 for all groups together.
    for turn in range(40):
        primary.write([one_shot(5, (2, 8), (3, 8))])
        primary.write([one_shot(5, (2, 16 + turn % 2), kind=MODIFY)])
        primary.write([entry("by_group", 5, DELETE)])
    batch = [one_shot(5, (2, 8)), one_shot(5, (3, 8), kind=MODIFY), one_shot(5, (2, 8))]
    for _ in range(10):
        with pytest.raises(grpc.RpcError) as refused:
            primary.write(batch, p4r.WriteRequest.ROLLBACK_ON_ERROR)
        codes = [code for code, _ in errors(refused.value)]
        assert codes == ["ABORTED", "ABORTED", "ALREADY_EXISTS"]
    kept = one_shot(5, (2, 30))
    primary.write([kept])
    undone = [one_shot(5, (3, 20), kind=MODIFY), entry("by_group", 5, DELETE), kept, kept]
    for _ in range(10):
        with pytest.raises(grpc.RpcError):
            primary.write(undone, p4r.WriteRequest.ROLLBACK_ON_ERROR)
    assert [port for port, _ in served.send(1, packet(1, 5))] == [2]
    table = p4r.Entity(table_entry=p4r.TableEntry(table_id=NUMBERS["by_group"]))
    assert primary.read(table) == [kept.entity]
    # 34 are left, and no more fit.
    primary.write([one_shot(6, (2, 34))])
    with pytest.raises(grpc.RpcError) as full:
        primary.write([one_shot(7, (2, 1))])
    assert errors(full.value)[0][0] == "RESOURCE_EXHAUSTED"


def test_a_table_has_action_sets_or_groups(primary: Client) -> None:
    primary.write([member(INSERT, "chosen", 1, port=2), group(INSERT, 9, m1=1)])
    primary.write([entry("by_group", 1, action_profile_group_id=9)])
    with pytest.raises(grpc.RpcError) as mixed:
        primary.write([one_shot(2, (2, 1))])
    assert errors(mixed.value)[0][0] == "INVALID_ARGUMENT"
    assert "members or groups" in errors(mixed.value)[0][1]
    # The only entry may be exchanged.
    primary.write([one_shot(1, (2, 1), kind=MODIFY), one_shot(2, (2, 1))])
    plain = entry("by_member", 1)
    plain.entity.table_entry.action.action_profile_action_set.SetInParent()
    with pytest.raises(grpc.RpcError) as refused:
        primary.write([plain, one_shot(3), one_shot(3, (2, 0))])
    found = errors(refused.value)
    assert [code for code, _ in found] == ["INVALID_ARGUMENT"] * 3
    assert "no selector" in found[0][1] and "empty" in found[1][1] and "weight 0" in found[2][1]


def test_watch_ports_are_read_back(primary: Client) -> None:
    written = group(INSERT, 9, m1=1)
    written.entity.action_profile_group.members[0].watch_port = b"\x02"
    primary.write([member(INSERT, "chosen", 1, port=2), written])
    everything = p4r.Entity(action_profile_group=p4r.ActionProfileGroup())
    assert primary.read(everything) == [written.entity]


def test_a_group_keeps_to_its_own_size(primary: Client) -> None:
    wide = group(INSERT, 9, m1=2, m2=2)
    wide.entity.action_profile_group.max_size = 3
    primary.write([member(INSERT, "chosen", 1, port=2), member(INSERT, "chosen", 2, port=3)])
    with pytest.raises(grpc.RpcError) as refused:
        primary.write([wide])
    assert errors(refused.value)[0][0] == "RESOURCE_EXHAUSTED"
    assert "weights of 4 exceed its max_size of 3" in errors(refused.value)[0][1]


def test_an_idle_entry_is_told_once(primary: Client, served: Served) -> None:
    idle = entry("idle", 1)
    one = idle.entity.table_entry
    one.action.action.action_id = NUMBERS["out_by"]
    one.action.action.params.add(param_id=1, value=b"\x02")
    one.idle_timeout_ns = 5_000_000
    primary.write([idle])
    table = p4r.Entity(table_entry=p4r.TableEntry(table_id=NUMBERS["idle"]))
    assert primary.read(table) == [idle.entity]
    for _ in range(3):
        # One millisecond of the switch's time each; this entry is hit.
        assert len(served.send(1, packet(2, 1))) == 1
    table.table_entry.time_since_last_hit.SetInParent()
    for _ in range(4):
        served.send(1, packet(3, 0))
    [read] = primary.read(table)
    assert read.table_entry.time_since_last_hit.elapsed_ns == 4_000_000
    for _ in range(4):
        served.send(1, packet(3, 0))
    told = primary.hear().idle_timeout_notification
    [expired] = told.table_entry
    assert expired.match == idle.entity.table_entry.match
    assert expired.idle_timeout_ns == 5_000_000
