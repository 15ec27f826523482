"""Disciplines of the program: one count for one mark, and the copies that take scalable turns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from scapy.layers.inet import IP
from scapy.layers.l2 import Ether

from narrows.controller import aqm
from narrows.controller.stages import ECN, TELEMETRY
from narrows.controller.state import SwitchState
from narrows.traffic.scapy import FlowMetadata, HopMetadata
from tests.packets.target import PORTS, REPORTS, SINK, Target
from tests.packets.test_forwarding import segment
from tests.packets.test_telemetry import (
    CAPABLE_0,
    CAPABLE_1,
    EXPERIENCED,
    NOT_CAPABLE,
    PACKET_BYTES,
    PACKETS_PER_S,
    RATE_BPS,
)
from tests.support.real_time import Machine

COUNTERS = ("NarrowsEgress.after_queue.signal.aqm_marks", "NarrowsEgress.mark_ecn.ecn_marks")
SCALABLE = 10
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


def test_scalable_packets_take_the_classic_queues_turns(target: Target, machine: Machine) -> None:
    """Ten scalable packets arrive, then a classic one, which leaves after as many intervals."""
    passive = {"alpha": 0.0, "beta": 0.0, "min-th": 4e12}
    state = aqm.with_copies(entries_of(target.tick_ns, "p4-dualpi2", passive))
    target.set_up(sink=replace(PORTS[SINK], stages={TELEMETRY: 1}), more=state.entries)
    target.do(target.client.write(SwitchState(clone_sessions=state.clone_sessions)))
    target.shape(RATE_BPS, {"packets": 100})
    kinds = [CAPABLE_1] * SCALABLE + [NOT_CAPABLE]
    out = target.exchange(
        [bytes(segment(PAYLOAD, id=number, tos=tos)) for number, tos in enumerate(kinds)]
    )
    sent = [Ether(frame)[IP].id for frame in out[SINK]]
    assert sorted(sent) == [*range(SCALABLE + 1)], "each packet leaves once, and no copy does"
    reports = [Ether(frame) for frame in out[REPORTS]]
    queues = [report[HopMetadata].queue_id for report in reports]
    assert sorted(queues) == [0] + [1] * SCALABLE
    classic = reports[queues.index(0)][FlowMetadata]
    with machine.figures():
        waited_ms = classic.queue_delay_ns * target.tick_ns / 1e6
        assert waited_ms == pytest.approx(SCALABLE * 1000 / PACKETS_PER_S, abs=5)
