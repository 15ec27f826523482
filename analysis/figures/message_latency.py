"""Distribution of the latency of applications' messages, with the limits of interactive use."""

from __future__ import annotations

from typing import Final

import numpy as np

from narrows.analysis import metrics
from narrows.analysis.chart.model import Axis, Chart, Look, Mark, Panel, Rule, Trace
from narrows.analysis.chart.thin import distribution
from narrows.analysis.figures.base import (
    Figure,
    Results,
    point_label,
    seeds_note,
    series_name,
)

LIMITS_MS: Final = (100, 200)
"""The latency that users of a shared world notice, and the one that they no longer tolerate."""


def chart(results: Results) -> Chart | None:
    """A panel per point, a line per series; None if no application wrote messages."""
    facets = results.facets(results.series_key)
    panels = [Panel(_marks(results, among), point_label(point)) for point, among in facets]
    if all(isinstance(mark, Rule) for panel in panels for mark in panel.marks):
        return None
    return Chart(
        panels,
        Axis("Message latency (ms)", log=True),
        Axis("Fraction of messages", low=0.0, high=1.0, pad=(0.0, 0.02)),
        columns=3,
        height_in=1.55,
        note=seeds_note(results, "messages of {count} seeds"),
    )


def _marks(results: Results, among: Results) -> list[Mark]:
    marks: list[Mark] = []
    for index, value in enumerate(results.series):
        found = [metrics.message_latencies_ms(run) for run in among.of_series(value).runs]
        latencies = np.concatenate([np.empty(0), *found])
        if latencies.size:
            name = series_name(results, value)
            marks.append(Trace(*distribution(latencies), Look(index), name, step=True))
    name = " and ".join(f"{limit_ms} ms" for limit_ms in LIMITS_MS)
    return marks + [Rule(x=float(limit_ms), name=name) for limit_ms in LIMITS_MS]


FIGURE = Figure(
    name="message_latency",
    title="Latency of messages",
    caption="Time from an application's write until its receiver can read the message's last byte "
    "in order, for all messages read by the end of the run. Messages that had not arrived "
    "by then are left out. Dashed: 100 and 200 ms.",
    needs=("messages",),
    wants="an application that writes messages",
    chart=chart,
)
