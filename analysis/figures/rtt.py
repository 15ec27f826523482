"""Smoothed round-trip time of each flow over time, a panel per run."""

from __future__ import annotations

from narrows.analysis import metrics
from narrows.analysis.chart.model import Chart, Panel, Trace, from_zero, time_axis
from narrows.analysis.chart.thin import Thinned
from narrows.analysis.figures.base import Figure, Results, shown_runs
from narrows.analysis.figures.flows import Flows, flow_ends_ps
from narrows.analysis.load import Run
from narrows.analysis.metrics import PS_PER_MS


def chart(results: Results) -> Chart:
    """Steps per flow."""
    shown = shown_runs(results)
    flows = Flows(shown.runs)
    return Chart(
        [Panel(_marks(run, flows, shown.flow_columns), title) for run, title in shown],
        time_axis(shared=shown.shared_x),
        from_zero("Smoothed round-trip time (ms)"),
        columns=shown.columns,
        height_in=1.2,
        note=shown.note,
    )


def _marks(run: Run, flows: Flows, columns: int) -> list[Trace]:
    ends_ps = flow_ends_ps(run, "srtt_ps")
    lines = {flow: Thinned(end_ps, columns) for flow, end_ps in ends_ps.items()}
    for flow_id, rows in metrics.flow_parts(run, "time_ps", "srtt_ps"):
        known = rows.drop_nulls("srtt_ps")
        if len(known):
            srtt_ms = known["srtt_ps"].to_numpy() / PS_PER_MS
            lines[flow_id].add(known["time_ps"].to_numpy(), srtt_ms)
    return [
        Trace(*lines[flow["id"]].points(), flows.look(flow, 0.7), flows.name(flow), step=True)
        for flow in run.flows
        if flow["id"] in lines
    ]


FIGURE = Figure(
    name="rtt",
    title="Round-trip time over time",
    caption="The senders' smoothed round-trip time (srtt, RFC 6298) at every acknowledgement.",
    needs=("flows",),
    chart=chart,
)
