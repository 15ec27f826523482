"""The look of flows in figures with a line per flow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from narrows.analysis import metrics
from narrows.analysis.chart import style
from narrows.analysis.chart.model import Look, Trace
from narrows.analysis.load import Run
from narrows.analysis.metrics import PS_PER_S

if TYPE_CHECKING:
    from narrows.schema.summary import FlowSummary


@dataclass(frozen=True)
class Flows:
    """The flows of all panels of a figure: one look per flow id, the same in every panel.

    Up to eight flows have a colour and dashes each. More flows are thin lines; in runs with several
    variants, the colour shows the variant.
    """

    runs: Sequence[Run]

    @cached_property
    def ids(self) -> list[int]:
        """Every flow's id."""
        return sorted({int(flow["id"]) for run in self.runs for flow in run.flows})

    @cached_property
    def many(self) -> bool:
        """Whether there are too many flows to distinguish."""
        return len(self.ids) > len(style.COLOURS)

    @cached_property
    def mixed(self) -> list[str]:
        """The variants that run side by side; empty if every run has only one."""
        sets = [{str(flow["variant"]) for flow in run.flows} for run in self.runs]
        return sorted(set().union(*(variants for variants in sets if len(variants) > 1)))

    def look(self, flow: FlowSummary, width: float = 0.8) -> Look:
        """The look of the line of a flow in a summary."""
        if not self.many:
            return Look(self.ids.index(int(flow["id"])), width=width)
        mixed = self.mixed
        index = mixed.index(flow["variant"]) if flow["variant"] in mixed else 0
        return Look(index, dash=0, width=0.4, opacity=0.5)

    def name(self, flow: FlowSummary) -> str:
        """Its entry in the legend: `flow 1`, with its variant if variants run side by side."""
        mixed = self.mixed
        if self.many:
            return f"each {flow['variant']} flow" if flow["variant"] in mixed else "each flow"
        number = int(flow["id"])
        found = {f["variant"] for run in self.runs for f in run.flows if f["id"] == number}
        return f"flow {number} ({found.pop()})" if mixed and len(found) == 1 else f"flow {number}"


def flow_ends_ps(run: Run, known: str | None = None) -> dict[int, int]:
    """The time in ps of the last row of each flow in `flows`: of those with a value in the column
    `known`, if one is named.
    """
    columns = ("time_ps",) if known is None else ("time_ps", known)
    ends = dict[int, int]()
    for flow, rows in metrics.flow_parts(run, *columns):
        found = rows if known is None else rows.drop_nulls(known)
        if len(found):
            ends[flow] = int(found["time_ps"][-1])
    return ends


# Rates


def rates_of(run: Run, rates: pl.DataFrame, flows: Flows, bin_ps: int) -> list[Trace]:
    """Rates (`flow`, `time_ps`, `bps`) as a line per flow, or as sums for many flows."""
    return _sums(run, rates, flows.mixed) if flows.many else _each(run, rates, flows, bin_ps)


def _each(run: Run, rates: pl.DataFrame, flows: Flows, bin_ps: int) -> list[Trace]:
    """A line per flow, to the bin in which it ends."""
    of_flow = dict(metrics.by_flow(rates))
    traces = []
    for flow in run.flows:
        own = of_flow.get(flow["id"])
        if own is not None:
            end_s = metrics.end_s(flow) or float(run.summary["duration_s"])
            own = own.filter(own["time_ps"] < round(end_s * PS_PER_S) + bin_ps // 2)
            traces.append(rate_trace(own, flows.look(flow, 0.9), flows.name(flow)))
    return traces


def _sums(run: Run, rates: pl.DataFrame, mixed: list[str]) -> list[Trace]:
    """A line for the sum of all flows, or for each variant that runs beside another."""
    traces = []
    for index, variant in enumerate(mixed or [None]):
        ids = [flow["id"] for flow in run.flows if variant in (None, flow["variant"])]
        own = rates.filter(pl.col("flow").is_in(ids)).group_by("time_ps", maintain_order=True)
        name = f"sum of {variant or 'all'} flows"
        total = own.agg(pl.col("bps").sum()).sort("time_ps")
        traces.append(rate_trace(total, Look(index), name))
    return traces


def rate_trace(rates: pl.DataFrame, look: Look, name: str) -> Trace:
    """Rates over time as a line, in Mb/s against s."""
    x = rates["time_ps"].to_numpy() / PS_PER_S
    return Trace(x, np.asarray(rates["bps"]) / 1e6, look, name)
