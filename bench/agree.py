"""Measures the differences between `sim`, `dpdk` and `bmv2`: `python -m bench.agree` (`make
agree`).

The same scenario files run under the virtual clock, in real time on DPDK ports, and with bmv2 as
the switch. TCP through a full queue is chaotic: delaying a packet by a nanosecond changes the
pattern of losses. So the report also shows the effect of an extra microsecond on the access links
on `sim` alone: each seed adds one, on every target.

Writes `docs/reports/agreement.md`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from bench.run import commit, cpu
from narrows.testbed import engine
from narrows.testbed.targets.bmv2.switch import missing

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/reports/agreement.md"
SEEDS = (1, 2, 3)
STEP_PS = 10 * 10**9
"""Windows are compared every 10 ms."""
DUMBBELL = """
title = "{title}"
duration = "{seconds}s"
profile = "linux"
[bottleneck]
rate = "{rate}"
delay = "{delay}"
queue = "{queue}"
[access]
rate = "1Gbps"
delay = "{access_us}us"
[instrument]
poll_gap = "{poll_gap}"
[[flow]]
variant = "{variant}"
recovery = "sack"
count = {count}
start = {{ every = "100ms" }}
"""


@dataclass(frozen=True)
class Case:
    """A scenario that both targets run."""

    name: str
    rate: str
    delay: str
    queue: str
    variant: str
    count: int


CASES = [
    Case("one-reno-5M", "5Mbps", "10ms", "30packets", "reno", 1),
    Case("two-newaimd-20M", "20Mbps", "5ms", "60packets", "new-aimd", 2),
    Case("four-cubic-100M", "100Mbps", "10ms", "1bdp", "cubic", 4),
    Case("ten-reno-200M", "200Mbps", "5ms", "1bdp", "reno", 10),
]


@dataclass(frozen=True)
class Result:
    """The results of one run."""

    summary: dict[str, Any]
    cwnd: dict[int, np.ndarray[Any, np.dtype[np.float64]]]
    """Each flow's window in bytes, every `STEP_PS`."""

    @property
    def bottleneck(self) -> dict[str, Any]:
        """The bottleneck's figures."""
        found: dict[str, Any] = self.summary["bottleneck"]
        return found

    def why_void(self) -> str:
        """Reasons why the run is void; empty if valid."""
        return self.summary["invalid_reason"] or ""


def run(directory: Path, case: Case, target: str, seed: int, seconds: int, poll_gap: str) -> Result:
    """Runs a case on a target."""
    source = directory / f"{case.name}.toml"
    fields = vars(case) | {"title": case.name, "seconds": seconds, "poll_gap": poll_gap}
    fields["access_us"] = 1000 + seed
    source.write_text(DUMBBELL.format(**fields))
    out = directory / target
    command = [
        sys.executable, "-m", "narrows", "run", str(source), "--target", target,
        "--seed", str(seed), "--no-figures", "--out", str(out),
    ]  # fmt: skip
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    point = next((out / case.name).glob("[!.]*/summary.json"), None)
    if point is None:
        raise SystemExit(f"agree: {case.name} on {target}: {ran.stderr}")
    summary = json.loads(point.read_text())
    cwnd = windows(pl.read_parquet(point.parent / "flows.parquet"), seconds)
    (out / case.name).rename(out / f"{case.name}-{seed}")
    return Result(summary, cwnd)


def windows(rows: pl.DataFrame, seconds: int) -> dict[int, np.ndarray[Any, np.dtype[np.float64]]]:
    """Each flow's window over time, the last known one at each step."""
    steps = np.arange(0, seconds * 10**12, STEP_PS)
    found = {}
    for (flow,), group in rows.group_by("flow", maintain_order=True):
        at = group["time_ps"].to_numpy()
        last = np.searchsorted(at, steps, side="right") - 1
        values = group["cwnd_bytes"].to_numpy().astype(float)
        found[int(str(flow))] = np.where(last >= 0, values[last], 0.0)
    return found


def cwnd_distance(a: Result, b: Result) -> float:
    """The mean distance of the windows over time, as a share of the mean window."""
    flows = sorted(set(a.cwnd) & set(b.cwnd))
    apart = np.mean([np.abs(a.cwnd[flow] - b.cwnd[flow]).mean() for flow in flows])
    size = np.mean([(a.cwnd[flow] + b.cwnd[flow]).mean() / 2 for flow in flows])
    return float(apart / size)


MEASURES: dict[str, tuple[str, Callable[[Result], float]]] = {
    "goodput": ("Mb/s", lambda run: run.summary["aggregate_goodput_bps"] / 1e6),
    "mean queueing delay": ("ms", lambda run: run.bottleneck["queue_delay_ms"]["mean"]),
    "95 % queueing delay": ("ms", lambda run: run.bottleneck["queue_delay_ms"]["p95"]),
    "mean queue depth": ("packets", lambda run: run.bottleneck["queue_packets_mean"]),
    "drops": ("packets", lambda run: run.bottleneck["dropped"]),
}


def spread(values: Sequence[float]) -> str:
    """The mean, minimum and maximum; empty without a valid run."""
    if not values:
        return "void"
    mean = sum(values) / len(values)
    return f"{mean:.2f} ({min(values):.2f} to {max(values):.2f})"


def rows(case: Case, by_target: dict[str, list[Result]]) -> Iterator[str]:
    """The table rows of one case: `sim`, then each other target with its difference from `sim`,
    over valid runs.
    """
    virtual, *others = by_target.values()
    pairs = [
        [(a, b) for a, b in zip(virtual, runs, strict=True) if not b.why_void()] for runs in others
    ]
    for name, (unit, measure) in MEASURES.items():
        cells = [case.name, f"{name}, {unit}", spread([measure(run) for run in virtual])]
        for valid in pairs:
            there, here = [measure(a) for a, _ in valid], [measure(b) for _, b in valid]
            cells += [spread(here), apart(there, here)]
        yield table_row(cells)
    within = [cwnd_distance(a, b) for a, b in pairwise(virtual)]
    cells = [case.name, "distance of the windows", f"{spread(within)} between seeds"]
    for valid in pairs:
        across = [cwnd_distance(a, b) for a, b in valid]
        cells += [f"{spread(across)} to sim" if across else "void", "-"]
    yield table_row(cells)


def apart(there: Sequence[float], here: Sequence[float]) -> str:
    """The difference of the means."""
    if not here:
        return "-"
    means = sum(there) / len(there), sum(here) / len(here)
    return f"{100 * (means[1] / means[0] - 1):+.2f} %" if means[0] else "-"


def table_row(cells: Sequence[str]) -> str:
    """A row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def errors(case: Case, seed: int, run: Result) -> str:
    """A row with the instrument's errors."""
    instrument = run.summary["instrument"]
    bottleneck = next(
        wire for wire in instrument["wires"]
        if wire["name"] == f"{run.bottleneck['switch']} port {run.bottleneck['port']}"
    )  # fmt: skip
    gap = f"{instrument['polls']['gap_max_us']:.0f}"
    return table_row([*kept(case, seed, bottleneck), gap, run.why_void() or "valid"])


def bmv2_errors(case: Case, seed: int, run: Result) -> str:
    """A row with bmv2's errors, by the packets' stamps."""
    switch = run.summary["instrument"]["switch"]
    wire = switch["to_the_wire_us"]
    return table_row([
        *kept(case, seed, switch["bottleneck"]),
        f"{100 * switch['bottleneck']['bunched']:.2f}",
        f"{wire['p50']:.0f}, {wire['p99']:.0f}" if wire else "-",
        f"{switch['lost_before_program']}, {switch['unreported']}",
        run.why_void() or "valid",
    ])  # fmt: skip


def kept(case: Case, seed: int, bottleneck: dict[str, Any]) -> list[str]:
    """Lateness of packets at the bottleneck, and the error of its shaper."""
    late, rate = bottleneck["departure_error_us"], bottleneck["rate_error"]
    shown = f"{100 * rate['worst']:+.4f} % over {rate['windows']} s" if rate else "-"
    return [
        f"{case.name}, seed {seed}", *(f"{late[key]:.1f}" for key in ("p50", "p99", "max")), shown,
    ]  # fmt: skip


LEAD = """
Figures are means over the seeds with valid runs, with the least and the greatest. Windows are
compared every 10 ms: the mean distance, as a share of the mean window. They are compared between
two seeds on `sim`, and between the targets with the same seed. Each seed adds a microsecond to the
access links, which shows how much a small change matters.
"""
DPDK_LEAD = """
## The instrument's own error

- *Median*, *99 %* and *most*: how late packets left the bottleneck against the ideal schedule.
- *Rate off by*: the error of its shaper, over the seconds in which it was busy throughout.
- *Longest gap*: the longest time between two looks of the loop at its ports.

| run | median, us | 99 %, us | most, us | rate off by, at most | longest gap, us | |
|---|---|---|---|---|---|---|
"""
BMV2_LEAD = """
## What bmv2 gets wrong

bmv2's rate is whole packets per second, its times are whole microseconds, and an ACK costs as much
as a full segment. It fixes a packet's departure at its arrival, so a thread that wakes up late
sends all due packets at once.

- *Median*, *99 %* and *most*: how late packets left against that departure.
- *Bunched*: the packets that left within half an interval after the one before.
- *To the wire*: the time from the queue to the wire, through a second queue of 128 packets.
- *Lost*: packets lost before the program, and packets without a report.

| run | median, us | 99 %, us | most, us | rate off by, at most | bunched, % | to the wire, us (median, 99 %) | lost | |
|---|---|---|---|---|---|---|---|---|
"""  # noqa: E501


def conclusion(results: dict[Case, dict[str, list[Result]]]) -> str:
    """A sentence per target: its valid runs, and how far their means are from `sim`'s."""
    cases = [[*by_target.values()] for by_target in results.values()]
    said = []
    for number, target in enumerate(list(next(iter(results.values())))[1:], 1):
        valid = [
            [(a, b) for a, b in zip(runs[0], runs[number], strict=True) if not b.why_void()]
            for runs in cases
        ]
        total = sum(len(runs[number]) for runs in cases)
        text = f"On `{target}` {sum(map(len, valid))} of {total} runs were valid"
        off = [
            max((abs(difference(name, pairs)) for pairs in valid if pairs), default=0.0)
            for name in ("goodput", "mean queueing delay")
        ]
        near = (
            f": goodput within {off[0]:.1f} % of `sim`, mean queueing delay within {off[1]:.1f} %"
        )
        said.append(text + (near if any(valid) else "") + ".")
    return "\n".join(said)


def difference(name: str, pairs: Sequence[tuple[Result, Result]]) -> float:
    """How far a measure's mean is from that of `sim`, in percent."""
    _, measure = MEASURES[name]
    there, here = (sum(map(measure, runs)) for runs in zip(*pairs, strict=True))
    return 100 * (here / there - 1)


def page(
    results: dict[Case, dict[str, list[Result]]], seconds: int, poll_gap: str, load: float
) -> str:
    """The document."""
    version = engine.dpdk_version()
    names = list(next(iter(results.values())))
    heads = ["case", "measure", names[0]]
    heads += [head for name in names[1:] for head in (name, "apart")]
    lines = [
        f"# How far {', '.join(f'`{name}`' for name in names[:-1])} and `{names[-1]}` agree",
        "",
        conclusion(results),
        "",
        f"Made by `make agree` on {date.today()}, commit {commit()}, on {cpu()} with"
        f" {os.cpu_count()} cores.",
        f"The load was {load:.1f}, the system {platform.system()} {platform.release()}, {version}.",
        f"Each case ran {seconds} s with the seeds {', '.join(map(str, SEEDS))}.",
        f"A run is valid if the loop polled at least once in every {poll_gap}",
        "and the other limits of `[instrument]` held. If no run was valid, the figures are void.",
        *LEAD.splitlines(),
        "",
        table_row(heads),
        f"|{'---|' * len(heads)}",
    ]
    for case, by_target in results.items():
        lines += rows(case, by_target)
    for target, lead, row in (("dpdk", DPDK_LEAD, errors), ("bmv2", BMV2_LEAD, bmv2_errors)):
        if target in names:
            lines += lead.splitlines()
            for case, by_target in results.items():
                lines += map(row, [case] * len(SEEDS), SEEDS, by_target[target])
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs every case on every target and writes the document."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=int, default=10, help="of each run (10)")
    parser.add_argument("--poll-gap", default="10ms", help="the limit of a valid run (10ms)")
    parser.add_argument("--out", type=Path, default=PAGE, help="the document")
    options = parser.parse_args(arguments)
    if engine.dpdk_version() is None:
        print("agree: needs libdpdk: narrows doctor", file=sys.stderr)
        return 1
    targets = ["sim", "dpdk"]
    if lacking := missing():
        print(f"agree: without bmv2: {'; '.join(lacking)}", file=sys.stderr)
    else:
        targets.append("bmv2")
    results: dict[Case, dict[str, list[Result]]] = {}
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="narrows-agree-") as made:
        for case in CASES:
            results[case] = {target: [] for target in targets}
            for target, runs in results[case].items():
                for seed in SEEDS:
                    result = run(Path(made), case, target, seed, options.seconds, options.poll_gap)
                    runs.append(result)
                    print(f"{case.name}, {target}, seed {seed}: {result.why_void() or 'valid'}")
            print("\n".join(rows(case, results[case])))
    options.out.write_text(page(results, options.seconds, options.poll_gap, load))
    print(f"written: {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
