"""Disciplines of the program: one count for one mark."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from scapy.layers.inet import IP
from scapy.layers.l2 import Ether

from narrows.controller import aqm
from narrows.controller.stages import ECN
from narrows.controller.state import SwitchState
from tests.packets.target import PORTS, SINK, Target
from tests.packets.test_forwarding import segment
from tests.packets.test_telemetry import (
    CAPABLE_0,
    EXPERIENCED,
    PACKET_BYTES,
    RATE_BPS,
)

COUNTERS = ("NarrowsEgress.after_queue.signal.aqm_marks", "NarrowsEgress.mark_ecn.ecn_marks")
PAYLOAD = b"x" * (PACKET_BYTES - 54)


def entries_of(tick_ns: int, name: str, others: dict[str, float]) -> SwitchState:
    """The entries of a discipline at port SINK, in ticks of a target."""
    record = next(record for record in aqm.RECORDS if record["name"] == name)
    values: dict[str, Any] = {each["name"]: each["default"] for each in record["parameters"]}
    stages = aqm.stages(name, values | others, RATE_BPS)
    state = SwitchState(tuple(stage.entry(SINK, value) for stage, value in stages.items()))
    return aqm.in_longer_ticks(state, tick_ns) if tick_ns > 1 else state


def counted(target: Target) -> list[int]:
    """The marks so far of the discipline, and of the threshold."""
    cells = [target.do(target.client.read_counters(name)) for name in COUNTERS]
    return [one[SINK].packets for one in cells]


def test_a_packet_that_two_stages_would_mark_counts_once(target: Target) -> None:
    codel = entries_of(target.tick_ns, "p4-codel", {"ecn": 1, "target": 1e6, "interval": 1e6})
    target.set_up(sink=replace(PORTS[SINK], stages={ECN: 0}), more=codel.entries)
    target.shape(RATE_BPS, {"packets": 100})
    before = counted(target)
    packets = [bytes(segment(PAYLOAD, id=number, tos=CAPABLE_0)) for number in range(12)]
    came = [Ether(frame)[IP].tos & 3 for frame in target.exchange(packets)[SINK]]
    codels, thresholds = (now - old for now, old in zip(counted(target), before, strict=True))
    assert codels > 0, "CoDel marks above a microsecond"
    assert codels + thresholds == came.count(EXPERIENCED)
