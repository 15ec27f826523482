"""Goodput against base round-trip time, for flows that share a bottleneck."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from narrows.analysis.chart.model import Axis, Chart, Look, Panel, Trace, from_zero
from narrows.analysis.figures.base import Figure, Results, point_label, seeds_note, series_name
from narrows.analysis.load import Run
from narrows.analysis.of_summary import follow

if TYPE_CHECKING:
    from narrows.schema.summary import FlowSummary


def chart(results: Results) -> Chart | None:
    """A panel per point, a point per flow of each seed; None if all paths have the same length."""
    mixed = results.valid.where(_has_several_rtts)
    if not mixed.runs:
        return None
    return Chart(
        [
            Panel(_marks(mixed, among), point_label(point))
            for point, among in mixed.facets(mixed.series_key)
        ],
        Axis("Least round-trip time of the flow (ms)", log=True),
        from_zero("Goodput (Mb/s)"),
        height_in=1.6,
        note=seeds_note(results, "flows of {count} seeds"),
    )


def _has_several_rtts(run: Run) -> bool:
    if not run.scenario.get("link"):
        return False  # In a dumbbell the paths are equal: only the queues differ.
    least = [rtt for flow in run.flows if (rtt := _rtt_ms(flow)) is not None]
    return len(least) > 1 and max(least) > 1.2 * min(least)


def _rtt_ms(flow: FlowSummary) -> float | None:
    return follow(flow, ("rtt_ms", "min"))


def _marks(whole: Results, among: Results) -> list[Trace]:
    traces = []
    for index, value in enumerate(whole.series):
        flows = [(flow, run.seed) for run in among.of_series(value).runs for flow in run.flows]
        known = [
            (rtt, float(flow["goodput_bps"]) / 1e6, f"flow {flow['id']}, seed {seed}")
            for flow, seed in flows
            if (rtt := _rtt_ms(flow)) is not None
        ]
        if known:
            x, y, labels = zip(*sorted(known), strict=True)
            look = Look(index, line=False, marker="filled", size=3.5, opacity=0.8)
            name = series_name(whole, value)
            traces.append(Trace(np.array(x), np.array(y), look, name, labels=labels))
    return traces


FIGURE = Figure(
    name="rtt_fairness",
    title="Fairness between round-trip times",
    caption="Goodput of each flow against the least round trip it saw, in runs whose flows' paths "
    "differ by more than a fifth.",
    needs=(),
    wants="a topology ([[link]]) whose paths differ by more than a fifth",
    chart=chart,
)
