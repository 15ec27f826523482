"""The P4Runtime server under load: packets continue, clients vanish, no resources leak."""

from __future__ import annotations

import gc
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from finsy.proto import p4r

from narrows.switch.server.target import entries
from tests.support.p4rt import CONTROL, DEVICE, Client, Served, client, config
from tests.support.real_time import Machine

INFO = config(CONTROL).p4info
[FORWARD] = [one.preamble.id for one in INFO.tables if one.preamble.alias == "forward"]
[SEND] = [one.preamble.id for one in INFO.actions if one.preamble.alias == "send"]
INSERT, DELETE = p4r.Update.INSERT, p4r.Update.DELETE
ALL = p4r.Entity(table_entry=p4r.TableEntry(table_id=FORWARD))
FRAME = (1).to_bytes(6, "big") + bytes(58)


def forward(dst: int, kind: int = INSERT) -> p4r.Update:
    update = p4r.Update(type=kind)  # type: ignore[arg-type]
    entry = update.entity.table_entry
    entry.table_id = FORWARD
    entry.match.add(field_id=1).exact.value = dst.to_bytes(6, "big").lstrip(b"\0")
    entry.action.action.action_id = SEND
    entry.action.action.params.add(param_id=1, value=b"\x02")
    return update


def batch(made: Client, count: int, kind: int = INSERT) -> p4r.WriteRequest:
    request = p4r.WriteRequest(
        device_id=DEVICE, updates=[forward(dst, kind) for dst in range(1, count + 1)]
    )
    request.election_id.low = made.election_id
    return request


def eventually(holds: Callable[[], bool]) -> None:
    """Waits at most a minute."""
    deadline = time.monotonic() + 60
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert holds()


def packets_during(served: Served, done: Callable[[], bool]) -> tuple[int, float, float]:
    """Sends packets until a task is done: their number, the longest wait, and the total time."""
    count, longest_s, began = 0, 0.0, time.monotonic()
    while not done():
        before = time.monotonic()
        served.send(1, FRAME)
        longest_s = max(longest_s, time.monotonic() - before)
        count += 1
    return count, longest_s, time.monotonic() - began


def check(measured: tuple[int, float, float], least: int) -> None:
    """More than this many packets, none of which waited for a quarter of the time."""
    count, longest_s, took_s = measured
    assert count > least and longest_s < took_s / 4, measured


def test_packets_flow_while_ten_thousand_entries_change(served: Served, machine: Machine) -> None:
    with client(served.address) as made:
        made.arbitrate()
        made.push(CONTROL)
        writing = made.stub.Write.future(batch(made, 10_000))
        while_written = packets_during(served, writing.done)
        writing.result()
        reader = threading.Thread(target=lambda: made.read(ALL))
        reader.start()
        while_read = packets_during(served, lambda: not reader.is_alive())
        assert len(served.send(1, FRAME)) == 1
    with machine.figures():
        check(while_written, 100)
        check(while_read, 50)


def test_packets_go_on_while_a_program_is_loaded(served: Served, machine: Machine) -> None:
    with client(served.address) as made:
        made.arbitrate()
        made.push(CONTROL)
        made.write([forward(1)])
        program = json.loads(CONTROL[1].read_text())
        actions = program["actions"]
        program["actions"] = actions + [
            action | {"name": f"{action['name']}{n}", "id": 1000 + n * len(actions) + i}
            for n in range(3000)
            for i, action in enumerate(actions)
        ]
        large = json.dumps(program)
        loader = threading.Thread(target=lambda: served.switch.load(large))
        loader.start()
        while_loaded = packets_during(served, lambda: not loader.is_alive())
        # The program that runs now has no entries.
        assert served.send(1, FRAME) == []
    with machine.figures():
        check(while_loaded, 50)


@pytest.mark.parametrize(
    "atomicity", [p4r.WriteRequest.CONTINUE_ON_ERROR, p4r.WriteRequest.DATAPLANE_ATOMIC]
)
def test_a_controller_vanishes_amid_its_batch(served: Served, atomicity: int) -> None:
    def written() -> int:
        return len(list(entries(served.switch, "Receive.forward")))

    with client(served.address, 4) as gone:
        gone.arbitrate()
        gone.push(CONTROL)
        request = batch(gone, 10_000)
        request.atomicity = atomicity  # type: ignore[assignment]
        # The call continues for as long as its future is referenced.
        asked = gone.stub.Write.future(request)
        eventually(lambda: written() > 0)
        assert not asked.done(), "it comes too late to be amid the batch"
        gone.channel.close()
    eventually(lambda: served.service.arbitration.connected() == 0)
    # The requested operation is completed, and packets pass again.
    eventually(lambda: written() == 10_000)
    with client(served.address, 5) as next_one:
        assert next_one.arbitrate().status.code == 0
        assert len(served.send(1, FRAME)) == 1
        next_one.write([forward(1, DELETE)])
        assert served.send(1, FRAME) == []


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="/proc/self/statm is missing")
def test_controllers_come_and_go_and_leave_nothing(served: Served) -> None:
    def turn(number: int) -> None:
        with client(served.address, number) as made:
            made.arbitrate()
            if number == 1:
                made.push(CONTROL)
            made.stub.Write(batch(made, 400))
            assert len(made.read(ALL)) == 400
            made.stub.Write(batch(made, 400, DELETE))
            assert made.read(ALL) == []
        eventually(lambda: served.service.arbitration.connected() == 0)

    for number in range(1, 16):
        turn(number)
    gc.collect()
    threads, before = threading.active_count(), resident_bytes()
    for number in range(16, 56):
        turn(number)
    gc.collect()
    # 16,000 entries and 40 streams later: less than 500 bytes of each entry.
    assert resident_bytes() - before < 8_000_000
    eventually(lambda: threading.active_count() <= threads + 2)
