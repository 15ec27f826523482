"""No flow's throughput exceeds the rate of its link, in any committed scenario."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from narrows.analysis import metrics
from narrows.analysis.load import Run
from narrows.testbed import engine
from narrows.testbed.scenario import plan, sweep
from narrows.testbed.scenario.traces import links
from tests.support.world import ROOT

SCENARIOS = sorted((ROOT / "scenarios").glob("**/*.toml"))
DURATION = "1500ms"
OTHERS = {
    "rate-change": "45s", "dial-up": "60s",
    "multiple-bottlenecks": "700ms", "trans-oceanic": "500ms", "data-center": "500ms",
}  # fmt: skip
"""Scenarios whose events or first packets come later, and those with many packets."""
BIN_PS = metrics.PS_PER_S // 10


def shortened(path: Path, out: Path) -> Run:
    """The last point of a scenario, run briefly in this process."""
    duration = OTHERS.get(path.stem, DURATION)
    point = sweep.read(path, [("duration", duration), ("record.queue", True)])[-1]
    made = json.dumps(plan.make_plan(point.scenario, str(path)))
    summary: Any = engine.run(made, str(out), None)
    record: Any = {"scenario": point.scenario.resolved(), "point": point.values}
    return Run(out, record, summary)


def trace_rates_bps(run: Run, path: Path) -> list[tuple[float, float]]:
    """The rates of the trace that the bottleneck follows, until the end of the run."""
    trace = links.read(path.parent / run.scenario["bottleneck"]["trace"])
    times = range(0, run.duration_ps + 1, trace.period_ps)
    return [
        ((start + at) / metrics.PS_PER_S, float(bps)) for start in times for at, bps in trace.steps
    ]


def most_bps(run: Run, rates: list[tuple[float, float]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Maximum that the link can send in each bin: the integral of its rate over the bin."""
    edges = metrics.bin_edges_ps(run.duration_ps, BIN_PS) / metrics.PS_PER_S
    at = [time for time, _ in rates] + [max(float(edges[-1]), rates[-1][0])]
    bits = np.cumsum([0.0, *(bps * (at[i + 1] - at[i]) for i, (_, bps) in enumerate(rates))])
    most: np.ndarray[Any, np.dtype[np.float64]]
    most = np.diff(np.interp(edges, at, bits)) * (metrics.PS_PER_S / BIN_PS)
    return most


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_throughput_is_at_most_the_link_rate(path: Path, tmp_path: Path) -> None:
    run = shortened(path, tmp_path)
    has_trace = run.scenario.get("bottleneck", {}).get("trace") is not None
    rates = trace_rates_bps(run, path) if has_trace else metrics.link_rates_bps(run)
    most = most_bps(run, rates)
    flows = metrics.flow_throughput_bps(run, BIN_PS)
    assert len(most) and len(flows), "something was sent"
    for flow, own in [*metrics.by_flow(flows), (0, metrics.throughput_bps(run, BIN_PS))]:
        # A packet in transmission keeps the rate at which it started when the link's rate changes.
        # On a link with a trace it counts at its start.
        excess = own["bps"].to_numpy() - most * (1 + 1e-6)
        changed = np.append(False, np.diff(most) != 0) | has_trace
        allowed = np.where(changed | np.roll(changed, -1), 1538 * 8 / (BIN_PS / 1e12), 0.0)
        assert (excess <= allowed).all(), f"flow {flow} of {run.record['point']}"
