"""Roles with a config: what each may write, read and receive (Stratum's `P4RoleConfig`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import grpc
import pytest
from finsy.proto import U128, p4r
from finsy.proto.stratum1.p4_role_config_pb2 import P4RoleConfig

from tests.support.p4rt import CONTROL, DEVICE, Client, Served, client, config, errors

INFO = config(CONTROL).p4info
TABLES = {one.preamble.alias: one.preamble.id for one in INFO.tables}
ACTIONS = {one.preamble.alias: one.preamble.id for one in INFO.actions}


def ask(made: Client, **scope: Any) -> p4r.MasterArbitrationUpdate:
    """Asks for a role's place with a config."""
    update = p4r.MasterArbitrationUpdate(
        device_id=DEVICE, election_id=U128.encode(made.election_id)
    )
    update.role.name = made.role
    update.role.config.Pack(P4RoleConfig(**scope))
    made.say(p4r.StreamMessageRequest(arbitration=update))
    return made.hear().arbitration


@contextmanager
def two(served: Served) -> Iterator[tuple[Client, Client]]:
    """One role may push and has `forward`; the other has `acl` and shares `seen`."""
    counter = INFO.counters[0].preamble.id
    with client(served.address, 5, "one") as one, client(served.address, 3, "two") as other:
        ask(
            one,
            exclusive_p4_ids=[TABLES["forward"]],
            shared_p4_ids=[counter],
            can_push_pipeline=True,
            receives_packet_ins=True,
        )
        one.push(CONTROL)
        ask(other, exclusive_p4_ids=[TABLES["acl"]], shared_p4_ids=[counter])
        yield one, other


def forward(dst: int, action: str = "send", value: bytes = b"\x02") -> p4r.Update:
    update = p4r.Update(type=p4r.Update.INSERT)
    entry = update.entity.table_entry
    entry.table_id = TABLES["forward"]
    entry.match.add(field_id=1).exact.value = bytes([dst])
    entry.action.action.action_id = ACTIONS[action]
    entry.action.action.params.add(param_id=1, value=value)
    return update


def acl() -> p4r.Update:
    update = p4r.Update(type=p4r.Update.INSERT)
    entry = update.entity.table_entry
    entry.table_id, entry.priority = TABLES["acl"], 1
    entry.action.action.action_id = ACTIONS["drop"]
    return update


def test_each_writes_its_own_and_what_is_shared(served: Served) -> None:
    with two(served) as (one, other):
        one.write([forward(1)])
        other.write([acl()])
        with pytest.raises(grpc.RpcError) as refused:
            other.write([acl(), forward(2)])
        assert [code for code, _ in errors(refused.value)] == [
            "ALREADY_EXISTS",
            "PERMISSION_DENIED",
        ]
        said = f"role 'two' may not write object {TABLES['forward']:#x}"
        assert errors(refused.value)[1][1] == said
        counter = p4r.Update(type=p4r.Update.MODIFY)
        counter.entity.counter_entry.counter_id = INFO.counters[0].preamble.id
        counter.entity.counter_entry.index.index = 1
        counter.entity.counter_entry.data.packet_count = 7
        one.write([counter])
        other.write([counter])


def test_each_sees_its_own(served: Served) -> None:
    with two(served) as (one, other):
        one.write([forward(1)])
        other.write([acl()])
        everything = p4r.Entity(table_entry=p4r.TableEntry())
        for made, table in ((one, "forward"), (other, "acl")):
            request = p4r.ReadRequest(device_id=DEVICE, role=made.role, entities=[everything])
            found = [entity for answer in made.stub.Read(request) for entity in answer.entities]
            assert [one.table_entry.table_id for one in found] == [TABLES[table]]
        # Without a role everything is visible: the two, and the program's own entry.
        assert len(one.read(everything)) == 3


def test_only_those_who_may_push_push(served: Served) -> None:
    with two(served) as (_, other), pytest.raises(grpc.RpcError) as refused:
        other.push(CONTROL)
    assert refused.value.code() == grpc.StatusCode.PERMISSION_DENIED
    assert "role 'two' may not push a pipeline" in refused.value.details()


def test_packets_go_to_those_who_want_them(served: Served) -> None:
    with two(served) as (one, other), client(served.address, 1, "three") as third:
        ask(
            third,
            receives_packet_ins=True,
            packet_in_filter={"metadata_id": 1, "value": b"\x03"},
        )
        one.write([forward(1, "to_controller", b"\x01")])
        frame = (1).to_bytes(6, "big") + bytes(58)
        served.send(1, frame)
        served.send(3, frame)
        ports = [made.hear().packet.metadata[0].value for made in (one, one, third)]
        assert ports == [b"\x01", b"\x03", b"\x03"]
        # This role has none: its next message is the answer to its own.
        other.say(p4r.StreamMessageRequest())
        assert other.hear().HasField("error")


def test_what_one_role_has_for_itself_no_other_gets(served: Served) -> None:
    with two(served), client(served.address, 9, "three") as third:
        with pytest.raises(grpc.RpcError) as refused:
            ask(third, shared_p4_ids=[TABLES["acl"]])
        assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT
        assert f"role 'two' also has object {TABLES['acl']:#x}" in refused.value.details()


def test_a_config_of_another_kind_is_refused(served: Served) -> None:
    with client(served.address, 1, "one") as one:
        update = p4r.MasterArbitrationUpdate(device_id=DEVICE, election_id=U128.encode(1))
        update.role.name = "one"
        update.role.config.Pack(p4r.TableEntry())
        one.say(p4r.StreamMessageRequest(arbitration=update))
        with pytest.raises(grpc.RpcError) as refused:
            one.hear()
        assert "expected a stratum.P4RoleConfig" in refused.value.details()
