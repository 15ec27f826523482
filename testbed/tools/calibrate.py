"""`narrows calibrate`: finds the highest rates at which this machine's real-time runs are valid.

For each segment size it doubles the bottleneck's rate until a run is void (late loop, inexact
shaper, lost packets) or the hosts no longer fill the bottleneck. It then bisects between the last
good rate and the first bad one a few times. A rate is bad after three bad runs. The result is the
highest rate with a valid run.
"""

from __future__ import annotations

import json
import math
import os
import platform
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from narrows.testbed.files import make_directory
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.targets.dpdk import DPDK
from narrows.testbed.targets.dpdk import setup as dpdk

SEGMENTS_BYTES = (100, 500, 1448)
FIRST_BPS = 5_000_000
MOST_BPS = 100_000_000_000
#: Failed runs after which a rate counts as bad.
TRIES = 3
HALVINGS = 2
LEAST_BUSY = 0.9
"""Minimum utilization: below it, the hosts did not load the bottleneck enough for a test."""
SCENARIO = """
title = "Calibration"
duration = "{seconds}s"
profile = "linux"
[bottleneck]
rate = "{rate_bps}bps"
delay = "1ms"
queue = "20ms"
[access]
rate = "100Gbps"
delay = "100us"
[telemetry]
every = 0
[[flow]]
variant = "reno"
recovery = "sack"
segment = "{segment_bytes}B"
count = 4
"""


@dataclass(frozen=True)
class Tried:
    """The result of one run at a rate."""

    rate_bps: int
    why_not: str
    """Reasons why the run is void; empty if valid."""
    packets_per_second: float


def calibrate(seconds: int, out: Path) -> None:
    """Finds the rates by runs of so many seconds and writes them to a file. Raises `InputError`."""
    from narrows.testbed import engine

    if seconds < 2:
        what = "expected at least 2, since a shaper's error is measured over a busy second"
        raise InputError("--seconds", [Problem(str(seconds), what)])
    if engine.dpdk_version() is None:
        raise InputError(
            "calibrate", [Problem("", "needs libdpdk; narrows doctor shows the remedy")]
        )
    make_directory(out.parent)
    found = {}
    for segment_bytes in SEGMENTS_BYTES:

        def attempt(rate_bps: int, segment_bytes: int = segment_bytes) -> Tried:
            def once() -> Tried:
                tried = measure(rate_bps, segment_bytes, seconds)
                verdict = tried.why_not or "valid"
                print(f"{segment_bytes} B, {rate_bps / 1e6:g} Mb/s: {verdict}", flush=True)
                return tried

            return patiently(once)

        found[segment_bytes] = search(attempt)
    content = {
        "schema": 1,
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "kernel": platform.release(),
        "load": round(os.getloadavg()[0], 1),
        "dpdk": engine.dpdk_version(),
        "seconds": seconds,
        "segments": [
            {
                "segment_bytes": size,
                "rate_bps": best.rate_bps if best else 0,
                "packets_per_second": round(best.packets_per_second) if best else 0,
                "next_rate_bps": worse.rate_bps if worse else None,
                "why_not": worse.why_not if worse else None,
            }
            for size, (best, worse) in found.items()
        ],
    }
    out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    for size, (best, _) in found.items():
        rate_bps = best.rate_bps if best else 0
        print(f"segments of {size} B: up to {rate_bps / 1e6:g} Mb/s")
    print(f"written: {out}")


def search(attempt: Callable[[int], Tried]) -> tuple[Tried | None, Tried | None]:
    """The highest good rate and the lowest bad rate above it."""
    good: Tried | None = None
    bad: Tried | None = None
    rate_bps = FIRST_BPS
    while bad is None and rate_bps <= MOST_BPS:
        tried = attempt(rate_bps)
        good, bad = (good, tried) if tried.why_not else (tried, None)
        rate_bps *= 2
    for _ in range(HALVINGS if good and bad else 0):
        assert good is not None
        assert bad is not None
        tried = attempt(math.isqrt(good.rate_bps * bad.rate_bps))
        good, bad = (good, tried) if tried.why_not else (tried, bad)
    return good, bad


def patiently(once: Callable[[], Tried]) -> Tried:
    """The first good run of a rate, or its last bad one. A brief stall can void a run at any rate;
    only a machine that is too slow fails every time.
    """
    tried = once()
    for _ in range(TRIES - 1):
        if not tried.why_not:
            break
        tried = once()
    return tried


def measure(rate_bps: int, segment_bytes: int, seconds: int) -> Tried:
    """Executes one run. Raises `InputError` if it does not finish."""
    from narrows.testbed.runs import local, worker_process
    from narrows.testbed.runs.jobs import make_jobs
    from narrows.testbed.runs.progress import Silent
    from narrows.testbed.scenario import sweep

    with tempfile.TemporaryDirectory(prefix="narrows-calibrate-") as made:
        source = Path(made) / "calibration.toml"
        fields = {"rate_bps": rate_bps, "segment_bytes": segment_bytes, "seconds": seconds}
        source.write_text(SCENARIO.format(**fields), encoding="utf-8")
        settings = dpdk.RunSettings(dpdk.setup()).as_json()
        todo = make_jobs(source, sweep.read(source), Path(made), DPDK, settings=settings)
        with worker_process.spare(DPDK) as spare:
            [outcome] = local.run_all(todo, 1, False, Silent(), spare)
    if outcome.summary is None:
        raise InputError("calibrate", [Problem("", outcome.message)])
    bottleneck = outcome.summary["bottleneck"]
    rate = bottleneck["dequeued"] / outcome.summary["duration_s"]
    why_not = outcome.message
    busy = bottleneck["utilization"] or 0.0
    if not why_not and busy < LEAST_BUSY:
        why_not = f"the hosts loaded it to only {100 * busy:.0f} %"
    return Tried(rate_bps, why_not, rate)
