"""The columns that put a queue discipline of the P4 program beside the traffic manager's."""

from __future__ import annotations

import dataclasses
import functools
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from narrows.controller import aqm
from tests.support.world import run
from tests.validation.table import Cell, Column

TEXT = """\
The same scenario with the discipline as a stage of the P4 program and in the traffic manager, in
`sim`, for 60 s: four CUBIC flows through 10 Mb/s and 42 ms, without ECN and with it. DualPI2 has
two CUBIC flows without ECN and two DCTCP flows, with `any-ect`. A cell has the P4 program's figure,
the traffic manager's, and their difference. Flows are chaotic, so the figures can't be equal."""

HEAD = """
title = "A discipline twice"
seed = 1
duration = "60s"
profile = "linux"
[bottleneck]
rate = "10Mbps"
delay = "20ms"
queue = "1000packets"
discipline = {discipline}
[access]
rate = "1Gbps"
delay = "0.5ms"
[telemetry]
every = 0
[record]
flows = "off"
"""
FLOWS = """
[[flow]]
variant = "{variant}"
ecn = {ecn}
count = {count}
start = {{ at = "0s", spread = "1s" }}
"""
PARAMETERS = {
    "p4-red": "min-th = 10, max-th = 30, mean-packet = '1500B'",
    "p4-dualpi2": "any-ect = true",
}
"""Thresholds that fit the path's BDP of 35 packets."""


@dataclasses.dataclass(frozen=True)
class Figures:
    """What a discipline did to the flows of a run."""

    delay_ms: float
    goodput_mbps: float
    drops: int
    marks: int


def scenario(discipline: str, ecn: bool) -> str:
    """The scenario's text for a discipline of the P4 program or its twin."""
    stage = discipline if aqm.is_stage(discipline) else f"p4-{discipline}"
    settings = [f'name = "{discipline}"', PARAMETERS.get(stage, "")]
    if stage == "p4-dualpi2":
        kinds = [("cubic", False, 2), ("dctcp", True, 2)]
    else:
        kinds = [("cubic", ecn, 4)]
        settings.append(f"ecn = {str(ecn).lower()}")
    head = HEAD.format(discipline=f"{{ {', '.join(filter(None, settings))} }}")
    return head + "".join(
        FLOWS.format(variant=variant, ecn=str(capable).lower(), count=count)
        for variant, capable, count in kinds
    )


@functools.cache
def figures(discipline: str, ecn: bool) -> Figures:
    """The figures of a run of 60 s."""
    with tempfile.TemporaryDirectory() as directory:
        summary = run(Path(directory) / "run", scenario(discipline, ecn)).summary
    queue = summary["bottleneck"]
    return Figures(
        queue["queue_delay_ms"]["mean"],
        sum(flow["goodput_bps"] for flow in summary["flows"]) / 1e6,
        sum(queue["drops"].values()),
        sum(queue.get("marks", {}).values()),
    )


def compare(
    name: str, least: int, within: float, ecn: bool, show: str = "{:.0f}"
) -> Callable[[str], Cell | None]:
    """The cell that compares a figure; None where both have less than `least` of it."""

    def cell(row: str) -> Cell | None:
        if row == "p4-dualpi2" and ecn:
            return None
        ours, twin = (
            float(getattr(figures(each, ecn), name)) for each in (row, row.removeprefix("p4-"))
        )
        if max(ours, twin) < least:
            return None
        off = ours / twin - 1 if twin else float("inf")
        text = f"{show.format(ours)} / {show.format(twin)} ({100 * off:+.1f} %)"
        return Cell(text, abs(off) <= within)

    return cell


def columns() -> Sequence[Column]:
    """Every figure, without ECN and with it."""
    return [
        Column(
            f"{title}{', ECN' if ecn else ''}",
            compare(name, least, within, ecn, show),
        )
        for ecn in (False, True)
        for title, name, least, within, show in (
            ("mean delay in ms", "delay_ms", 0, 0.1, "{:.2f}"),
            ("goodput in Mb/s", "goodput_mbps", 0, 0.02, "{:.3f}"),
            ("drops", "drops", 50, 0.2, "{:.0f}"),
            ("marks", "marks", 50, 0.2, "{:.0f}"),
        )
    ]


ROWS = [record["name"] for record in aqm.RECORDS]
