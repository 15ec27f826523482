"""Random entries and packets, by seed: every target sends the same bytes from the same ports as the
engine in this process.
"""

from __future__ import annotations

import os
import random

import pytest

from narrows.controller.matches import Lpm, Ternary
from narrows.controller.state import TableEntry
from tests.differential.cases import ipv4
from tests.packets.conftest import in_process
from tests.packets.target import PORTS, Target

SEED = int(os.environ.get("NARROWS_DIFFERENTIAL_SEED", "1"))
ROUNDS, ENTRIES, PACKETS = 3, 40, 240


def routes(rng: random.Random) -> dict[tuple[int, int], TableEntry]:
    """Prefixes of any length around the generated packets' destinations, to any port or none."""
    found = {}
    for _ in range(ENTRIES):
        length = rng.choice([0, 7, 8, 15, 16, 22, 23, 24, 30, 31, 32, 32, 32])
        address = 0x0A000000 | rng.choice([1, 2, 2, 3]) << 8 | rng.randrange(4)
        prefix = address >> (32 - length) << (32 - length)
        params = {"port": rng.choice(list(PORTS)), "src_mac": rng.getrandbits(48)}
        params["dst_mac"] = rng.getrandbits(48)
        action = "route" if rng.random() < 0.9 else "no_route"
        found[prefix, length] = TableEntry(
            "NarrowsIngress.forward.ipv4_lpm",
            {"hdr.ipv4.dst_addr": Lpm(prefix, length)},
            f"NarrowsIngress.forward.{action}",
            params if action == "route" else {},
        )
    return found


def flows(rng: random.Random) -> list[TableEntry]:
    """Entries that overlap: priorities determine whose counter counts, and no byte changes."""
    return [
        TableEntry(
            "NarrowsIngress.identify_flow.flow",
            {"hdr.ipv4.dst_addr": Ternary(0x0A000200, 0xFFFFFF00 | rng.getrandbits(2) << 6)},
            "NarrowsIngress.identify_flow.set_flow",
            {"flow_id": priority},
            priority,
        )
        for priority in range(1, 5)
    ]


def fits(frame: bytes, target: Target) -> bool:
    """False for packets that this target's wires change or can't send."""
    is_fragment = frame[12:14] == b"\x08\x00" and int.from_bytes(frame[20:22], "big") & 0x3FFF
    return len(frame) >= target.wires.least_bytes and (
        target.wires.keeps_fragments or not is_fragment
    )


@pytest.mark.parametrize("number", range(ROUNDS))
def test_the_same_bytes_leave_by_the_same_ports(target: Target, number: int) -> None:
    if target.name == "engine":
        pytest.skip("the engine is what the others are compared with")
    rng = random.Random(f"{SEED} {number}")
    more = [*routes(rng).values(), *flows(rng)]
    frames = [frame for _ in range(PACKETS) if fits(frame := ipv4(rng), target)]
    found = []
    with in_process() as ours:
        for one in (ours, target):
            one.set_up(more=more)
            before = one.dropped()
            left = one.exchange(frames)
            dropped = {reason: count - before[reason] for reason, count in one.dropped().items()}
            found.append((left, dropped))
    assert found[1] == found[0]
    assert sum(map(len, found[0][0].values())) > len(frames) / 8
