"""The controller's BfRuntime driver over real gRPC, against a server that checks every message."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from narrows.controller.__main__ import main
from narrows.controller.bfrt import bfruntime_pb2 as pb
from narrows.controller.bfrt.client import BfrtClient, BfrtError, Change
from narrows.controller.bfrt.switch import BfrtSwitch
from narrows.controller.drivers.bfrt import BfrtDriver
from narrows.controller.errors import DriverError
from narrows.controller.events import ManagedSwitch, WallClock, carry_out
from narrows.controller.matches import Lpm
from narrows.controller.objects import CloneSession, Count, MulticastGroup, RegisterCell, Replica
from narrows.controller.state import SwitchState
from narrows.schema.plan import EventPlan
from narrows.schema.switch import QueueLimit
from tests.support.bfrt import tables as bfrt_tables
from tests.support.bfrt.server import FakeSwitch, served
from tests.support.controller_state import everything_on

PACKET_BYTES = 1514
FULL = 20
"""Cells of 80 bytes that hold 1,514 and the 12 of the bridged header."""
DELAY = "NarrowsEgress.measure_delay"

Task = Callable[[BfrtClient, FakeSwitch], Awaitable[None]]


@pytest.fixture
def switch() -> Iterator[FakeSwitch]:
    fake = FakeSwitch()
    with served(fake):
        yield fake


def drive(switch: FakeSwitch, task: Task) -> None:
    """Runs `task` with a bound client."""

    async def run() -> None:
        async with BfrtClient(switch.address) as client:
            await task(client, switch)

    asyncio.run(run())


def test_a_rate_is_what_the_shaper_made_of_it(switch: FakeSwitch) -> None:
    async def task(client: BfrtClient, switch: FakeSwitch) -> None:
        driver = BfrtDriver(client, PACKET_BYTES)
        # 5,000 kbit/s is 312.5 steps of 16.
        assert await driver.set_rate(140, 5_000_400) == 5_008_000
        shaping = switch.data("tf1.tm.port.sched_shaping", {"dev_port": 140})
        assert shaping == {
            "unit": "BPS",
            "provisioning": "MIN_ERROR",
            "max_rate": 5008,
            "max_burst_size": 1518,
        }
        assert switch.data("tf1.tm.port.sched_cfg", {"dev_port": 140}) == {"max_rate_enable": True}
        for wrong in (0, 499, 2**32 * 1000):
            with pytest.raises(DriverError, match=f"port 140: rate_bps = {wrong}: expected 1000"):
                await driver.set_rate(140, wrong)
        with pytest.raises(DriverError, match=r"NOT_FOUND: tf1\.tm\.port\.sched_s"):
            await driver.set_rate(9, 10**6)

    drive(switch, task)


@pytest.mark.parametrize(
    ("limit", "packets"),
    [
        ({"packets": 100}, 100),
        ({"bytes": 151_400}, 100),
        ({"bytes": 151_399}, 99),
        # 10 ms at 5.008 Mb/s are 6,260 bytes.
        ({"time_ps": 10**10}, 4),
    ],
)
def test_a_limit_is_in_cells(switch: FakeSwitch, limit: QueueLimit, packets: int) -> None:
    async def task(client: BfrtClient, switch: FakeSwitch) -> None:
        driver = BfrtDriver(client, PACKET_BYTES)
        await driver.set_rate(140, 5_000_000)
        assert await driver.set_queue_limit(140, limit) == {"packets": packets}
        # The port's lane is its group's second: the first of eight queues from 8 on, in pipe 1.
        found = switch.data("tf1.tm.queue.buffer", {"pg_id": 1, "pg_queue": 8}, pipe=1)
        assert found == {
            "guaranteed_cells": 0,
            "hysteresis_cells": 0,
            "tail_drop_enable": True,
            "pool_id": "EG_APP_POOL_0",
            "pool_max_cells": packets * FULL,
            "dynamic_baf": "DISABLE",
        }

    drive(switch, task)


def test_cells_of_a_tofino_2_hold_more() -> None:
    fake = FakeSwitch("tf2")
    with served(fake):

        async def task(client: BfrtClient, switch: FakeSwitch) -> None:
            driver = BfrtDriver(client, PACKET_BYTES)
            assert await driver.set_queue_limit(140, {"packets": 10}) == {"packets": 10}
            # 1,527 bytes in cells of 176.
            found = switch.data("tf2.tm.queue.buffer", {"pg_id": 1, "pg_queue": 8}, pipe=1)
            assert found["pool_max_cells"] == 10 * 9
            # Field ids of mirror sessions differ from Tofino 1's.
            state = SwitchState(clone_sessions=(CloneSession(1, (Replica(148),)),))
            assert await BfrtSwitch(client, PACKET_BYTES).make(state) == 1

        drive(fake, task)


def test_limits_that_cannot_be(switch: FakeSwitch) -> None:
    async def task(client: BfrtClient, switch: FakeSwitch) -> None:
        driver = BfrtDriver(client, PACKET_BYTES)
        with pytest.raises(DriverError, match="set a rate before a limit in time"):
            await driver.set_queue_limit(140, {"time_ps": 10**9})
        # 280 x 1,024 cells are 14,336 packets of 20.
        assert await driver.set_queue_limit(140, {"packets": 14_336}) == {"packets": 14_336}
        with pytest.raises(DriverError, match=r"286740 cells .*: expected at most 286720"):
            await driver.set_queue_limit(140, {"packets": 14_337})
        with pytest.raises(DriverError, match="0 cells"):
            await driver.set_queue_limit(140, {"bytes": 1000})

    drive(switch, task)


def test_what_a_queue_has_done(switch: FakeSwitch) -> None:
    async def task(client: BfrtClient, switch: FakeSwitch) -> None:
        driver = BfrtDriver(client, PACKET_BYTES)
        await driver.set_queue_limit(132, {"packets": 30})
        state = await driver.queue_state(132)
        assert (state.rate_bps, state.limit) == (None, {"packets": 30})
        # 41 and 400 cells.
        assert (state.waiting_packets, state.max_packets) == (2, 20)
        assert (state.transmitted, state.transmitted_bytes, state.dropped) == (7, 10_598, 3)

    drive(switch, task)


def test_ports_are_set_up_and_switched(switch: FakeSwitch) -> None:
    async def task(client: BfrtClient, switch: FakeSwitch) -> None:
        driver = BfrtDriver(client, PACKET_BYTES)
        with pytest.raises(DriverError, match="NOT_FOUND"):
            await driver.port_is_up(132)
        await driver.set_port(132, 10 * 10**9)
        assert await driver.port_is_up(132)
        await driver.set_port(132, 10 * 10**9, enable=False)
        assert not await driver.port_is_up(132)
        assert switch.names_written() == ["$PORT"] * 2
        await driver.set_port(132, 100 * 10**9, "reed-solomon")
        assert switch.names_written() == ["$PORT"] * 4
        found = switch.data("$PORT", {"$DEV_PORT": 132})
        assert (found["$SPEED"], found["$FEC"]) == ("BF_SPEED_100G", "BF_FEC_TYP_REED_SOLOMON")
        with pytest.raises(DriverError, match="speed_bps = 7: expected one of 1000000000, 10"):
            await driver.set_port(132, 7)
        with pytest.raises(DriverError, match="fec = x: expected one of none"):
            await driver.set_port(132, 10**9, "x")

    drive(switch, task)


def test_a_state_is_made_read_back_and_changed(switch: FakeSwitch) -> None:
    full = everything_on()
    route, *rest = full.entries
    elsewhere = replace(route, params={**route.params, "port": 3})
    cell = RegisterCell(f"{DELAY}.delay_max", 2, 5)

    async def task(client: BfrtClient, switch: FakeSwitch) -> None:
        tofino = BfrtSwitch(client, PACKET_BYTES)
        for state in (
            replace(full, registers=(cell,)),
            SwitchState((elsewhere, *rest), full.clone_sessions),
            SwitchState((route,)),
            SwitchState(),
        ):
            assert await tofino.make(state) > 0
            wanted = state.lines() - {str(cell)}
            assert (await tofino.read_state(registers=())).lines() == wanted
            assert await tofino.make(state) == 0
        assert await tofino.read_state() == SwitchState(registers=(cell,))
        await tofino.write(full)
        await tofino.write_entry(elsewhere, "modify")
        await tofino.write_entry(elsewhere, "delete")
        assert (await tofino.read_state(registers=())).lines() == full.lines() - {str(route)}

    drive(switch, task)


def test_what_differs_from_v1model(switch: FakeSwitch) -> None:
    async def task(client: BfrtClient, switch: FakeSwitch) -> None:
        await BfrtSwitch(client, PACKET_BYTES).write(everything_on())
        # 30 packets are 600 cells.
        assert switch.data("pipe.NarrowsEgress.mark_ecn.ecn")["ecn_threshold"] == 600
        assert switch.data("$mirror.cfg") == {
            "$session_enable": True,
            "$direction": "EGRESS",
            "$ucast_egress_port": 3,
            "$ucast_egress_port_valid": True,
            "$max_pkt_len": 86,
        }
        # P4Runtime's priority 1 of 2^24 - 1, the lowest but 0.
        entry = next(
            iter(switch.entries[switch.names["pipe.NarrowsIngress.identify_flow.flow"]].values())
        )
        [priority] = [f for f in entry.key.fields if f.field_id == bfrt_tables.PRIORITY_ID]
        assert int.from_bytes(priority.exact.value, "big") == 0xFFFFFE

    drive(switch, task)


def test_counters_and_registers_of_all_pipes(switch: FakeSwitch) -> None:
    switch.set_cell(f"pipe.{DELAY}.delay_max", 140, {f"{DELAY}.delay_max.f1": [0, 77, 0, 0]})
    low, high = [0, 0xFFFFFFFE, 0, 0], [0, 3, 0, 0]
    halves = {f"{DELAY}.delay_sum.low": low, f"{DELAY}.delay_sum.high": high}
    switch.set_cell(f"pipe.{DELAY}.delay_sum", 140, halves)
    switch.set_cell(f"pipe.{DELAY}.delay_count", 140, {"$COUNTER_SPEC_PKTS": [9]})

    async def task(client: BfrtClient, switch: FakeSwitch) -> None:
        tofino = BfrtSwitch(client, PACKET_BYTES)
        assert await tofino.read_register(f"{DELAY}.delay_max", 140) == 77
        assert await tofino.read_register(f"{DELAY}.delay_max", 3) == 0
        assert await tofino.read_registers(f"{DELAY}.delay_sum") == {140: 0x3_FFFF_FFFE}
        # A register on v1model, a counter here.
        assert await tofino.read_register(f"{DELAY}.delay_count", 140) == 9
        assert await tofino.read_counters(f"{DELAY}.delay_count", 140) == {140: Count(9, 0)}
        reads = [r for r in switch.requests if isinstance(r, pb.ReadRequest)][1:]
        assert all(r.entities[0].table_entry.table_flags.from_hw for r in reads)
        flows = "NarrowsIngress.identify_flow.flow"
        await tofino.write(everything_on())
        lines = {str(one) for one in everything_on().entries if one.table == flows}
        assert await tofino.read_entry_counts(flows) == dict.fromkeys(lines, Count(0, 0))

    drive(switch, task)


def test_a_refused_update_takes_the_others_back(switch: FakeSwitch) -> None:
    route = everything_on().entries[0]
    wide = replace(route, matches={"hdr.ipv4.dst_addr": Lpm(2**32, 32)})

    async def task(client: BfrtClient, switch: FakeSwitch) -> None:
        tofino = BfrtSwitch(client, PACKET_BYTES)
        with pytest.raises(BfrtError, match=r"^\S+: update 1: ALREADY_EXISTS: pipe\.Narrows"):
            await tofino.write(SwitchState((route, route)))
        assert (await tofino.read_state(registers=())).lines() == frozenset()
        with pytest.raises(BfrtError, match=r"hdr\.ipv4\.dst_addr = 4294967296: expected 32 bits"):
            await tofino.write_entry(wide)
        with pytest.raises(BfrtError, match=r"no table 'pipe\.NarrowsX'"):
            await tofino.read_register("NarrowsX", 0)
        with pytest.raises(BfrtError, match="multicast_groups: not supported by p4/tna"):
            await tofino.make(SwitchState(multicast_groups=(MulticastGroup(1, ()),)))
        with pytest.raises(BfrtError, match="expected one port, instance 0"):
            both = CloneSession(1, (Replica(1), Replica(2)))
            await tofino.make(SwitchState(clone_sessions=(both,)))

    drive(switch, task)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (Change.modify("tf1.tm.port.cfg", {"dev_port": 132}, {"pg_id": 1}), "read-only"),
        (Change(pb.Update.INSERT, "tf1.tm.port.sched_cfg", {"dev_port": 5}), "only modified"),
        (Change.modify("tf1.tm.queue.buffer", {"pg_id": 1, "pg_queue": 0}, {}), "pipe 65535"),
        (Change.modify("tf1.tm.port.sched_cfg", {}, {"max_rate_enable": True}), "key of fields"),
        (Change(pb.Update.INSERT, "pipe.NarrowsIngress.random_loss.loss",
                {"meta.egress_port": 1}), "no action"),
        (Change(pb.Update.INSERT, "pipe.NarrowsIngress.random_loss.loss",
                {"meta.egress_port": 1}, {}, "NarrowsIngress.random_loss.lose_below"), "missing"),
    ],
)  # fmt: skip
def test_the_server_refuses_what_bfrt_json_does(
    switch: FakeSwitch, change: Change, said: str
) -> None:
    async def task(client: BfrtClient, switch: FakeSwitch) -> None:
        with pytest.raises(BfrtError, match=said):
            await client.write([change])

    drive(switch, task)


def test_a_program_has_one_client_and_a_name(switch: FakeSwitch) -> None:
    async def task(client: BfrtClient, switch: FakeSwitch) -> None:
        address = client.address
        with pytest.raises(BfrtError, match="ALREADY_EXISTS: program has a client"):
            async with BfrtClient(address, client_id=2):
                pass
        with pytest.raises(BfrtError, match=r"'tma'; did you mean 'tna'\?; expected one of 'tna'"):
            async with BfrtClient(address, program="tma"):
                pass

    drive(switch, task)


def test_nobody_answers() -> None:
    async def run() -> None:
        async with BfrtClient("127.0.0.1:1"):
            pass

    with pytest.raises(BfrtError, match=r"127\.0\.0\.1:1: UNAVAILABLE"):
        asyncio.run(run())


def test_a_scenarios_events_reach_the_switch(switch: FakeSwitch) -> None:
    loss = next(one for one in everything_on().entries if "random_loss" in one.table)
    events: list[EventPlan] = [
        {"at_ps": 0, "switch": "s1", "port": 140, "rate_bps": 2_000_000},
        {"at_ps": 10**9, "switch": "s1", "port": 140, "queue": {"packets": 50}},
        {"at_ps": 10**9, "switch": "s1", "entry": loss.as_json(), "op": "insert"},
    ]

    async def task(client: BfrtClient, switch: FakeSwitch) -> None:
        tofino = ManagedSwitch(BfrtSwitch(client, PACKET_BYTES), BfrtDriver(client, PACKET_BYTES))
        done = await carry_out(events, {"s1": tofino}, WallClock())
        assert [one.in_force for one in done] == [2_000_000, {"packets": 50}, None]

    drive(switch, task)
    assert switch.names_written()[-1] == "pipe.NarrowsIngress.random_loss.loss"


def test_the_command_sets_a_tofino(
    switch: FakeSwitch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    at = ["--address", switch.address, "--bfrt"]

    def said(*words: str) -> list[str]:
        assert main([*at, *words]) == 0
        return capsys.readouterr().out.splitlines()

    path = tmp_path / "state.json"
    path.write_text(json.dumps(everything_on().as_json()))
    assert said("push", "--state", str(path)) == [f"{len(everything_on().lines())} writes"]
    assert said("show") == sorted(everything_on().lines())
    assert said("set-port", "140", "10Gbps") == ["up"]
    assert said("set-rate", "140", "8Mbps") == ["rate_bps 8000000"]
    assert said("set-queue", "140", "15ms") == ["packets 9"]
    assert said("queue", "140")[:2] == ["rate_bps 8000000", "limit 9 packets"]
    assert said("register", f"{DELAY}.delay_max", "7") == [f"{DELAY}.delay_max[7] = 0x0"]
    assert main(["--address", switch.address, "--bfrt", "--program", "x", "show"]) == 1
    assert "program 'x'; expected one of 'tna'" in capsys.readouterr().err
