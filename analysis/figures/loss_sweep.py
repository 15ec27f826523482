"""Goodput against random loss, with the square-root law.

Mathis, Semke, Mahdavi and Ott: The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm
(CCR 27(3), 1997): rate = MSS / RTT * C / sqrt(p), where C = sqrt(3/2) for periodic losses and an
acknowledgement for every segment.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from narrows.analysis import metrics
from narrows.analysis.chart.model import Axis, Chart, Look, Panel, Trace
from narrows.analysis.figures import against
from narrows.analysis.figures.base import Figure, Results, number, point_label, seeds_note
from narrows.analysis.load import Run
from narrows.analysis.of_summary import follow

LOSS: Final = "bottleneck.loss"
Runs = tuple[Run, ...]


def chart(results: Results) -> Chart | None:
    """A panel per point, a line per series; None if loss is not swept."""
    swept = results.valid
    if not swept.runs or LOSS not in swept.keys:
        return None
    losses = [_loss(value) for value in swept.values(LOSS)]
    none_at = min(loss for loss in losses if loss > 0) / 10
    positions = {loss: loss or none_at for loss in losses}
    return Chart(
        [
            Panel(_marks(swept, among, positions), point_label(point))
            for point, among in swept.facets(swept.series_key, LOSS)
        ],
        Axis("Random loss", pad=(0.05, 0.05), log=True,
             ticks=[(at, f"{loss:g}") for loss, at in positions.items()]),
        Axis("Goodput (Mb/s)", log=True),
        columns=2,
        height_in=1.7,
        note=seeds_note(results, "mean and range of {count} seeds"),
    )  # fmt: skip


def _marks(whole: Results, among: Results, positions: dict[float, float]) -> list[Trace]:
    def at(_: Results, part: Results, __: int, series: Any) -> Iterator[tuple[float, Runs]]:
        for value in whole.values(LOSS):
            yield positions[_loss(value)], part.of_series(series).matching({LOSS: value}).runs

    traces = against.lines(whole, among, lambda run: metrics.mean_goodput_bps(run) / 1e6, at)
    laws = {law for run in among.runs if (law := _square_root_law(run)) is not None}
    if laws:
        x, y = np.array(sorted(laws)).T
        traces.append(Trace(x, y, Look("muted", dash=1, width=0.8), "MSS/RTT · √(3/2p)"))
    return traces


def _loss(value: Any) -> float:
    return number(value) or 0.0


def _square_root_law(run: Run) -> tuple[float, float] | None:
    """The loss and the law's rate for all flows in Mb/s, limited by the link; None without loss."""
    loss = _loss(run.point.get(LOSS))
    rates = []
    for flow in run.flows:
        rtt_ms, sent = follow(flow, ("rtt_ms", "min")), int(flow.get("sent_segments", 0))
        fresh = sent - int(flow["retransmits"])
        if rtt_ms and fresh > 0:
            segment_bits = 8 * int(flow["delivered_bytes"]) / fresh
            rates.append(segment_bits / (rtt_ms * 1e3) * math.sqrt(1.5 / loss) if loss else 0.0)
    link_bps = run.summary["bottleneck"]["rate_bps"] or math.inf
    return (loss, min(sum(rates), link_bps / 1e6)) if loss and rates else None


FIGURE = Figure(
    name="loss_sweep",
    title="Random loss",
    caption="Goodput of all flows against the share of packets that the P4 program drops at "
    "random. A sweep's value without loss is at the left edge. Dashed: the square-root "
    "law (Mathis et al. 1997) with the least round trip, at most the link's rate.",
    needs=(),
    wants="a sweep over bottleneck.loss",
    chart=chart,
)
