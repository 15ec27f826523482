"""Summarizes the results of runs in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from narrows.analysis import metrics
from narrows.analysis.figures.base import Results, series_name
from narrows.analysis.figures.groups import groups
from narrows.analysis.load import Run

MOST_LINES: Final = 12
"""Maximum number of series or groups; more are in the tables."""


def sentences(results: Results) -> list[str]:
    """A summary: for a single run the flows' results, else those of each series."""
    counted = results.valid.runs
    if not counted:
        return ["No run is valid."]
    if len(counted) == 1:
        return [*_of_link("The link", counted), *_of_groups(counted[0])][:MOST_LINES]
    lines = []
    for value in results.series:
        runs = results.valid.of_series(value).runs
        if runs:
            lines += _of_link(series_name(results, value) or "The link", runs)
    return [*lines[:MOST_LINES], *_least_delay(results)]


def _of_link(who: str, runs: Sequence[Run]) -> list[str]:
    """Use, delay and loss of some runs, as ranges."""
    told = [
        ("goodput", _span([metrics.mean_goodput_bps(run) / 1e6 for run in runs], "Mb/s")),
        ("link use", _span([metrics.link_use_percent(run) for run in runs], "%")),
        ("mean queueing delay", _span([metrics.mean_queue_delay_ms(run) for run in runs], "ms")),
        ("loss", _span([metrics.loss_percent(run) for run in runs], "%")),
    ]
    known = [f"{what} {span}" for what, span in told if span]
    return [f"{who}: {', '.join(known)}."] if known else []


def _of_groups(run: Run) -> list[str]:
    """The bytes that the flows of each name or variant delivered."""
    found = groups(run)
    total = sum(int(flow["delivered_bytes"]) for flow in run.flows)
    if not total or len(run.flows) < 2:
        return []
    lines = []
    for name, flows in found.items():
        own = sum(int(flow["delivered_bytes"]) for flow in flows)
        many = f"{len(flows)} flow{'s' * (len(flows) > 1)}"
        fair = 100 * len(flows) / len(run.flows)
        lines.append(
            f"{name}: {many}, {100 * own / total:.3g} % of the goodput (fair: {fair:.3g} %)."
        )
    return lines


def _least_delay(results: Results) -> list[str]:
    """The series with the lowest mean queueing delay, over the runs of all its points."""
    means = {}
    for value in results.series if results.series_key else []:
        delays = [metrics.mean_queue_delay_ms(run) for run in results.valid.of_series(value).runs]
        known = [delay for delay in delays if delay is not None]
        if known:
            means[series_name(results, value)] = float(np.mean(known))
    if len(means) < 2:
        return []
    least = min(means, key=means.__getitem__)
    return [f"{least} has the least mean queueing delay over all points: {means[least]:.3g} ms."]


def _span(values: Sequence[float | None], unit: str) -> str:
    """The minimum and the maximum, with three digits each; empty without a value."""
    known = [value for value in values if value is not None]
    if not known:
        return ""
    low, high = f"{min(known):.3g}", f"{max(known):.3g}"
    return f"{low} {unit}" if low == high else f"{low} to {high} {unit}"
