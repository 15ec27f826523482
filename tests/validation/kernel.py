"""Each variant three ways through one bottleneck: our TCP in `sim`, on `dpdk`, and the kernel's.

`sim` runs when the table is made; what needs a quarter of an hour, root and a kernel was recorded,
as ns-2's side is: `python -m tests.validation.kernel [VARIANT]` records it anew. A run that the
instrument voids is taken again; one that stays void is recorded as void. Recovery is `linux` on our
side, since it is the kernel's. Windows are compared twice: instant by instant, and by how long each
was held (both sorted), which leaves out that two sawtooths are out of step.
"""

from __future__ import annotations

import functools
import json
import platform
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench.agree import STEP_PS, windows
from narrows.analysis.chart import paper
from narrows.analysis.chart.model import Chart, Look, Panel, Trace, from_zero, time_axis
from narrows.testbed import catalogue, kernel_variants
from narrows.testbed.runs.jobs import make_jobs
from narrows.testbed.runs.local import run_one
from narrows.testbed.scenario.sweep import read
from narrows.testbed.targets import HOSTS, TARGETS
from tests.interop import test_kernel_variants
from tests.support.world import RunDirectory
from tests.validation.cases import ROOT
from tests.validation.kernel_reasons import REASONS
from tests.validation.table import Cell, Column, Section

RECORDED = ROOT / "tests/validation/kernel.json"
FIGURE = ROOT / "docs/figures/kernel.png"
ANCHORS = ("reno", "cubic", "bbr")
"""The variants that every distribution's kernel has."""
WAYS = {"sim": ("sim", "narrows"), "dpdk": ("dpdk", "narrows"), "kernel": ("dpdk", "linux")}
"""Target and hosts of each."""
SECONDS = 15
THINNED = 5
"""Of the windows every 10 ms so many make one that is kept."""
TAKES = 3
"""Maximum number of attempts of a void run."""
MSS = 1448
SCENARIO = """
title = "{variant} three ways"
duration = "{seconds}s"
profile = "linux"
[bottleneck]
rate = "10Mbps"
delay = "20ms"
queue = "35packets"
[access]
rate = "1Gbps"
delay = "1ms"
[[flow]]
variant = "{variant}"
recovery = "linux"
{keys}
[instrument]
poll_gap = "100ms"
"""
KEYS = {"app-tcp": "params = {{ rate_mbps = 8 }}"}
"""What a variant is not the same without."""

MODELS = {"bbr": "window and pace"}
"""What follows from a model that the socket shows (tests/interop/test_bbr.py)."""
TOLERANCES = {"goodput_mbps": 0.03, "queue_ms": 0.25}
"""Allowed distance of the kernel from `sim` without a reason, as a share."""


@dataclass(frozen=True)
class Measured:
    """The results of one run."""

    goodput_mbps: float
    queue_ms: float
    """Mean queueing delay."""
    retransmits: int
    cwnd_segments: list[float]
    """The window every `STEP_PS * THINNED`."""
    void: str
    """Reasons why the run is void; empty if valid."""


Recording = dict[str, dict[str, Measured]]
"""By variant, then by way."""


def rows() -> list[str]:
    """The variants that a kernel can have."""
    known = {*ANCHORS, *kernel_variants.ours()}
    return [str(r["name"]) for r in catalogue.records("variants") if r["name"] in known]


def measure_all(only: str | None = None) -> None:
    """Measures every variant every way, or one, writes it down and draws it."""
    found = dict(recorded()) if only else {}
    for variant in [only] if only else rows():
        found[variant] = {way: measure(variant, way) for way in WAYS}
        print(f"{variant}: {text_of(found[variant])}", flush=True)
    lines = [
        f"  {json.dumps(variant)}: {json.dumps({way: asdict(run) for way, run in by_way.items()})}"
        for variant, by_way in found.items()
    ]
    release = json.dumps(platform.release())
    RECORDED.write_text(f'{{"kernel": {release}, "runs": {{\n' + ",\n".join(lines) + "\n}}\n")
    FIGURE.write_bytes(paper.files(chart(found), ["png"])["png"])


@functools.cache
def measure(variant: str, way: str) -> Measured:
    """One run, repeated while it is void."""
    target, hosts = (TARGETS[WAYS[way][0]], HOSTS[WAYS[way][1]])
    keys = KEYS.get(variant, "").format()
    with tempfile.TemporaryDirectory(prefix="narrows-validate-") as made:
        source = Path(made) / "three-ways.toml"
        source.write_text(SCENARIO.format(variant=variant, seconds=SECONDS, keys=keys))
        for _ in range(TAKES):
            settings = target.settings(hosts, {"processes": False})
            [job] = make_jobs(source, read(source, []), Path(made), target, hosts, settings)
            job.final.parent.mkdir(exist_ok=True)
            outcome = run_one(job)
            if outcome.state == "done":
                break
        if outcome.summary is None:
            raise RuntimeError(f"{variant}, {way}: {outcome.message}")
        run = RunDirectory(job.final)
        [cwnd] = windows(run.table("flows"), SECONDS).values()
    [flow] = outcome.summary["flows"]
    delay_ms = outcome.summary["bottleneck"]["queue_delay_ms"]
    assert delay_ms is not None
    return Measured(
        round(flow["goodput_bps"] / 1e6, 3),
        round(delay_ms["mean"], 2),
        flow["retransmits"],
        [round(value / MSS, 1) for value in cwnd[::THINNED]],
        outcome.summary["invalid_reason"] or "",
    )


@functools.cache
def recorded() -> Recording:
    """The last measurement."""
    content = json.loads(RECORDED.read_text())["runs"]
    return {
        variant: {way: Measured(**run) for way, run in by_way.items()}
        for variant, by_way in content.items()
    }


def three_ways(variant: str) -> dict[str, Measured] | None:
    """A variant's runs, with `sim` as it is now; None if nothing was recorded."""
    by_way = recorded().get(variant)
    return by_way and by_way | {"sim": measure(variant, "sim")}


def release() -> str:
    """The kernel that was measured."""
    return str(json.loads(RECORDED.read_text())["kernel"])


Windows = npt.NDArray[np.float64]


def distance(a: Sequence[float], b: Sequence[float]) -> float:
    """The mean distance of two windows, instant by instant, as a share of the mean window."""
    left, right = np.array(a), np.array(b)
    return float(np.abs(left - right).mean() / ((left + right).mean() / 2))


def distances(a: Measured, b: Measured) -> tuple[float, float]:
    """The same as they are, and sorted."""
    there, here = a.cwnd_segments, b.cwnd_segments
    return distance(there, here), distance(sorted(there), sorted(here))


def text_of(by_way: dict[str, Measured]) -> str:
    """One line on a variant."""
    return "; ".join(
        f"{way} {run.goodput_mbps:.2f} Mb/s, {run.queue_ms:.1f} ms, {run.retransmits} again"
        + (f" (void: {run.void})" if run.void else "")
        for way, run in by_way.items()
    )


def by_arithmetic(row: str) -> Cell | None:
    """Whether the kernel's sockets are checked against a variant's arithmetic, loss by loss."""
    if row in test_kernel_variants.RULES:
        return Cell("cut and growth")
    if row in test_kernel_variants.BOUNDS:
        return Cell("cut within bounds")
    return Cell(MODELS[row]) if row in MODELS else None


def values(key: str, digits: int) -> Column:
    """A column of one measure, the three ways of it."""

    def cell(row: str) -> Cell | None:
        by_way = three_ways(row)
        if by_way is None:
            return None
        numbers = {way: getattr(run, key) for way, run in by_way.items()}
        text = " / ".join(f"{number:.{digits}f}" for number in numbers.values())
        most = TOLERANCES.get(key)
        is_near = most is None or abs(numbers["kernel"] - numbers["sim"]) <= most * numbers["sim"]
        return Cell(text, is_near or row in REASONS)

    return Column(
        {"goodput_mbps": "goodput (Mb/s)", "queue_ms": "mean queue (ms)"}.get(key, key), cell
    )


def apart(way: str) -> Column:
    """A column of the windows' distance to `sim`."""

    def cell(row: str) -> Cell | None:
        by_way = three_ways(row)
        if by_way is None:
            return None
        by_time, sorted_ = distances(by_way["sim"], by_way[way])
        note = REASONS.get(row, "") if way == "kernel" else ""
        void = " void" if by_way[way].void else ""
        return Cell(f"{by_time:.2f}, sorted {sorted_:.2f}{void}", note=note)

    return Column(f"windows of {way} from sim", cell)


def section() -> Section:
    """The table."""
    return Section(
        "The kernel's TCP beside ours",
        f"""\
One flow runs for {SECONDS} s through 10 Mb/s, 42 ms and a queue of 35 packets. Cells show our TCP
in `sim` / on `dpdk` / the kernel's TCP ({release()}) in namespaces behind the same switch.
{", ".join(ANCHORS)} are the kernel's own variants, the others ours in eBPF.

A window's distance is the mean difference every 50 ms, as a share of the mean window. *Sorted*
compares the windows in order of size, which ignores that two sawtooths are out of step. A bold cell
is not explained: goodput off by more than 3 %, or a mean queue by more than 25 %.

![Windows over time](../figures/kernel.png)""",
        "variant",
        rows(),
        [
            values("goodput_mbps", 2),
            values("queue_ms", 1),
            values("retransmits", 0),
            apart("dpdk"),
            apart("kernel"),
        ],
    )


def chart(found: Recording) -> Chart:
    """The windows over time, a panel per variant."""
    looks = {"sim": Look(0, width=1.6, opacity=0.5), "dpdk": Look(1, width=0.8), "kernel": Look(2)}
    step_s = STEP_PS * THINNED / 1e12
    panels = []
    for variant, by_way in found.items():
        marks = []
        for way, run in by_way.items():
            y = np.array(run.cwnd_segments)
            x = np.array([step * step_s for step in range(len(y))])
            marks.append(Trace(x, y, looks[way], way, step=True))
        panels.append(Panel(marks, variant))
    return Chart(
        panels,
        time_axis(shared="all"),
        from_zero("Window (segments)", shared="none"),
        height_in=1.1,
    )


if __name__ == "__main__":
    measure_all(*sys.argv[1:2])
