"""Gain of a variant, and loss of the standard TCP that competes with it.

The metric of the common TCP evaluation suite (draft-irtf-iccrg-tcpeval-01, section 6.1.3): two
camps have the same traffic. With T the delivered bytes of a camp, the gain is T(second, mixed) /
T(second, alike) and the loss T(first, mixed) / T(first, alike), where *alike* is the run in which
both camps have the first's variant.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from narrows.analysis.chart.model import Axis, Chart, Look, Panel, Rule, Trace
from narrows.analysis.figures.base import Figure, Results, point_label, seeds_note, series_name
from narrows.analysis.load import Run


def chart(results: Results) -> Chart | None:
    """A panel per point, a mark per series and seed; None without runs of both kinds."""
    camps = results.valid.where(lambda run: len(run.named) == 2)
    mixed = camps.where(lambda run: len(_variants(run)) > 1)
    alike = camps.where(lambda run: len(_variants(run)) == 1)
    if not mixed.runs or not alike.runs:
        return None
    rules = [Rule(x=1.0), Rule(y=1.0)]
    facets = camps.facets(camps.series_key)
    return Chart(
        [
            Panel([*rules, *_marks(mixed, point, alike.matching(point))], point_label(point))
            for point, _ in facets
        ],
        Axis("Loss L: first camp's bytes over those among its like"),
        Axis("Gain G: second camp's"),
        columns=min(len(facets), 3),
        height_in=1.8,
        note=seeds_note(results, "{count} seeds"),
    )


def _variants(run: Run) -> set[str]:
    return {str(flow["variant"]) for flows in run.named.values() for flow in flows}


def _marks(mixed: Results, point: dict[str, Any], alike: Results) -> list[Trace]:
    traces = []
    base = {run.seed: _delivered_bytes(run) for run in alike.runs}
    among = mixed.matching(point)
    for index, value in enumerate(mixed.series):
        runs = [run for run in among.of_series(value).runs if run.seed in base]
        if runs:
            loss, gain = np.array([_over(_delivered_bytes(run), base[run.seed]) for run in runs]).T
            look = Look(index, line=False, marker="filled", size=4.5)
            labels = [f"seed {run.seed}" for run in runs]
            traces.append(Trace(loss, gain, look, series_name(mixed, value), labels=labels))
    return traces


def _delivered_bytes(run: Run) -> list[int]:
    """For each camp, in the scenario's order."""
    return [sum(int(flow["delivered_bytes"]) for flow in flows) for flows in run.named.values()]


def _over(mixed: list[int], alike: list[int]) -> list[float]:
    """For each camp, its value in the one run over that in the other; 0 if that is 0."""
    return [own / other if other else 0.0 for own, other in zip(mixed, alike, strict=True)]


FIGURE = Figure(
    name="gain_loss",
    title="Gain against loss",
    caption="Two camps have the same traffic; the second has another variant. Gain: bytes that "
    "the second camp delivers, over its bytes if both camps have the first's variant. "
    "Loss: the same ratio for the first camp. Left of the upright line the first camp "
    "loses.",
    needs=(),
    wants="flows of two names (name = in [[flow]]), in runs with one variant and with two",
    chart=chart,
)
