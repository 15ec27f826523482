"""The controller with the software target, through P4Runtime and gNMI over a real connection."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from finsy import p4client

from narrows.controller.__main__ import main
from narrows.controller.client import SwitchClient
from narrows.controller.drivers.gnmi import GnmiDriver
from narrows.controller.errors import ControllerError
from narrows.controller.events import ManagedSwitch, WallClock, carry_out
from narrows.controller.matches import Exact, Lpm
from narrows.controller.objects import CloneSession, RegisterCell, Replica
from narrows.controller.state import SwitchState, TableEntry
from narrows.schema.plan import EventPlan
from narrows.switch.server.gnmi.service import GnmiService
from narrows.switch.server.p4runtime.service import P4RuntimeService
from narrows.switch.server.serve import serve
from narrows.testbed import engine
from tests.support.controller_state import everything_on
from tests.support.world import ROOT

P4INFO = ROOT / "p4/build/v1model.p4info.txtpb"
PROGRAM = ROOT / "p4/build/v1model.json"
MS = 10**9


@contextmanager
def running() -> Iterator[tuple[Any, str]]:
    """A switch of three ports without a program, and its address."""
    ports = [
        {"port": port, "rate_bps": None, "queue": {"packets": 1000}, "counts": "frame", "queues": 1}
        for port in (1, 2, 3)
    ]
    config = {"switch": {"ports": ports, "timestamp_unit": "ns"}}
    switch = engine.Switch(json.dumps(config), 1)
    services = [P4RuntimeService(switch).add_to, GnmiService(switch).add_to]
    server, port = serve("127.0.0.1:0", services)
    try:
        yield switch, f"127.0.0.1:{port}"
    finally:
        server.stop(None).wait()


@pytest.fixture
def switch() -> Iterator[tuple[Any, str]]:
    with running() as found:
        yield found


def connect(address: str, **more: Any) -> SwitchClient:
    return SwitchClient(address, p4info=P4INFO, program=PROGRAM, **more)


def frame(source: int, destination: int, length: int) -> bytes:
    """Ethernet, IPv4 with its checksum, and zeros that stand for TCP."""
    head = bytes.fromhex("4500") + (length - 14).to_bytes(2, "big") + bytes.fromhex("000000004006")
    addresses = source.to_bytes(4, "big") + destination.to_bytes(4, "big")
    words = head + b"\0\0" + addresses
    total = sum(int.from_bytes(words[i : i + 2], "big") for i in range(0, 20, 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    ip = head + (0xFFFF - total).to_bytes(2, "big") + addresses
    tcp = bytes.fromhex("2711138900000000000000005010") + b"\0" * 6
    return (b"\x02" * 12 + b"\x08\x00" + ip + tcp).ljust(length, b"\0")


def test_a_state_is_read_back_as_it_was_made(switch: tuple[Any, str]) -> None:
    _, address = switch
    register = "NarrowsEgress.measure_delay.delay_max"

    async def run() -> None:
        async with connect(address) as client:
            assert client.is_primary
            state = everything_on()
            cell = RegisterCell(register, 2, 0x1234)
            state = SwitchState(state.entries, state.clone_sessions, (cell,))
            assert await client.make(state) == len(state.entries) + 1 + 1
            assert (await client.read_state()).lines() == state.lines()
            assert await client.make(state) == 0
            # Fewer, other and additional objects: one entry goes, one changes, one session is
            # added.
            changed = list(state.entries[1:])
            routes = [n for n, one in enumerate(changed) if one.table.endswith("ipv4_lpm")]
            one = changed[routes[0]]
            changed[routes[0]] = TableEntry(
                one.table, one.matches, one.action, {**one.params, "port": 3}
            )
            sessions = (*state.clone_sessions, CloneSession(9, (Replica(1), Replica(2, 7)), 64))
            after = SwitchState(tuple(changed), sessions, (cell,))
            assert await client.make(after) == 3
            assert (await client.read_state()).lines() == after.lines()
            assert await client.make(SwitchState()) == len(after.entries) + 2
            assert (await client.read_state()).lines() == {str(cell)}

    asyncio.run(run())


def test_packets_are_counted_delayed_and_dropped_as_set(switch: tuple[Any, str]) -> None:
    target, address = switch

    async def run() -> None:
        async with connect(address) as client:
            assert client.gnmi is not None
            driver = GnmiDriver(client.gnmi)
            state = everything_on()
            lossless = tuple(one for one in state.entries if "random_loss" not in one.table)
            await client.make(SwitchState(lossless, state.clone_sessions))
            assert await driver.set_rate(2, 8_000_000) == 8_000_000
            assert await driver.set_queue_limit(2, {"packets": 2}) == {"packets": 2}
            # 1,000 bytes at 8 Mb/s take 1 ms: the first is on the line, two wait, one is lost.
            for _ in range(4):
                target.handle_packet(1, frame(0x0A000001, 0x0A000002, 1000), 0)
            assert len([1 for port, *_ in target.run_until(0) if port == 2]) == 1
            queue = await driver.queue_state(2)
            assert (queue.waiting_packets, queue.waiting_bytes) == (2, 2000)
            assert (queue.max_packets, queue.max_bytes, queue.dropped) == (2, 2000, 1)
            ends = [end for port, _, end, _ in target.run_until(4 * MS) if port == 2]
            assert ends == [2 * MS, 3 * MS]
            queue = await driver.queue_state(2)
            assert (queue.transmitted, queue.transmitted_bytes) == (3, 3000)
            assert queue.waiting_packets == 0
            # They waited 1 ms and 2 ms of 4 ms.
            assert queue.mean_packets == 0.75
            # Without a report the hosts' entries are as they were; the flow's table counts.
            counts = await client.read_entry_counts("NarrowsIngress.identify_flow.flow")
            there = [count for line, count in counts.items() if "dst_port=0x1389" in line]
            assert [(count.packets, count.octets) for count in there] == [(4, 4000)]

    asyncio.run(run())


def test_a_refused_pipeline_is_told(switch: tuple[Any, str], tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text("{")

    async def push() -> None:
        async with SwitchClient(switch[1], p4info=P4INFO, program=broken):
            pass

    with pytest.raises(ControllerError, match="INVALID_ARGUMENT"):
        asyncio.run(push())


def test_a_refusal_names_the_update(switch: tuple[Any, str]) -> None:
    _, address = switch
    route = everything_on().entries[0]
    twice = SwitchState((route, route))

    async def run() -> None:
        async with connect(address) as client:
            with pytest.raises(ControllerError, match="update 1: ALREADY_EXISTS"):
                await client.write(twice)
            with pytest.raises(ControllerError, match=r"update 7: [^\n]*\nand 4 more$"):
                await client.write(SwitchState((route,) * 12))
            with pytest.raises(ControllerError, match="named 'nowhere'"):
                await client.write_entry(TableEntry("nowhere", {}, "a", {}))
            bad = TableEntry(route.table, {"hdr.ipv4.dst_addr": Lpm(2**32, 32)}, route.action, {})
            with pytest.raises(ControllerError, match=r"hdr\.ipv4\.dst_addr"):
                await client.write_entry(bad)
            with pytest.raises(ControllerError, match="NOT_FOUND"):
                await client.write_entry(
                    TableEntry(route.table, {"hdr.ipv4.dst_addr": Lpm(1, 32)}, route.action,
                               dict(route.params)), "delete",
                )  # fmt: skip
            with pytest.raises(ControllerError):
                await client.write_register(RegisterCell("no_register", 0, 1))

    asyncio.run(run())


def test_a_second_controller_may_read_but_not_write(switch: tuple[Any, str]) -> None:
    _, address = switch

    async def run() -> None:
        async with connect(address) as first:
            await first.make(everything_on())
            async with SwitchClient(address, election_id=5) as second:
                assert not second.is_primary
                assert (await second.read_state()).lines() == everything_on().lines()
                with pytest.raises(ControllerError, match="another controller is primary, with"):
                    await second.make(SwitchState())
            assert (await first.read_state()).lines() == everything_on().lines()

    asyncio.run(run())


def test_events_on_a_running_switch(switch: tuple[Any, str]) -> None:
    target, address = switch
    mark = TableEntry(
        "NarrowsEgress.mark_ecn.ecn",
        {"meta.egress_port": Exact(2)},
        "NarrowsEgress.mark_ecn.mark_above",
        {"ecn_threshold": 30},
    )
    events: list[EventPlan] = [
        {"at_ps": 40 * MS, "switch": "s1", "port": 2, "rate_bps": 2_000_000},
        {"at_ps": 20 * MS, "switch": "s1", "port": 2, "queue": {"bytes": 30_000}},
        {"at_ps": 0, "switch": "s1", "entry": mark.as_json(), "op": "insert"},
    ]

    async def run() -> None:
        async with connect(address) as client:
            assert client.gnmi is not None
            switches = {"s1": ManagedSwitch(client, GnmiDriver(client.gnmi))}
            done = await carry_out(events, switches, WallClock())
            assert [one.due_ps for one in done] == [0, 20 * MS, 40 * MS]
            assert all(one.done_ps >= one.due_ps for one in done)
            assert [one.in_force for one in done] == [None, {"bytes": 30_000}, 2_000_000]
            assert (await client.read_state()).lines() == {str(mark)}

    asyncio.run(run())
    state = target.port_state(2)
    assert (state["rate_bps"], state["queue"]) == (2_000_000, {"bytes": 30_000})


def test_a_read_may_take_longer_than_a_write(
    switch: tuple[Any, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        async with connect(switch[1]) as client:
            monkeypatch.setattr(p4client, "_DEFAULT_RPC_TIMEOUT", 0.0)
            cells = await client.read_registers("NarrowsEgress.measure_delay.delay_histogram")
            assert len(cells) == 32768

    asyncio.run(run())


def command(capsys: pytest.CaptureFixture[str], address: str, *arguments: str) -> str:
    """The output of the command, which must succeed."""
    assert main(["--address", address, *arguments]) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def push(
    capsys: pytest.CaptureFixture[str], address: str, directory: Path, state: SwitchState
) -> str:
    path = directory / "state.json"
    path.write_text(json.dumps(state.as_json()))
    files = ["--p4info", str(P4INFO), "--json", str(PROGRAM)]
    return command(capsys, address, *files, "push", "--state", str(path))


def check_command(capsys: pytest.CaptureFixture[str], address: str, directory: Path) -> None:
    """The whole command against a switch that has no program."""
    state = everything_on()
    writes = len(state.entries) + len(state.clone_sessions)
    assert push(capsys, address, directory, state) == f"{writes} writes\n"
    assert push(capsys, address, directory, state) == "0 writes\n"
    assert command(capsys, address, "show").splitlines() == sorted(state.lines())
    assert command(capsys, address, "set-rate", "2", "5Mbps") == "rate_bps 5000000\n"
    assert command(capsys, address, "set-queue", "2", "100packets") == "packets 100\n"
    shown = command(capsys, address, "queue", "2").splitlines()
    assert shown[:2] == ["rate_bps 5000000", "limit 100 packets"]
    counted = command(capsys, address, "counter", "NarrowsIngress.count_drops.drops", "0")
    assert re.fullmatch(r".*\[0\] = 0 packets, 0 bytes\n", counted)
    # A push of the program that runs keeps the rate; entries stay too.
    assert push(capsys, address, directory, state) == "0 writes\n"
    assert main(["--address", address, "set-rate", "9", "1Mbps"]) == 1
    assert "name=9" in capsys.readouterr().err


def test_the_command(
    switch: tuple[Any, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check_command(capsys, switch[1], tmp_path)


def test_the_command_against_narrows_switch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A daemon in its own process, as a user starts it."""
    arguments = ["switch", "--no-p4", "--use-files", "600", "--grpc-server-addr", "127.0.0.1:0"]
    no_packets = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    for port in (1, 2, 3):
        (tmp_path / f"port{port}_in.pcap").write_bytes(no_packets)
        arguments += ["-i", f"{port}@{tmp_path}/port{port}"]
    daemon = subprocess.Popen(
        [sys.executable, "-m", "narrows", *arguments],
        cwd=ROOT, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert daemon.stdout is not None
        found = re.search(r"controllers at (\S+:\d+)", daemon.stdout.readline())
        assert found
        check_command(capsys, found[1], tmp_path)
    finally:
        daemon.terminate()
        daemon.communicate(timeout=20)
    assert daemon.returncode == 0


def test_the_document_s_commands(
    switch: tuple[Any, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = (ROOT / "docs/guide/controller.md").read_text()
    (state,) = re.findall(r"```json\n(.*?)```", text, re.S)
    (tmp_path / "state.json").write_text(state)
    (tmp_path / "p4").symlink_to(ROOT / "p4")
    monkeypatch.chdir(tmp_path)
    commands = [
        found
        for block in re.findall(r"```console\n(.*?)```", text, re.S)
        for found in re.findall(r"\$ python -m narrows.controller (.*)\n((?:[^$].*\n)*)", block)
    ]
    assert len(commands) == 7
    for line, printed in commands:
        arguments = shlex.split(line.replace("127.0.0.1:9559", switch[1]))
        assert main(arguments) == 0, capsys.readouterr().err
        assert capsys.readouterr().out == printed, line
