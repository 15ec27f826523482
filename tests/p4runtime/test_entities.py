"""Value sets, meters, counters and multicast groups over P4Runtime: written, applied, read back.

Programs: branches.p4, control.p4, profiles.p4 of switch/tests/programs.
"""

from __future__ import annotations

from typing import Any

import grpc
import pytest
from finsy.proto import p4i, p4r

from tests.support.p4rt import CONTROL, PROGRAMS, Client, Served, config, errors

BRANCHES = (PROGRAMS / "branches.p4info.txtpb", PROGRAMS / "branches.json")
PROFILES = (PROGRAMS / "profiles.p4info.txtpb", PROGRAMS / "profiles.json")
INSERT, MODIFY, DELETE = p4r.Update.INSERT, p4r.Update.MODIFY, p4r.Update.DELETE
SET = p4r.SetForwardingPipelineConfigRequest


def numbers(files: Any) -> dict[str, int]:
    """The P4Info's numbers by alias."""
    info = config(files).p4info
    kinds = ("tables", "actions", "value_sets", "meters", "direct_meters", "counters")
    return {one.preamble.alias: one.preamble.id for kind in kinds for one in getattr(info, kind)}


# Value sets


def pairs(*members: tuple[tuple[int, int] | None, tuple[int, int] | None]) -> p4r.Update:
    """Members of `pairs`: value and mask of a, low and high of b."""
    update = p4r.Update(type=MODIFY)
    update.entity.value_set_entry.value_set_id = numbers(BRANCHES)["pairs"]
    for masked, limits in members:
        member = update.entity.value_set_entry.members.add()
        if masked:
            part = member.match.add(field_id=1).ternary
            part.value, part.mask = (bytes([one]) for one in masked)
        if limits:
            ends = member.match.add(field_id=2).range
            ends.low, ends.high = (one.to_bytes(2, "big").lstrip(b"\0") for one in limits)
    return update


def known(served: Served, a: int, b: int) -> int:
    """The parser's result for a packet: 1 if `pairs` has it."""
    [(_, packet)] = served.send(1, bytes([0x99, a]) + b.to_bytes(2, "big") + bytes(2))
    return packet[5] & 0x0F


def test_members_of_a_value_set_have_masks_and_ranges(primary: Client, served: Served) -> None:
    primary.push(BRANCHES)
    asked = p4r.Entity(value_set_entry=p4r.ValueSetEntry())
    assert [len(one.value_set_entry.members) for one in primary.read(asked)] == [0, 0]
    written = pairs(((0x80, 0xF0), (5, 9)), (None, (0x7000, 0x7001)), ((0xAB, 0xFF), None))
    primary.write([written])
    inside = [(0x85, 5), (0x8F, 9), (0x11, 0x7000), (0xAB, 0xFFFF), (0xAB, 0)]
    outside = [(0x85, 4), (0x85, 10), (0x95, 5), (0x11, 0x7002), (0xAA, 1)]
    assert [known(served, a, b) for a, b in inside] == [1] * len(inside)
    assert [known(served, a, b) for a, b in outside] == [0] * len(outside)
    assert written.entity in primary.read(asked)
    primary.push(BRANCHES, SET.RECONCILE_AND_COMMIT)
    assert known(served, 0x85, 5) == 1
    # All or nothing: the second update does not fit, so the first is undone.
    wide = pairs(*[((one, 0xFF), None) for one in range(5)])
    with pytest.raises(grpc.RpcError) as refused:
        primary.write([pairs(), wide], p4r.WriteRequest.ROLLBACK_ON_ERROR)
    assert errors(refused.value)[1][0] == "RESOURCE_EXHAUSTED"
    assert "value set 'P.pairs': 5 members: expected at most 4" in errors(refused.value)[1][1]
    assert known(served, 0x85, 5) == 1
    primary.write([pairs()])
    assert known(served, 0x85, 5) == 0


def test_a_member_that_does_not_fit_is_named(primary: Client) -> None:
    primary.push(BRANCHES)
    twice = pairs(((1, 0xFF), None))
    twice.entity.value_set_entry.members[0].match.add(field_id=1).ternary.value = b"\x01"
    exact = pairs()
    exact.entity.value_set_entry.members.add().match.add(field_id=1).exact.value = b"\x01"
    single = p4r.Update(type=MODIFY)
    single.entity.value_set_entry.value_set_id = numbers(BRANCHES)["singles"]
    single.entity.value_set_entry.members.add()
    inserted = pairs()
    inserted.type = INSERT
    with pytest.raises(grpc.RpcError) as refused:
        primary.write([twice, exact, single, inserted])
    found = errors(refused.value)
    assert [code for code, _ in found] == ["INVALID_ARGUMENT"] * 4
    for (_, said), words in zip(
        found, ["is repeated", "expected ternary", "is missing", "only MODIFY"], strict=True
    ):
        assert words in said and "value set 'P." in said


# Meters


def metered(kind: int = INSERT, **rates: int) -> p4r.Update:
    """An entry of `metered` for packets with 5 in their last field."""
    update = p4r.Update(type=kind)  # type: ignore[arg-type]
    entry = update.entity.table_entry
    entry.table_id = numbers(PROFILES)["metered"]
    entry.match.add(field_id=1).exact.value = b"\x05"
    entry.action.action.action_id = numbers(PROFILES)["marked"]
    if rates:
        entry.meter_config.CopyFrom(p4r.MeterConfig(**rates))
    return update


def colours(served: Served, count: int) -> list[int]:
    """The colours of this many packets, a millisecond apart."""
    packet = bytes([3, 0, 0, 0, 0, 0, 0, 5])
    return [sent[0][1][1] for sent in (served.send(1, packet) for _ in range(count))]


def test_a_direct_meter_colours_packets(primary: Client, served: Served) -> None:
    primary.push(PROFILES)
    primary.write([metered(cir=1, cburst=2, pir=1, pburst=3)])
    assert colours(served, 5) == [0, 0, 1, 2, 2]
    asked = p4r.DirectMeterEntry()
    asked.table_entry.table_id = numbers(PROFILES)["metered"]
    [read] = primary.read(p4r.Entity(direct_meter_entry=asked))
    assert read.direct_meter_entry.config == p4r.MeterConfig(cir=1, cburst=2, pir=1, pburst=3)
    # As a separate entity; without a config it is always green.
    update = p4r.Update(type=MODIFY)
    update.entity.direct_meter_entry.table_entry.CopyFrom(metered().entity.table_entry)
    update.entity.direct_meter_entry.table_entry.ClearField("action")
    primary.write([update])
    assert colours(served, 5) == [0] * 5
    update.entity.direct_meter_entry.config.CopyFrom(p4r.MeterConfig(cburst=1, pburst=2))
    primary.write([update])
    assert colours(served, 4) == [0, 1, 2, 2]
    primary.push(PROFILES, SET.RECONCILE_AND_COMMIT)
    assert colours(served, 4) == [0, 1, 2, 2]


@pytest.mark.parametrize(
    ("kind", "rates", "expected"),
    [
        # RFC 2697: two of the committed burst, one of the excess, and then none.
        (p4i.MeterSpec.SINGLE_RATE_THREE_COLOR, {"cburst": 2, "eburst": 1}, [0, 0, 1, 2, 2]),
        (p4i.MeterSpec.SINGLE_RATE_TWO_COLOR, {"cburst": 2}, [0, 0, 2, 2, 2]),
    ],
)
def test_a_meter_of_one_rate(
    primary: Client, served: Served, kind: int, rates: dict[str, int], expected: list[int]
) -> None:
    made = config(PROFILES)
    for meter in made.p4info.direct_meters:
        meter.spec.type = kind
    primary.set_config(made, SET.VERIFY_AND_COMMIT)
    primary.write([metered(**rates)])
    assert colours(served, 5) == expected
    with pytest.raises(grpc.RpcError) as refused:
        primary.write([metered(MODIFY, pir=1)])
    assert "pir 1: a meter of one rate does not use it" in errors(refused.value)[0][1]


def test_rates_that_do_not_fit_are_named(primary: Client) -> None:
    primary.push(PROFILES)
    wrong = [
        metered(cir=2, pir=1),
        metered(cir=1, pir=1, eburst=1),
        metered(cir=-1),
    ]
    with pytest.raises(grpc.RpcError) as refused:
        primary.write(wrong)
    found = errors(refused.value)
    assert [code for code, _ in found] == ["INVALID_ARGUMENT"] * 3
    assert "pir 1 is below cir 2" in found[0][1]
    assert "eburst 1: a meter of two rates does not use it" in found[1][1]
    assert "cir: -1 is negative" in found[2][1]


# Counters


def test_a_default_action_is_counted(primary: Client, served: Served) -> None:
    primary.push(CONTROL)
    table = numbers(CONTROL)["acl"]
    frame = bytes(64)
    for _ in range(3):
        served.send(1, frame)
    asked = p4r.TableEntry(table_id=table, is_default_action=True)
    asked.counter_data.SetInParent()
    [read] = primary.read(p4r.Entity(table_entry=asked))
    assert (read.table_entry.counter_data.packet_count, read.table_entry.counter_data.byte_count) \
        == (3, 192)  # fmt: skip
    update = p4r.Update(type=MODIFY)
    update.entity.direct_counter_entry.table_entry.table_id = table
    update.entity.direct_counter_entry.table_entry.is_default_action = True
    update.entity.direct_counter_entry.data.packet_count = 10
    primary.write([update])
    served.send(1, frame)
    [read] = primary.read(update.entity)
    assert read.direct_counter_entry.data.packet_count == 11
    assert read.direct_counter_entry.data.byte_count == 64


# Multicast groups


def flood(kind: int, group: int, *replicas: tuple[int, int]) -> p4r.Update:
    """A multicast group of ports and instances."""
    update = p4r.Update(type=kind)  # type: ignore[arg-type]
    entry = update.entity.packet_replication_engine_entry.multicast_group_entry
    entry.multicast_group_id = group
    for port, instance in replicas:
        entry.replicas.add(port=bytes([port]), instance=instance)
    return update


def test_a_multicast_group_is_made_changed_and_removed(primary: Client, served: Served) -> None:
    primary.push(CONTROL)
    route = p4r.Update(type=INSERT)
    entry = route.entity.table_entry
    entry.table_id = numbers(CONTROL)["forward"]
    entry.match.add(field_id=1).exact.value = b"\xff"
    entry.action.action.action_id = numbers(CONTROL)["flood"]
    entry.action.action.params.add(param_id=1, value=b"\x07")
    frame = (0xFF).to_bytes(6, "big") + bytes(58)
    written = flood(INSERT, 7, (2, 0), (3, 1), (3, 2))
    primary.write([route, written])
    assert [port for port, _ in served.send(1, frame)] == [2, 3, 3]
    asked = p4r.Entity()
    asked.packet_replication_engine_entry.multicast_group_entry.SetInParent()
    assert primary.read(asked) == [written.entity]
    backed = flood(MODIFY, 7, (3, 0))
    replica = backed.entity.packet_replication_engine_entry.multicast_group_entry.replicas[0]
    replica.backup_replicas.add(port=b"\x02")
    primary.write([backed])
    assert [port for port, _ in served.send(1, frame)] == [3]
    assert primary.read(asked) == [backed.entity]
    with pytest.raises(grpc.RpcError):
        primary.write(
            [flood(DELETE, 7), flood(INSERT, 8, (2, 0)), flood(DELETE, 9)],
            p4r.WriteRequest.ROLLBACK_ON_ERROR,
        )
    assert primary.read(asked) == [backed.entity]
    primary.write([flood(DELETE, 7)])
    assert served.send(1, frame) == [] and primary.read(asked) == []
    assert served.switch.statistics()["no_such_group"] == 1
