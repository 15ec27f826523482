"""One controller, two switches: the same tests for `narrows switch` and for bmv2.

If they differ, a test names the switch; LIMITATIONS.md has the list.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from narrows.controller.__main__ import main
from narrows.controller.client import SwitchClient
from narrows.controller.errors import ControllerError
from narrows.controller.matches import Exact, Lpm
from narrows.controller.objects import (
    CloneSession,
    Count,
    MulticastGroup,
    ProfileGroup,
    ProfileMember,
    RegisterCell,
    Replica,
)
from narrows.controller.state import GROUP, MEMBER, SwitchState, TableEntry
from tests.support.controller_state import everything_on
from tests.support.p4rt import BOTTLENECK, PROGRAMS
from tests.support.switches import DEVICE, bmv2, lacking_for_bmv2, narrows_switch

PROFILES = (PROGRAMS / "profiles.p4info.txtpb", PROGRAMS / "profiles.json")
DELAY_MAX = "NarrowsEgress.measure_delay.delay_max"
DROPS = "NarrowsIngress.count_drops.drops"
FLOW = "NarrowsIngress.identify_flow.flow"

Files = tuple[Path, Path]
Starter = Callable[[Path], AbstractContextManager[str]]


@contextmanager
def bmv2_address(_: Path) -> Iterator[str]:
    with bmv2() as switch:
        yield switch.address


@dataclass(frozen=True)
class Target:
    """A running switch."""

    name: str
    address: str

    def client(self, files: Files | None, election_id: int = 10) -> SwitchClient:
        """A client that pushes the program, or uses the loaded one."""
        p4info, program = files or (None, None)
        return SwitchClient(
            self.address, p4info=p4info, program=program,
            device_id=DEVICE, election_id=election_id, force=files is not None,
        )  # fmt: skip

    def drive(self, files: Files, task: Callable[[SwitchClient], Awaitable[None]]) -> None:
        """Does `task` with a client that has pushed the program."""

        async def run() -> None:
            async with self.client(files) as client:
                await task(client)

        asyncio.run(run())


STARTERS: dict[str, Starter] = {"narrows": narrows_switch, "bmv2": bmv2_address}


@pytest.fixture(scope="module", params=list(STARTERS))
def target(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Target]:
    """Each switch, one process for all tests: each test pushes its program anew."""
    name: str = request.param
    if name == "bmv2" and (reason := lacking_for_bmv2()):
        pytest.skip(reason)
    with STARTERS[name](tmp_path_factory.mktemp(name)) as address:
        yield Target(name, address)


async def held(client: SwitchClient) -> frozenset[str]:
    """The switch's state without registers, which bmv2 does not read."""
    return frozenset((await client.read_state(registers=())).lines())


async def goes_through(client: SwitchClient, *states: SwitchState) -> None:
    """Gives the switch one state after another, and reads each back."""
    for state in states:
        assert await client.make(state) > 0
        assert await held(client) == state.lines()
        assert await client.make(state) == 0


def test_a_program_that_was_pushed_is_what_others_find(target: Target) -> None:
    async def task(client: SwitchClient) -> None:
        assert client.is_primary
        async with target.client(None, election_id=5) as other:
            ours, theirs = client.switch.p4info, other.switch.p4info
            assert [t.name for t in theirs.tables] == [t.name for t in ours.tables]
            assert [r.name for r in theirs.registers] == [r.name for r in ours.registers]

    target.drive(BOTTLENECK, task)


def test_a_push_leaves_nothing_of_what_was_there(target: Target) -> None:
    async def fill(client: SwitchClient) -> None:
        await client.make(everything_on())

    async def look(client: SwitchClient) -> None:
        assert await held(client) == frozenset()

    target.drive(BOTTLENECK, fill)
    target.drive(PROFILES, look)


def test_entries_are_made_changed_and_taken_back(target: Target) -> None:
    full = everything_on()
    route, *rest = full.entries
    elsewhere = replace(route, params={**route.params, "port": 3})

    async def task(client: SwitchClient) -> None:
        await client.make(SwitchState())
        await goes_through(
            client,
            full,
            SwitchState((elsewhere, *rest), full.clone_sessions),
            SwitchState((route,)),
        )
        await client.write_entry(elsewhere, "modify")
        assert await held(client) == {str(elsewhere)}
        await client.write_entry(elsewhere, "delete")
        assert await held(client) == frozenset()

    target.drive(BOTTLENECK, task)


def test_sessions_and_groups_in_any_order_of_their_replicas(target: Target) -> None:
    here, there = Replica(1), Replica(2, 7)

    async def task(client: SwitchClient) -> None:
        await client.make(SwitchState())
        await goes_through(
            client,
            SwitchState(
                clone_sessions=(CloneSession(9, (here, there)),),
                multicast_groups=(MulticastGroup(7, (there, here)),),
            ),
            SwitchState(
                clone_sessions=(CloneSession(9, (there,)), CloneSession(10, (here,))),
                multicast_groups=(MulticastGroup(7, (here,)), MulticastGroup(8, (there, here))),
            ),
            SwitchState(multicast_groups=(MulticastGroup(8, (here,)),)),
        )

    target.drive(BOTTLENECK, task)


def test_members_groups_and_the_entries_that_name_them(target: Target) -> None:
    def member(number: int, port: int, profile: str = "I.chosen") -> ProfileMember:
        return ProfileMember(profile, number, "I.out_by", {"port": port})

    by_member = TableEntry("I.by_member", {"hdr.h.a": Exact(1)}, MEMBER, {"id": 4})
    by_group = TableEntry("I.by_group", {"hdr.h.a": Exact(5)}, GROUP, {"id": 9})

    async def task(client: SwitchClient) -> None:
        await goes_through(
            client,
            SwitchState(
                entries=(by_member, by_group),
                profile_members=(member(4, 2, "I.plain"), member(1, 2), member(2, 3)),
                profile_groups=(ProfileGroup("I.chosen", 9, ((2, 1), (1, 1))),),
            ),
            SwitchState(
                entries=(by_group,),
                profile_members=(member(1, 3), member(3, 3)),
                profile_groups=(ProfileGroup("I.chosen", 9, ((1, 1), (3, 1))),),
            ),
        )

    target.drive(PROFILES, task)


def test_counters_of_a_program_without_packets(target: Target) -> None:
    async def task(client: SwitchClient) -> None:
        await client.make(everything_on())
        cells = await client.read_counters(DROPS)
        assert cells and set(cells.values()) == {Count(0, 0)}
        assert list(cells) == list(range(len(cells)))
        assert await client.read_counters(DROPS, 1) == {1: Count(0, 0)}
        flows = {str(entry) for entry in everything_on().entries if entry.table == FLOW}
        assert await client.read_entry_counts(FLOW) == dict.fromkeys(flows, Count(0, 0))

    target.drive(BOTTLENECK, task)


def test_refusals_have_the_same_codes(target: Target) -> None:
    route = everything_on().entries[0]
    out_of_width = replace(route, matches={"hdr.ipv4.dst_addr": Lpm(2**32, 32)})

    async def task(client: SwitchClient) -> None:
        await client.make(SwitchState())
        with pytest.raises(ControllerError, match=r"^\S+: update 1: ALREADY_EXISTS"):
            await client.write(SwitchState((route, route)))
        assert await held(client) == {str(route)}
        await client.write_entry(route, "delete")
        with pytest.raises(ControllerError, match="NOT_FOUND"):
            await client.write_entry(route, "delete")
        with pytest.raises(ControllerError, match="NOT_FOUND"):
            await client.write_entry(route, "modify")
        with pytest.raises(ControllerError, match=r"hdr\.ipv4\.dst_addr"):
            await client.write_entry(out_of_width)
        assert await held(client) == frozenset()

    target.drive(BOTTLENECK, task)


def test_a_second_controller_reads_and_does_not_write(target: Target) -> None:
    async def task(client: SwitchClient) -> None:
        await client.make(everything_on())
        async with target.client(None, election_id=5) as second:
            assert not second.is_primary
            assert await held(second) == everything_on().lines()
            with pytest.raises(ControllerError, match="another controller is primary, with"):
                await second.make(SwitchState())

    target.drive(BOTTLENECK, task)


def test_the_command_shows_what_it_pushed(
    target: Target, capsys: pytest.CaptureFixture[str]
) -> None:
    async def fill(client: SwitchClient) -> None:
        await client.make(everything_on())

    target.drive(BOTTLENECK, fill)
    at = ["--address", target.address, "--device-id", str(DEVICE)]
    assert main([*at, "show", "--no-registers"]) == 0
    assert capsys.readouterr().out.splitlines() == sorted(everything_on().lines())


def test_what_bmv2_does_not_serve(target: Target) -> None:
    cut = SwitchState(clone_sessions=(CloneSession(9, (Replica(1),), 64),))
    cell = SwitchState(registers=(RegisterCell(DELAY_MAX, 2, 5),))

    async def task(client: SwitchClient) -> None:
        await client.make(SwitchState())
        if target.name == "bmv2":
            with pytest.raises(ControllerError, match="UNIMPLEMENTED: Register reads"):
                await client.read_register(DELAY_MAX, 2)
            with pytest.raises(ControllerError, match="UNIMPLEMENTED: Register writes"):
                await client.write(cell)
            with pytest.raises(ControllerError, match="UNKNOWN: Error when creating clone"):
                await client.write(cut)
        else:
            await client.write(cut)
            await client.write(cell)
            assert await client.read_register(DELAY_MAX, 2) == 5
            assert await held(client) == cut.lines()

    target.drive(BOTTLENECK, task)
