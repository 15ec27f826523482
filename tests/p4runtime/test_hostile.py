"""The P4Runtime server under hostile controllers: named refusals, and the switch continues."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import Any

import grpc
import pytest
from finsy.proto import p4r

from narrows.schema import budgets
from narrows.switch.server.p4runtime.arbitration import Arbitration, Controller
from narrows.switch.server.p4runtime.digests import Digests
from narrows.switch.server.p4runtime.info.p4info import Named, Schema
from narrows.switch.server.p4runtime.info.translation import Names
from narrows.switch.server.p4runtime.status import batch_status
from narrows.switch.server.target import TargetError, invalid
from tests.p4runtime.messages import FORWARD, INSERT, MAC, TO_2, entry, exact
from tests.support.p4rt import CONTROL, DEVICE, Client, Served, client, errors

PROGRAM = CONTROL
ROLLBACK = p4r.WriteRequest.ROLLBACK_ON_ERROR


def group(replicas: list[p4r.Replica]) -> p4r.Update:
    update = p4r.Update(type=INSERT)
    made = update.entity.packet_replication_engine_entry.multicast_group_entry
    made.multicast_group_id = 1
    made.replicas.extend(replicas)
    return update


def replica(number: int) -> p4r.Replica:
    return p4r.Replica(egress_port=1 + number % 3, instance=number // 3)


def test_many_replicas_do_not_hold_the_service_up(primary: Client) -> None:
    begin = time.monotonic()
    primary.write([group([replica(number) for number in range(40_000)])])
    assert time.monotonic() - begin < 15


def test_a_repeated_replica_is_refused(primary: Client) -> None:
    with pytest.raises(grpc.RpcError, match="is repeated"):
        primary.write([group([replica(1), replica(2), replica(1)])])


def test_more_replicas_than_the_budget_are_refused(primary: Client) -> None:
    many = [replica(number) for number in range(budgets.REPLICAS_OF_A_GROUP + 1)]
    with pytest.raises(grpc.RpcError) as refused:
        primary.write([group(many)])
    assert errors(refused.value)[0][0] == "RESOURCE_EXHAUSTED"


def entries_of(served: Served) -> int:
    return len(served.switch.entries_from("Receive.forward", 0)[0])


def test_a_port_of_3000_bytes_is_refused_and_all_undone(served: Served, primary: Client) -> None:
    wide = group([p4r.Replica(port=b"\xff" * 3000)])
    updates = [
        entry(primary, FORWARD, match=[MAC], **TO_2),
        entry(primary, FORWARD, match=[exact(1, b"\x06")], **TO_2),
        wide,
    ]
    with pytest.raises(grpc.RpcError) as refused:
        primary.write(updates, ROLLBACK)
    assert [code for code, _ in errors(refused.value)] == [
        "ABORTED", "ABORTED", "INVALID_ARGUMENT",
    ]  # fmt: skip
    assert entries_of(served) == 0


class Bursting:
    """A switch with a method that raises an unexpected error."""

    def __init__(self, switch: Any) -> None:
        self._switch = switch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._switch, name)

    def set_multicast_group(self, group: int, replicas: Any) -> None:
        raise ValueError("nobody expects this")


def test_an_unexpected_error_undoes_the_batch(served: Served, primary: Client) -> None:
    pipeline = served.service._pipeline
    assert pipeline is not None
    pipeline.replication.target = Bursting(served.switch)
    updates = [entry(primary, FORWARD, match=[MAC], **TO_2), group([replica(1)])]
    with pytest.raises(grpc.RpcError) as refused:
        primary.write(updates, ROLLBACK)
    [aborted, internal] = errors(refused.value)
    assert aborted[0] == "ABORTED"
    assert internal[0] == "INTERNAL" and "nobody expects this" in internal[1]
    assert entries_of(served) == 0


def test_what_cannot_be_parsed_is_an_invalid_argument(primary: Client) -> None:
    for method in ("Write", "Read", "Capabilities"):
        call = primary.channel.unary_stream(f"/p4.v1.P4Runtime/{method}")
        with pytest.raises(grpc.RpcError) as refused:
            list(call(b"\xff\xff\xff\xff"))
        assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert primary.read(p4r.Entity(table_entry=p4r.TableEntry())) is not None


def test_a_stream_message_that_cannot_be_parsed_ends_it(primary: Client) -> None:
    call = primary.channel.stream_stream("/p4.v1.P4Runtime/StreamChannel")
    with pytest.raises(grpc.RpcError) as refused:
        list(call(iter([b"\xff\xff\xff\xff"])))
    assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT


def test_2000_failing_updates_come_with_their_statuses(primary: Client) -> None:
    request = p4r.WriteRequest(device_id=DEVICE)
    request.election_id.low = 1
    no_table = p4r.Update(type=INSERT)
    no_table.entity.table_entry.table_id = 0x02FFFFFF
    request.updates.extend([no_table] * 2000)
    with pytest.raises(grpc.RpcError) as refused:
        primary.stub.Write(request)
    assert "2000 of 2000 updates failed" in (refused.value.details() or "")
    found = errors(refused.value)
    assert len(found) > 50 and {code for code, _ in found} == {"NOT_FOUND"}


def test_statuses_fit_into_metadata_whatever_is_echoed() -> None:
    for count, length in ((1, 10**6), (50, 5000), (400, 60), (100_000, 10)):
        status = batch_status([invalid("x" * length)] * count, undone=False)
        assert status.ByteSize() * 4 / 3 < 8000
        assert 1 <= len(status.details) <= count
    whole = batch_status([invalid("a"), None, invalid("b")], undone=True)
    assert len(whole.details) == 3


def test_a_backlog_is_bounded_in_bytes() -> None:
    controller = Controller()
    message = p4r.StreamMessageResponse(packet=p4r.PacketIn(payload=bytes(1 << 20)))
    for _ in range(40):
        controller.send(message)
    assert controller.backlog_bytes <= budgets.BACKLOG_BYTES
    assert controller.lost == 40 - budgets.BACKLOG_BYTES // (1 << 20) + 1
    assert controller.receive() is not None
    controller.send(message)
    assert controller.lost == 40 - budgets.BACKLOG_BYTES // (1 << 20) + 1


def arbitrate(arbitration: Arbitration, role: str) -> Controller:
    update = p4r.MasterArbitrationUpdate(device_id=DEVICE)
    update.role.name, update.election_id.low = role, 1
    controller = Controller()
    arbitration.handle_update(controller, update)
    return controller


def test_roles_without_controllers_are_forgotten() -> None:
    arbitration = Arbitration(DEVICE)
    kept = arbitrate(arbitration, "kept")
    for number in range(budgets.ROLES + 50):
        arbitration.handle_end(arbitrate(arbitration, f"role {number}"))
    assert len(arbitration._roles) == budgets.ROLES
    assert arbitration.is_primary(kept)
    with pytest.raises(TargetError, match="at most 256 bytes"):
        arbitrate(arbitration, "r" * 300)


def learning(config: p4r.DigestEntry.Config) -> Digests:
    """One digest, `notice`, that a controller enabled."""
    schema: Any = Schema.__new__(Schema)
    schema.digests = {5: Named(id=5, name="notice")}
    digests = Digests(schema)
    digests.write(INSERT, p4r.DigestEntry(digest_id=5, config=config))
    return digests


def test_digests_that_nobody_acknowledges_are_bounded() -> None:
    digests = learning(p4r.DigestEntry.Config(ack_timeout_ns=10**18, max_list_size=1))
    for number in range(budgets.DIGESTS_UNACKNOWLEDGED + 10):
        digests.handle_digest("notice", (hex(number),), 0)
    assert digests.lost == 10


def test_digests_in_lists_of_one_are_sent_in_turns() -> None:
    """65,536 lists of one value, none of them acknowledged: a poll makes a part of them only."""
    digests = learning(p4r.DigestEntry.Config(ack_timeout_ns=10**18, max_list_size=1))
    count = budgets.DIGESTS_UNACKNOWLEDGED
    for number in range(count):
        digests.handle_digest("notice", (hex(number),), 0)
    polls = [len(list(digests.poll_lists(0))) for _ in range(count // 4096 + 2)]
    assert polls == [budgets.DIGEST_VALUES_AT_ONCE] * 16 + [0, 0]


def test_a_poll_costs_no_more_with_lists_that_wait() -> None:
    """A poll looks at the oldest list only, of 65,536 that nobody acknowledges."""
    digests = learning(p4r.DigestEntry.Config(ack_timeout_ns=10**18, max_list_size=1))
    for number in range(budgets.DIGESTS_UNACKNOWLEDGED):
        digests.handle_digest("notice", (hex(number),), 0)
        if number % 4096 == 0:
            list(digests.poll_lists(0))
    [collection] = digests._asked.values()
    collection.sent = Counting(collection.sent)
    list(digests.poll_lists(0))
    assert collection.sent.seen <= 1


class Counting(OrderedDict[int, Any]):
    """Lists that count how many of them a loop sees."""

    seen = 0

    def values(self) -> Any:
        return map(self._count, super().values())

    def items(self) -> Any:
        return map(self._count, super().items())

    def _count(self, one: Any) -> Any:
        self.seen += 1
        return one


class Waiting:
    """A switch with an update that lasts until `go_on`."""

    def __init__(self, switch: Any) -> None:
        self._switch = switch
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.is_over = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._switch, name)

    def set_multicast_group(self, group: int, replicas: Any) -> None:
        self.begun.set()
        self.go_on.wait(10)
        self.is_over = True


def test_a_new_controller_waits_for_no_update(served: Served, primary: Client) -> None:
    pipeline = served.service._pipeline
    assert pipeline is not None
    slow = Waiting(served.switch)
    pipeline.replication.target = slow
    writing = threading.Thread(target=primary.write, args=([group([replica(1)])],))
    writing.start()
    try:
        assert slow.begun.wait(20)
        with client(served.address, election_id=7) as new:
            assert new.arbitrate().election_id.low == 7
        # The switch's driver goes on, too.
        served.service.poll(0)
        assert not slow.is_over
    finally:
        slow.go_on.set()
        writing.join()


@pytest.mark.usefixtures("primary")
def test_a_batch_holds_the_streams_for_an_update_at_a_time(served: Served) -> None:
    held = list[str]()

    class Each:
        def __enter__(self) -> None:
            held.append("taken")

        def __exit__(self, *_: object) -> None:
            held.append("free")

    pipeline = served.service._pipeline
    assert pipeline is not None
    pipeline.apply_all([group([replica(1)]), p4r.Update()], False, lock=Each())
    assert held == ["taken", "free"] * 2


def test_a_numeral_of_5000_digits_is_a_name() -> None:
    names = Names("port_t")
    assert names.number(b"7" * 5000, 9, "field") == 1
    assert names.number(b"7", 9, "field") == 7
