"""The controller's client writes, reads back, changes and removes what a switch has besides table
entries; the programs are those of switch/tests/programs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from narrows.controller.client import SwitchClient
from narrows.controller.errors import ControllerError
from narrows.controller.matches import Exact, Match, Range, Ternary
from narrows.controller.objects import (
    CloneSession,
    MeterCell,
    MulticastGroup,
    ProfileGroup,
    ProfileMember,
    Replica,
    ValueSet,
)
from narrows.controller.state import GROUP, MEMBER, SwitchState, TableEntry
from tests.support.p4rt import CONTROL, DEVICE, PROGRAMS, Served

BRANCHES = (PROGRAMS / "branches.p4info.txtpb", PROGRAMS / "branches.json")
PROFILES = (PROGRAMS / "profiles.p4info.txtpb", PROGRAMS / "profiles.json")


@pytest.fixture
def served() -> Iterator[Served]:
    made = Served()
    yield made
    made.close()


def drive(served: Served, files: tuple[Path, Path], task: Any) -> Any:
    """Runs a task with a client that has pushed the program."""

    async def run() -> Any:
        async with SwitchClient(
            served.address, p4info=files[0], program=files[1], device_id=DEVICE
        ) as client:
            return await task(client)

    return asyncio.run(run())


def check(served: Served, files: tuple[Path, Path], *states: SwitchState) -> None:
    """Gives the switch one state after another, and reads each back."""

    async def task(client: SwitchClient) -> None:
        await client.write(states[0])
        assert (await client.read_state()).lines() == states[0].lines()
        assert await client.make(states[0]) == 0
        for state in states[1:]:
            assert await client.make(state) > 0
            assert (await client.read_state()).lines() == state.lines()
            assert await client.make(state) == 0

    drive(served, files, task)


def member(number: int, port: int, profile: str = "I.chosen") -> ProfileMember:
    return ProfileMember(profile, number, "I.out_by", {"port": port})


def test_profiles_and_the_entries_that_name_them(served: Served) -> None:
    by_member = TableEntry("I.by_member", {"hdr.h.a": Exact(1)}, MEMBER, {"id": 4})
    by_group = TableEntry("I.by_group", {"hdr.h.a": Exact(5)}, GROUP, {"id": 9})
    first = SwitchState(
        entries=(by_member, by_group),
        profile_members=(member(4, 2, "I.plain"), member(1, 2), member(2, 3)),
        profile_groups=(ProfileGroup("I.chosen", 9, ((1, 1), (2, 3))),),
    )
    second = SwitchState(
        entries=(by_group,),
        profile_members=(member(1, 4), member(3, 3)),
        profile_groups=(ProfileGroup("I.chosen", 9, ((1, 2), (3, 1))),),
    )
    check(served, PROFILES, first, second, SwitchState(profile_members=(member(1, 4),)))
    # Without the entry no action sets the port, and port 0 does not exist.
    assert served.send(1, bytes([1, 5]) + bytes(6)) == []
    assert served.switch.statistics()["no_such_port"] == 1


def test_groups_sessions_and_meters(served: Served) -> None:
    first = SwitchState(
        clone_sessions=(CloneSession(4, (Replica(3, 1), Replica(2)), 100),),
        multicast_groups=(MulticastGroup(7, (Replica(2), Replica(3, 5))),),
        meters=(MeterCell("Receive.shaper", 2, 1, 2, 3, 4),),
    )
    second = SwitchState(
        multicast_groups=(MulticastGroup(7, (Replica(2),)), MulticastGroup(8, (Replica(3),))),
        meters=(MeterCell("Receive.shaper", 2, 1, 2, 3, 5),),
    )
    check(served, CONTROL, first, second)


def test_value_sets(served: Served) -> None:
    wide: dict[str, Match] = {"a": Ternary(0x80, 0xF0), "b": Range(5, 9)}
    single: dict[str, Match] = {"": Exact(7)}
    first = SwitchState(value_sets=(ValueSet("P.pairs", (wide,)), ValueSet("P.singles", (single,))))
    second = SwitchState(value_sets=(*first.value_sets[1:], ValueSet("P.pairs", (wide, {
        "a": Ternary(1, 0xFF), "b": Range(0, 9)}))))  # fmt: skip
    check(served, BRANCHES, first, second)
    # 0x85 and 6 are in the set, the program says 1.
    [(_, packet)] = served.send(1, bytes([0x99, 0x85, 0, 6, 0, 0]))
    assert packet[5] & 0x0F == 1


def test_a_refusal_names_the_object(served: Served) -> None:
    state = SwitchState(profile_groups=(ProfileGroup("I.chosen", 9, ((77, 1),)),))

    async def task(client: SwitchClient) -> None:
        with pytest.raises(ControllerError, match=r"NOT_FOUND: .*I\.chosen.*77"):
            await client.write(state)

    drive(served, PROFILES, task)
