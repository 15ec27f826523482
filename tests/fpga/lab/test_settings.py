"""From a plan to a board's registers: what fits, where the delay is, and the losses' generator."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from narrows.testbed.engine import PlanError
from narrows.testbed.scenario import sweep
from narrows.testbed.scenario.plan import make_plan
from narrows.testbed.targets.fpga.hosts import beside_board
from narrows.testbed.targets.fpga.settings import (
    BoardSettings,
    Limits,
    board_settings,
    generator_state,
)
from narrows.testbed.targets.switch_plan import SwitchPlan
from tests.support.world import write

ROOM = {1: {"packets": 512, "bytes": 1 << 14}, 2: {"packets": 512, "bytes": 1 << 15}}
BOARD = Limits(10**9, 16_000, ROOM, has_codel=True, has_sdram=False)
DEEP_ROOM = {1: ROOM[1], 2: {"packets": 1024, "bytes": 1 << 22}}
DEEP = Limits(10**9, 16_000, DEEP_ROOM, has_codel=False, has_sdram=True)
"""A board with an SDRAM towards port 1."""
SLOWED = Limits(10**6, 16_000_000, ROOM, has_codel=True, has_sdram=False)
SCENARIO = """
title = "t"
seed = 7
duration = "3s"
[bottleneck]
rate = "1Mbps"
delay = "20ms"
queue = "10packets"
[access]
delay = "1ms"
[[flow]]
variant = "reno"
"""


def plan_of(tmp_path: Path, *changes: tuple[str, str]) -> Any:
    text = SCENARIO
    for old, new in changes:
        text = text.replace(old, new, 1)
    source = write(tmp_path, text)
    [point] = sweep.read(source)
    return make_plan(point.scenario, str(source))


def settings(tmp_path: Path, *changes: tuple[str, str], limits: Limits = BOARD) -> BoardSettings:
    plan = plan_of(tmp_path, *changes)
    return board_settings(plan, SwitchPlan(plan), limits)


def test_the_board_delays_what_its_memory_holds(tmp_path: Path) -> None:
    made = settings(tmp_path)
    assert [port.delay_ps for port in made.ports] == [20 * 10**9] * 2
    assert made.hosts_delay_ps == 0


def test_the_hosts_add_the_delay_beyond_the_memory(tmp_path: Path) -> None:
    # 100 Mb/s over 20 ms are 250 kB, and the memory has 32 kB.
    changes = ('"1Mbps"', '"100Mbps"')
    made = settings(tmp_path, changes)
    assert [port.delay_ps for port in made.ports] == [4 * 10**6] * 2
    hosts = beside_board(plan_of(tmp_path, changes), made.hosts_delay_ps)
    delays = {
        host["config"]["name"]: host["config"]["access"]["delay_ps"] for host in hosts["hosts"]
    }
    assert delays == {"sender1": 10**9, "receiver1": 10**9 + 20 * 10**9 - 4 * 10**6}
    assert [cable["delay_ps"] for cable in hosts["cables"]] == [0, 0, 0]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('"1Mbps"', '"2Mbps"'), "port 1: rate = 2Mbps: above 1Mbps, this board's line"),
        (('"20ms"', '"3ms"'), "bottleneck.delay = 3ms: this board's least delay is 4ms"),
        (('"10packets"', '"40packets"'), "a queue of 40 packets takes 60560 bytes; this board's "),
        (('"10packets"', '"300ms"'), "a queue of 300000000000 time_ps takes 37500 bytes"),
    ],
)
def test_what_this_board_cannot_do_is_refused(
    tmp_path: Path, change: tuple[str, str], said: str
) -> None:
    with pytest.raises(PlanError, match=said):
        settings(tmp_path, change, limits=SLOWED)


def test_a_deep_queue_takes_as_many_packets_as_entries(tmp_path: Path) -> None:
    fast = ('"1Mbps"', '"100Mbps"')
    *_, receivers = settings(tmp_path, fast, ('"10packets"', '"100ms"'), limits=DEEP).ports
    assert receivers.queue == {"time_ps": 100 * 10**9}
    # 1.6 MB are in the memory, but 1,057 packets of 1,514 bytes.
    refused = "a queue of 1600000 bytes holds 1057 full packets; this board's holds 1024"
    with pytest.raises(PlanError, match=refused):
        settings(tmp_path, fast, ('"10packets"', '"1600kB"'), limits=DEEP)


def test_a_delay_of_more_packets_than_entries_is_the_hosts(tmp_path: Path) -> None:
    room = {port: {"packets": 1024, "bytes": 1 << 22} for port in ROOM}
    both = replace(DEEP, room=room)
    fast = ('"1Mbps"', '"100Mbps"')
    assert settings(tmp_path, fast, limits=both).hosts_delay_ps == 0
    # 2.5 MB are in the memory, but 1,651 packets.
    made = settings(tmp_path, fast, ('"20ms"', '"200ms"'), limits=both)
    assert made.hosts_delay_ps == 200 * 10**9 - 6 * 10**6


def test_frames_from_an_sdram_need_a_longer_delay(tmp_path: Path) -> None:
    settings(tmp_path, ('"20ms"', '"5us"'))
    with pytest.raises(PlanError, match="this board's least delay is 6us"):
        settings(tmp_path, ('"20ms"', '"5us"'), limits=DEEP)


def test_codel_is_refused_on_a_board_without_it(tmp_path: Path) -> None:
    change = ('queue = "10packets"', 'queue = "10packets"\ndiscipline = "codel"')
    settings(tmp_path, change)
    with pytest.raises(PlanError, match="discipline codel: this board was built without it"):
        settings(tmp_path, change, limits=replace(BOARD, has_codel=False))


def test_a_queue_towards_the_senders_has_at_most_the_memory(tmp_path: Path) -> None:
    towards_senders, towards_receivers = settings(tmp_path, ('"10packets"', '"20kB"')).ports
    assert towards_receivers.queue == {"bytes": 20_000}
    assert towards_senders.queue == {"bytes": 1 << 14}


def test_losses_are_towards_the_receivers_only(tmp_path: Path) -> None:
    changes = ('queue = "10packets"', 'queue = "10packets"\nloss = 0.25')
    towards_senders, towards_receivers = settings(tmp_path, changes).ports
    assert (towards_senders.loss, towards_receivers.loss) == (0.0, 0.25)
    assert towards_receivers.loss_state == generator_state(7, "s1 port 2 loss")
    assert towards_senders.loss_state != towards_receivers.loss_state


def test_the_generator_of_a_component_is_that_of_common() -> None:
    """SplitMix64's first numbers after 0 (Vigna's splitmix64.c); FNV-1a of "" is its offset."""
    offset = 0xCBF2_9CE4_8422_2325
    assert generator_state(offset, "") == (
        0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F, 0xF88BB8A8724C81EC,
    )  # fmt: skip
