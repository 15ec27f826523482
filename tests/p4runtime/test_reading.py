"""Reads are streamed: bounded memory, no writer kept waiting, an error that says what ended one."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import grpc
import pytest
from finsy.proto import p4r, p4r_grpc

from narrows.schema import budgets
from narrows.switch.server.p4runtime import reading
from narrows.switch.server.target import entries, pages
from tests.p4runtime.test_load import FORWARD, batch, eventually
from tests.p4runtime.test_load import forward as forward_entry
from tests.support.p4rt import CONTROL, DEVICE, Client, Served, client, config

CELLS = 300_000
COMMIT = p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT


def large(cells: int) -> p4r.ForwardingPipelineConfig:
    """The program with so many cells in its register."""
    made = config(CONTROL)
    program = json.loads(made.p4_device_config)
    for array in program["register_arrays"]:
        array["size"] = cells
    for one in made.p4info.registers:
        one.size = cells
    made.p4_device_config = json.dumps(program).encode()
    return made


@pytest.fixture
def reader(served: Served) -> Iterator[Client]:
    """Of a switch with a large register."""
    with client(served.address) as made:
        made.arbitrate()
        made.set_config(large(CELLS), COMMIT)
        yield made


def everything() -> p4r.ReadRequest:
    request = p4r.ReadRequest(device_id=DEVICE)
    request.entities.add().register_entry.SetInParent()
    return request


def test_every_cell_comes_once_and_in_order(reader: Client) -> None:
    indices = [
        entity.register_entry.index.index
        for response in reader.stub.Read(everything())
        for entity in response.entities
    ]
    assert indices == list(range(CELLS))


def test_a_stalled_reader_takes_bounded_memory(
    served: Served, reader: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the switch has taken from its registers, while nobody reads, does not grow further."""
    monkeypatch.setattr(budgets, "READ_BYTES", 1 << 16)
    taken = list[int]()
    target: Any = served.switch

    class Counting:
        def __getattr__(self, name: str) -> Any:
            return getattr(target, name)

        def read_registers(self, name: str, first: int, count: int) -> Any:
            taken.append(count)
            return target.read_registers(name, first, count)

    pipeline = served.service._pipeline
    assert pipeline is not None
    pipeline.externs.target = Counting()
    # Otherwise gRPC lets 4 MiB be under way.
    options = [("grpc.http2.bdp_probe", 0)]
    channel = grpc.insecure_channel(served.address, options=options)
    stalled = p4r_grpc.P4RuntimeStub(channel).Read(everything())
    next(iter(stalled))
    before = -1
    while before != len(taken):
        before = len(taken)
        time.sleep(0.3)
    # The budget of one instant (a cell takes at least 8 bytes), and what gRPC has under way.
    assert sum(taken) < budgets.READ_BYTES / 8 + 50_000 < CELLS / 2
    assert max(taken) <= 1000
    channel.close()


def test_a_stalled_reader_keeps_no_writer_waiting(
    reader: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budgets, "READ_BYTES", 1)
    stalled = reader.stub.Read(everything())
    next(stalled)
    done = reader.stub.Write.future(batch(reader, 1), timeout=20)
    assert done.result() is not None
    stalled.cancel()


def test_a_pipeline_that_is_replaced_ends_the_read(
    reader: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budgets, "READ_BYTES", 1)
    read = reader.stub.Read(everything())
    next(read)
    reader.push(CONTROL)
    with pytest.raises(grpc.RpcError) as error:
        list(read)
    assert error.value.code() == grpc.StatusCode.FAILED_PRECONDITION
    assert error.value.details() == "Read: the pipeline was replaced during the read"


def test_a_short_read_is_of_one_instant(
    served: Served, reader: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch that arrives while the first entries are read waits until all are."""
    monkeypatch.setattr(budgets, "READ_S", 60.0)
    reader.stub.Write(batch(reader, 3000))
    target: Any = served.switch
    writes = list[Any]()

    class Slow:
        def __getattr__(self, name: str) -> Any:
            return getattr(target, name)

        def entries_from(self, table: str, first: int) -> Any:
            if first == 0:
                writes.append(reader.stub.Write.future(batch(reader, 3000, p4r.Update.DELETE)))
                time.sleep(0.5)
            return target.entries_from(table, first)

    pipeline = served.service._pipeline
    assert pipeline is not None
    pipeline.tables.target = Slow()
    asked = p4r.Entity(table_entry=p4r.TableEntry(table_id=FORWARD))
    assert len(reader.read(asked)) == 3000
    writes[0].result()
    assert reader.read(asked) == []


def test_an_entry_that_stays_is_in_exactly_one_part(served: Served, reader: Client) -> None:
    reader.stub.Write(batch(reader, 4000))
    parts = pages(served.switch, "Receive.forward")
    first = next(parts)
    # Others come and go, before and behind what was read.
    reader.write([forward_entry(dst, p4r.Update.DELETE) for dst in (1, 2, 3500)])
    reader.write([forward_entry(dst) for dst in range(5000, 5010)])
    seen = [row[0]["matches"]["hdr.ethernet.dst"] for row in first]
    seen += [row[0]["matches"]["hdr.ethernet.dst"] for part in parts for row in part]
    names = [str(one) for one in seen]
    assert len(names) == len(set(names))
    stays = [
        row[0]["matches"]["hdr.ethernet.dst"] for row in entries(served.switch, "Receive.forward")
    ]
    left = {str(one) for one in stays} - set(names)
    # Only new ones can be missed.
    assert len(left) <= 10


def test_too_many_reads_at_a_time_are_refused(
    reader: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budgets, "READ_BYTES", 1)
    stalled = [reader.stub.Read(everything()) for _ in range(budgets.READS)]
    for one in stalled:
        next(one)
    with pytest.raises(grpc.RpcError) as error:
        list(reader.stub.Read(everything()))
    assert error.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    for one in stalled:
        one.cancel()

    def served_again() -> bool:
        try:
            return bool(next(reader.stub.Read(everything())).entities)
        except grpc.RpcError:
            return False

    eventually(served_again)


def test_too_many_entities_are_refused(reader: Client) -> None:
    request = everything()
    request.entities.extend([p4r.Entity()] * budgets.READ_ENTITIES)
    with pytest.raises(grpc.RpcError) as error:
        list(reader.stub.Read(request))
    assert error.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert error.value.details() == "Read: 200001 entities: expected at most 200000"


def test_parts_that_find_nothing_let_others_in() -> None:
    """A search that finds nothing gives the lock back between two parts."""
    held = list[str]()

    class Lock(nullcontext[None]):
        def __enter__(self) -> None:
            held.append("taken")

    responses = iter([b""] * 5)
    found = list(reading.stream(Lock(), slow(responses), lambda: None))
    assert found == []
    assert len(held) > 1


def slow(responses: Iterator[bytes]) -> Iterator[bytes]:
    for response in responses:
        time.sleep(budgets.READ_S * 0.6)
        yield response
