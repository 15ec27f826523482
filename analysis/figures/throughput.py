"""Throughput over time: goodput of each flow and what the bottleneck sent, a panel per run."""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

from narrows.analysis import metrics
from narrows.analysis.chart.model import Chart, Look, Panel, Trace, from_zero, time_axis
from narrows.analysis.figures.base import Figure, Results, shown_runs
from narrows.analysis.figures.flows import Flows
from narrows.analysis.load import Run
from narrows.analysis.metrics import PS_PER_S


def chart(results: Results) -> Chart:
    """Lines of means over bins, one bin for all panels."""
    shown = shown_runs(results)
    flows = Flows(shown.runs)
    bin_ps = metrics.nice_bin_ps(max(run.duration_ps for run in shown.runs))
    return Chart(
        [Panel(_marks(run, flows, bin_ps), title) for run, title in shown],
        time_axis(f"Time (s), means over {bin_ps / PS_PER_S:g} s", shared=shown.shared_x),
        from_zero("Throughput (Mb/s)"),
        columns=shown.columns,
        height_in=1.15,
        note=shown.note,
    )


_ALL: Final = Look("muted", width=1.3)


def _marks(run: Run, flows: Flows, bin_ps: int) -> list[Trace]:
    goodput = metrics.goodput_bps(run, bin_ps)
    apart = _sums(run, goodput, flows.mixed) if flows.many else _each(run, goodput, flows, bin_ps)
    return [_trace(metrics.throughput_bps(run, bin_ps), _ALL, "bottleneck, all bytes"), *apart]


def _each(run: Run, goodput: pl.DataFrame, flows: Flows, bin_ps: int) -> list[Trace]:
    """A line per flow, to the bin in which it ends."""
    of_flow = dict(metrics.by_flow(goodput))
    traces = []
    for flow in run.flows:
        own = of_flow.get(flow["id"])
        if own is not None:
            end_s = metrics.end_s(flow) or float(run.summary["duration_s"])
            own = own.filter(own["time_ps"] < round(end_s * PS_PER_S) + bin_ps // 2)
            traces.append(_trace(own, flows.look(flow, 0.9), flows.name(flow)))
    return traces


def _sums(run: Run, goodput: pl.DataFrame, mixed: list[str]) -> list[Trace]:
    """A line of all flows together, or of those of each variant that runs beside another."""
    traces = []
    for index, variant in enumerate(mixed or [None]):
        ids = [flow["id"] for flow in run.flows if variant in (None, flow["variant"])]
        own = goodput.filter(pl.col("flow").is_in(ids)).group_by("time_ps").agg(pl.col("bps").sum())
        name = f"goodput of {variant or 'all'} flows"
        traces.append(_trace(own.sort("time_ps"), Look(index), name))
    return traces


def _trace(rates: pl.DataFrame, look: Look, name: str) -> Trace:
    x = rates["time_ps"].to_numpy() / PS_PER_S
    return Trace(x, np.asarray(rates["bps"]) / 1e6, look, name)


FIGURE = Figure(
    name="throughput",
    title="Throughput over time",
    caption="Goodput: bytes acknowledged in sequence, per flow or, of more than eight, in sum. "
    "Grey: all that the bottleneck sent, headers and retransmissions included. "
    "1 Mb/s = 1,000,000 bit/s.",
    needs=("queue", "flows"),
    chart=chart,
)
