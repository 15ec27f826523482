"""Streams: primaries, roles, wrong messages, and controllers that vanish."""

from __future__ import annotations

import time

import grpc
import pytest
from finsy.proto import p4r

from tests.p4runtime.messages import (
    DELETE,
    FORWARD,
    INSERT,
    MAC,
    TO_2,
    entry,
    exact,
    frame,
)
from tests.support.p4rt import (
    CONTROL,
    CPU,
    DEVICE,
    Client,
    Served,
    client,
    errors,
)

PROGRAM = CONTROL


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
        # No controller is primary until one arrives with 9 or more.
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
