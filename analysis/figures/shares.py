"""A map of the goodput shares of every pair of variants that shared a bottleneck."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from narrows.analysis.chart.model import Axis, Cells, Chart, Panel
from narrows.analysis.figures.base import Figure, Results, point_label
from narrows.analysis.load import Run, natural_key


def chart(results: Results) -> Chart | None:
    """A panel per point without the variants; None if fewer than three ran with others."""
    pairs = results.valid.where(lambda run: len(_variants(run)) <= 2 <= len(run.flows))
    names = sorted({name for run in pairs.runs for name in _variants(run)}, key=natural_key)
    meetings = {frozenset(_variants(run)) for run in pairs.runs if len(_variants(run)) == 2}
    if len(meetings) < 2:
        return None
    panels = [
        Panel([_cells(names, _shares(among, names))], point_label(point))
        for point, among in _points(pairs)
    ]
    ticks = [(float(position), name) for position, name in enumerate(names)]
    return Chart(
        panels,
        Axis("against", pad=(0.0, 0.0), ticks=ticks),
        Axis("Share of", pad=(0.0, 0.0), ticks=ticks, reverse=True),
        columns=1 if len(names) > 8 else 2,
        height_in=max(2.2, 0.21 * len(names) + 0.6),
    )


def _cells(names: list[str], shares: npt.NDArray[np.float64]) -> Cells:
    return Cells(names, names, shares, (0.0, 1.0), "Share of the goodput", two_sided=True)


def _variants(run: Run) -> list[str]:
    return sorted({str(flow["variant"]) for flow in run.flows})


def _points(results: Results) -> list[tuple[dict[str, Any], Results]]:
    """The combinations of the keys that do not choose variants, each with its runs."""
    return results.facets(*(key for key in results.keys if _says_who(results, key)))


def _says_who(results: Results, key: str) -> bool:
    """Whether different pairs ran at the values of this key."""
    of_value = [results.matching({key: value}) for value in results.values(key)]
    pairs = [{tuple(_variants(run)) for run in found.runs} for found in of_value]
    return any(met != pairs[0] for met in pairs)


def _shares(results: Results, names: list[str]) -> npt.NDArray[np.float64]:
    """The mean share of each variant (row) against each (column); NaN if they never met."""
    sums, counts = np.zeros((len(names), len(names))), np.zeros((len(names), len(names)))
    for run in results.runs:
        total = sum(float(flow["goodput_bps"]) for flow in run.flows)
        if len(_variants(run)) == 2 and total:
            one, other = (names.index(name) for name in _variants(run))
            own = [float(f["goodput_bps"]) for f in run.flows if f["variant"] == names[one]]
            for row, column, part in ((one, other, sum(own)), (other, one, total - sum(own))):
                sums[row, column] += part / total
                counts[row, column] += 1
    return np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)


FIGURE = Figure(
    name="shares",
    title="Shares in pairs",
    caption="Share of the goodput that the variant at the left took from a bottleneck that it "
    "shared with the variant below, mean over the seeds and over who started first; 0.5 is even.",
    needs=(),
    wants="runs of at least two pairs of variants that share the bottleneck",
    chart=chart,
)
