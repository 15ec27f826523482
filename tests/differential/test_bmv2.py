"""The same entries and packets through bmv2's simple_switch and through ours: the same bytes on the
same ports, in the same order on each.

NARROWS_DIFFERENTIAL_PACKETS and _SEED select another run.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from narrows.testbed import engine
from tests.differential import bmv2, cases
from tests.support.needs import without
from tests.support.world import ROOT

COUNT = int(os.environ.get("NARROWS_DIFFERENTIAL_PACKETS", "2000"))
OURS = ROOT / "p4/build/v1model.json"
SEED = int(os.environ.get("NARROWS_DIFFERENTIAL_SEED", "1"))


@without([] if bmv2.SWITCH and bmv2.CLI else ["simple_switch is not installed"])
@pytest.mark.parametrize("name", cases.CASES)
def test_the_same_packets_come_out(name: str, tmp_path: Path) -> None:
    program = OURS if name == "bottleneck" else ROOT / f"switch/tests/programs/{name}.json"
    case = cases.CASES[name](random.Random(f"{name} {SEED}"), COUNT)
    out = bmv2.run(program, case.commands, case.packets, case.ports, tmp_path)
    test = "\n".join([*case.stf, *(f"packet 0 {packet.hex()}" for packet in case.packets)])
    sent = engine.stf_sent(program.read_text(), test)
    assert set(sent) == set(case.ports)
    for port, ours in sent.items():
        # In bmv2 recirculated packets overtake others at random, depending on the wall clock.
        arrange = sorted if case.overtaking else list
        theirs, mine = ([p.hex() for p in arrange(packets)] for packets in (out[port], ours))
        differing = [pair for pair in zip(theirs, mine, strict=False) if pair[0] != pair[1]]
        assert not differing, f"port {port}, bmv2 and ours: {differing[0]}"
        assert len(theirs) == len(mine), f"port {port}, packets of bmv2 and of ours"
    print(f"{name}: {len(case.packets)} packets in, {sum(map(len, out.values()))} out, the same")
