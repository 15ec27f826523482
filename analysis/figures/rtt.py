"""Smoothed round-trip time of each flow over time, a panel per run."""

from __future__ import annotations

from narrows.analysis import metrics
from narrows.analysis.chart.model import Chart, Panel, Trace, from_zero, time_axis
from narrows.analysis.chart.thin import thin
from narrows.analysis.figures.base import Figure, Results, shown_runs
from narrows.analysis.figures.flows import Flows
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
    rows = run.table("flows").select("flow", "time_ps", "srtt_ps").drop_nulls("srtt_ps").collect()
    of_flow = dict(metrics.by_flow(rows))
    traces = []
    for flow in run.flows:
        if (own := of_flow.get(flow["id"])) is not None:
            times, srtt_ms = own["time_ps"].to_numpy(), own["srtt_ps"].to_numpy() / PS_PER_MS
            x, y = thin(times, srtt_ms, int(times[-1]), columns)
            traces.append(Trace(x, y, flows.look(flow, 0.7), flows.name(flow), step=True))
    return traces


FIGURE = Figure(
    name="rtt",
    title="Round-trip time over time",
    caption="The senders' smoothed round-trip time (srtt, RFC 6298) at every acknowledgement.",
    needs=("flows",),
    chart=chart,
)
