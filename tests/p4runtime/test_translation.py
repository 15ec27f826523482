"""Translated types over P4Runtime: strings, and numbers wider than the program's
(switch/tests/programs/translated.p4).
"""

from __future__ import annotations

import grpc
import pytest
from finsy.proto import p4r

from narrows.switch.server.p4runtime.info.translation import Names
from narrows.switch.server.target import TargetError
from tests.support.p4rt import PROGRAMS, Client, Served, config, errors

PROGRAM = (PROGRAMS / "translated.p4info.txtpb", PROGRAMS / "translated.json")
INSERT = p4r.Update.INSERT
NUMBERS = {
    one.preamble.alias: one.preamble.id
    for kind in ("tables", "actions", "digests")
    for one in getattr(config(PROGRAM).p4info, kind)
}


def vrf(a: int, name: bytes) -> p4r.Update:
    """Packets with this `a` are of the routing table of that name."""
    update = p4r.Update(type=INSERT)
    entry = update.entity.table_entry
    entry.table_id = NUMBERS["vrfs"]
    entry.match.add(field_id=1).exact.value = bytes([a])
    entry.action.action.action_id = NUMBERS["set_vrf"]
    entry.action.action.params.add(param_id=1, value=name)
    return update


def route(name: bytes, action: str, *params: bytes) -> p4r.Update:
    """All packets of a routing table."""
    update = p4r.Update(type=INSERT)
    entry = update.entity.table_entry
    entry.table_id = NUMBERS["routes"]
    entry.match.add(field_id=1).exact.value = name
    entry.action.action.action_id = NUMBERS[action]
    for number, value in enumerate(params, 1):
        entry.action.action.params.add(param_id=number, value=value)
    return update


def test_strings_do_what_their_numbers_do_and_are_read_back(
    primary: Client, served: Served
) -> None:
    updates = [
        vrf(1, b"red"),
        vrf(2, b"blue"),
        route(b"blue", "send_by_name", b"3"),
        route(b"red", "send", b"\x02"),
    ]
    primary.write(updates)
    assert [port for port, _ in served.send(1, b"\x01\x00\x00rest")] == [2]
    assert [port for port, _ in served.send(1, b"\x02\x00\x00rest")] == [3]
    tables = [p4r.TableEntry(table_id=NUMBERS[name]) for name in ("vrfs", "routes")]
    read = primary.read(*(p4r.Entity(table_entry=one) for one in tables))
    wanted = [update.entity.SerializeToString() for update in updates]
    assert sorted(one.SerializeToString() for one in read) == sorted(wanted)


def test_packets_carry_strings(primary: Client, served: Served) -> None:
    primary.write([vrf(1, b"red"), route(b"red", "punt")])
    served.send(3, b"\x01\x00\x00rest")
    packet = primary.hear().packet
    assert packet.payload == b"\x01\x00\x00rest"
    assert [(one.metadata_id, one.value) for one in packet.metadata][:1] == [(1, b"3")]
    out = p4r.PacketOut(payload=b"\x09\x00\x00out")
    out.metadata.add(metadata_id=1, value=b"2")
    out.metadata.add(metadata_id=2, value=b"\x00")
    primary.say(p4r.StreamMessageRequest(packet=out))
    digest = p4r.StreamMessageRequest(digest_ack=p4r.DigestListAck(digest_id=1))
    primary.say(digest)
    # The answer to the second message shows that the first has been processed.
    assert primary.hear().error.canonical_code == 5
    assert [(port, data) for port, _, _, data in served.switch.run_until(0)] == [
        (2, b"\x09\x00\x00out")
    ]


def test_a_digest_of_a_type_by_another_name(primary: Client, served: Served) -> None:
    asked = p4r.Update(type=INSERT)
    asked.entity.digest_entry.digest_id = NUMBERS["seen_t"]
    asked.entity.digest_entry.config.max_list_size = 1
    primary.write([asked])
    served.send(1, b"\x07\x12\x34")
    [one] = primary.hear().digest.data
    assert [member.bitstring for member in one.struct.members] == [b"\x12\x34", b"\x07"]


def test_what_does_not_translate_is_named(primary: Client) -> None:
    wrong = [
        vrf(1, b"\xff\xfe"),
        route(b"red", "send", b"\x02\x00"),
    ]
    with pytest.raises(grpc.RpcError) as refused:
        primary.write(wrong)
    found = errors(refused.value)
    assert [code for code, _ in found] == ["INVALID_ARGUMENT", "OUT_OF_RANGE"]
    assert "vrf_t" in found[0][1] and "more than 9 bits" in found[1][1]


def test_names_get_the_numbers_that_are_free() -> None:
    names = Names("vrf_t")
    assert names.number(b"", 2, "") == 0
    assert names.number(b"2", 2, "") == 2
    assert names.number(b"red", 2, "") == 1
    # 1 is red's, so the numeral is an ordinary name here.
    assert names.number(b"1", 2, "") == 3
    assert [names.text(number) for number in range(4)] == [b"", b"red", b"2", b"1"]
    assert names.number(b"red", 2, "") == 1
    with pytest.raises(TargetError) as refused:
        names.number(b"blue", 2, "key")
    assert refused.value.kind == "resource-exhausted"
    assert Names("port").text(7) == b"7"
