"""`narrows calibrate`: what this machine can do in real time, as its own instrument judges it.

For each segment size the bottleneck's rate is doubled until a run is void (its loop was late, its
shaper off, packets lost) or its hosts no longer fill the bottleneck; then the gap between the last
good rate and the first bad one is halved a few times. A rate is given up after three bad runs. What
is written down is the highest rate at which a run was valid.
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

from narrows.testbed import catalogue
from narrows.testbed.files import make_directory
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.targets.dpdk import DPDK
from narrows.testbed.targets.dpdk import setup as dpdk

SEGMENTS_BYTES = (100, 500, 1448)
FIRST_BPS = 5_000_000
MOST_BPS = 100_000_000_000
#: Runs of a rate before it is given up.
TRIES = 3
HALVINGS = 2
LEAST_BUSY = 0.9
"""A bottleneck that its hosts keep less busy than this was not tried."""
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
    """A rate that was tried."""

    rate_bps: int
    why_not: str
    """Why it can't be trusted; empty where it can."""
    packets_per_second: float


def calibrate(seconds: int, out: Path) -> None:
    """Finds the rates by runs of so many seconds and writes them down. Raises `InputError`."""
    if seconds < 2:
        what = "expected at least 2: a shaper's error is taken over a busy second"
        raise InputError("--seconds", [Problem(str(seconds), what)])
    if catalogue.engine().dpdk_version() is None:
        raise InputError("calibrate", [Problem("", "needs libdpdk: narrows doctor")])
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
        "dpdk": catalogue.engine().dpdk_version(),
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
    """The highest rate found good and the lowest found bad above it."""
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
    """The first good run of a rate, or its last bad one: a machine that stands still for a moment
    does so at any rate, and one that is too slow for a rate is so each time.
    """
    tried = once()
    for _ in range(TRIES - 1):
        if not tried.why_not:
            break
        tried = once()
    return tried


def measure(rate_bps: int, segment_bytes: int, seconds: int) -> Tried:
    """One run. Raises `InputError` when it did not come to its end."""
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
        why_not = f"the hosts kept it only {100 * busy:.0f} % busy"
    return Tried(rate_bps, why_not, rate)
