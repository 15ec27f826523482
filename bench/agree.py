"""How far `sim` and `dpdk` differ: `python -m bench.agree`, which `make agree` runs.

The same scenario files run under the virtual clock and in real time on DPDK ports. TCP through a
full queue is chaotic: a packet a nanosecond later ends in another pattern of losses. So beside the
difference between the targets stands what a microsecond more on the access links makes on `sim`
alone: each seed has one more, on both targets. Writes `docs/agreement.md`.
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
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from bench.run import commit, cpu
from testbed import catalogue

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/agreement.md"
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
    """What one run came to."""

    summary: dict[str, Any]
    cwnd: dict[int, np.ndarray[Any, np.dtype[np.float64]]]
    """Each flow's window in bytes, every `STEP_PS`."""

    @property
    def bottleneck(self) -> dict[str, Any]:
        """The bottleneck's figures."""
        found: dict[str, Any] = self.summary["bottleneck"]
        return found

    def why_void(self) -> str:
        """Why the instrument voids it; empty where it does not."""
        return self.summary["invalid_reason"] or ""


def run(directory: Path, case: Case, target: str, seed: int, seconds: int, poll_gap: str) -> Result:
    """Runs a case on a target."""
    source = directory / f"{case.name}.toml"
    fields = vars(case) | {"title": case.name, "seconds": seconds, "poll_gap": poll_gap}
    fields["access_us"] = 1000 + seed
    source.write_text(DUMBBELL.format(**fields))
    out = directory / target
    command = [
        sys.executable, "-m", "testbed.cli", "run", str(source), "--target", target,
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
    "drops": ("packets", lambda run: run.bottleneck["dropped"]),
}


def spread(values: Sequence[float]) -> str:
    """The mean, and the least and greatest where they differ."""
    mean = sum(values) / len(values)
    return f"{mean:.2f} ({min(values):.2f} to {max(values):.2f})"


def rows(case: Case, by_target: dict[str, list[Result]]) -> Iterator[str]:
    """A table's rows of one case."""
    virtual, real = by_target["sim"], by_target["dpdk"]
    for name, (unit, measure) in MEASURES.items():
        there, here = [measure(run) for run in virtual], [measure(run) for run in real]
        means = sum(there) / len(there), sum(here) / len(here)
        apart = f"{100 * (means[1] / means[0] - 1):+.2f} %" if means[0] else "-"
        yield f"| {case.name} | {name}, {unit} | {spread(there)} | {spread(here)} | {apart} |"
    across = [cwnd_distance(a, b) for a, b in zip(virtual, real, strict=True)]
    within = [cwnd_distance(a, b) for a, b in pairwise(virtual)]
    yield (
        f"| {case.name} | distance of the windows | {spread(within)} between seeds | "
        f"{spread(across)} to sim | - |"
    )


def errors(case: Case, seed: int, run: Result) -> str:
    """A row of what the instrument was off by."""
    instrument = run.summary["instrument"]
    bottleneck = next(
        wire for wire in instrument["wires"]
        if wire["name"] == f"{run.bottleneck['switch']} port {run.bottleneck['port']}"
    )  # fmt: skip
    late, rate = bottleneck["departure_error_us"], bottleneck["rate_error"]
    shown = f"{100 * rate['worst']:+.4f} % over {rate['windows']} s" if rate else "-"
    return (
        f"| {case.name}, seed {seed} | {late['p50']:.1f} | {late['p99']:.1f} | {late['max']:.1f} | "
        f"{shown} | {instrument['polls']['gap_max_us']:.0f} | {run.why_void() or 'valid'} |"
    )


def page(
    results: dict[Case, dict[str, list[Result]]], seconds: int, poll_gap: str, load: float
) -> str:
    """The document."""
    version = catalogue.engine().dpdk_version()
    lines = [
        "# How far `sim` and `dpdk` agree",
        "",
        f"`make agree`, commit {commit()}: {cpu()}, {os.cpu_count()} cores, load {load:.1f}, "
        f"{platform.system()} {platform.release()}, {version}. Each case ran {seconds} s with the "
        f"seeds {', '.join(map(str, SEEDS))}; a run counts as valid when the loop never looked "
        f"away for more than {poll_gap} and the other limits of `[instrument]` held.",
        "",
        "Means over the seeds, with the least and the greatest. Windows are compared every 10 ms:",
        "the mean distance as a share of the mean window; between two seeds on `sim` alone, and",
        "between the targets with the same seed. Each seed has a microsecond more on the access",
        "links, which says how much of a difference so little makes.",
        "",
        "| case | measure | sim | dpdk | apart |",
        "|---|---|---|---|---|",
    ]
    for case, by_target in results.items():
        lines += rows(case, by_target)
    lines += [
        "",
        "## The instrument's own error",
        "",
        "How late packets left the bottleneck against the ideal schedule, its shaper's error over",
        "the seconds in which it was busy throughout, and the longest time between two looks.",
        "",
        "| run | median, us | 99 %, us | most, us | rate off by, at most | longest gap, us | |",
        "|---|---|---|---|---|---|---|",
    ]
    for case, by_target in results.items():
        lines += [
            errors(case, seed, run) for seed, run in zip(SEEDS, by_target["dpdk"], strict=True)
        ]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs every case on both targets and writes the document."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=int, default=10, help="of each run (10)")
    parser.add_argument("--poll-gap", default="10ms", help="the limit of a valid run (10ms)")
    parser.add_argument("--out", type=Path, default=PAGE, help="the document")
    options = parser.parse_args(arguments)
    if catalogue.engine().dpdk_version() is None:
        print("agree: needs libdpdk: narrows doctor", file=sys.stderr)
        return 1
    results: dict[Case, dict[str, list[Result]]] = {}
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="narrows-agree-") as made:
        for case in CASES:
            results[case] = {"sim": [], "dpdk": []}
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
