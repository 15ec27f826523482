"""Each name's or variant's share of the goodput, with the fair share.

An example, for two flows against the rate of their link:

    narrows run scenarios/rate-change.toml --set duration=30s \
        --set 'sweep.bottleneck.rate=["5Mbps", "10Mbps", "20Mbps"]' \
        --set 'report.figures=["share"]'
"""

from __future__ import annotations

import numpy as np

from narrows.analysis.chart.model import Axis, Chart, Look, Panel, Trace
from narrows.analysis.figures import against
from narrows.analysis.figures.base import Figure, Results, point_label, seeds_note
from narrows.analysis.figures.groups import group_names, groups
from narrows.analysis.load import Run


def chart(results: Results) -> Chart | None:
    """A panel per point and series, a line per name; None if no run has two groups of flows."""
    shared = results.valid.where(lambda run: len(groups(run)) > 1)
    if not shared.runs:
        return None
    names = group_names(shared.runs)
    return Chart(
        [
            Panel(_marks(shared, among, names), point_label(point))
            for point, among in shared.facets(shared.x_key)
        ],
        against.axis(shared),
        Axis("Share of the goodput (%)", low=0.0, high=100.0, pad=(0.03, 0.03)),
        columns=2,
        height_in=1.6,
        note=seeds_note(results, "mean and range of {count} seeds"),
    )


def _marks(whole: Results, among: Results, names: list[str]) -> list[Trace]:
    at, values = against.positions(whole)
    fair, found = list[Trace](), list[Trace]()
    for index, name in enumerate(names):
        measured = np.full((len(values), 3), np.nan)
        even = np.full(len(values), np.nan)
        for row, value in enumerate(values):
            part = among.matching({whole.x_key: value} if whole.x_key else {})
            runs = [run for run in part.runs if name in groups(run)]
            if runs:
                shares = [_share_percent(run, name) for run in runs]
                measured[row] = np.mean(shares), min(shares), max(shares)
                even[row] = 100 * len(groups(runs[0])[name]) / len(runs[0].flows)
        known = ~np.isnan(even)
        if known.any():
            x, (mean, low, high) = np.array(at)[known], measured[known].T
            ranges = {"low": low, "high": high} if np.any(high > low) else {}
            found.append(Trace(x, mean, Look(index, marker="filled"), name, **ranges))
            fair.append(Trace(x, even[known], _FAIR, "fair share"))
    return fair + found


_FAIR = Look("muted", dash=1, width=0.9, marker="hollow", size=3)


def _share_percent(run: Run, name: str) -> float:
    """Share of the goodput of all flows, in %; 0 if nothing was delivered."""
    total = sum(int(flow["delivered_bytes"]) for flow in run.flows)
    own = sum(int(flow["delivered_bytes"]) for flow in groups(run)[name])
    return 100 * own / total if total else 0.0


FIGURE = Figure(
    name="share",
    title="Share of the goodput",
    caption="Share of all delivered bytes that the flows of each name delivered, or of each "
    "variant if they have no names. Grey: the fair share, their number over that of all "
    "flows.",
    needs=(),
    wants="flows of at least two names (name = in [[flow]]) or variants that share the bottleneck",
    chart=chart,
)
