"""Congestion window and slow-start threshold of each flow over time, a panel per run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from narrows.analysis import metrics
from narrows.analysis.chart.model import Chart, Look, Panel, Trace, from_zero, time_axis
from narrows.analysis.chart.thin import Thinned
from narrows.analysis.figures.base import Figure, Results, shown_runs
from narrows.analysis.figures.flows import Flows, flow_ends_ps
from narrows.analysis.load import Run


def chart(results: Results) -> Chart:
    """Steps per flow, its threshold thin in the same colour."""
    shown = shown_runs(results)
    flows = Flows(shown.runs)
    unit, unit_bytes, meaning = window_unit(shown.runs)
    columns = shown.flow_columns
    return Chart(
        [Panel(_marks(run, flows, unit_bytes, columns), title) for run, title in shown],
        time_axis(shared=shown.shared_x),
        from_zero(f"Congestion window ({unit})", shared="row"),
        columns=shown.columns,
        height_in=1.2,
        note=", ".join(filter(None, [shown.note, meaning])),
        keys=[(_THRESHOLD, Look("ink", width=0.5, opacity=0.5))],
    )


_WINDOW: Final = "cwnd"
_THRESHOLD: Final = "ssthresh"
_COLUMNS: Final = {_WINDOW: "cwnd_bytes", _THRESHOLD: "ssthresh_bytes"}


def window_unit(runs: Sequence[Run]) -> tuple[str, int, str]:
    """Packets if all segments of these runs are equal, otherwise kB.

    Returns its name, its bytes and a note; the note is empty for kB.
    """
    sizes = {run.segment_bytes for run in runs}
    size = sizes.pop() if len(sizes) == 1 else None
    return ("packets", size, f"1 packet: {size:,} B of payload") if size else ("kB", 1000, "")


def _marks(run: Run, flows: Flows, unit_bytes: int, columns: int) -> list[Trace]:
    lines = {
        (flow, name): Thinned(end_ps, columns)
        for flow, end_ps in flow_ends_ps(run).items()
        for name in _COLUMNS
    }
    for flow_id, rows in metrics.flow_parts(run, "time_ps", *_COLUMNS.values()):
        for name, column in _COLUMNS.items():
            known = rows.drop_nulls(column)
            windows = known[column].cast(float).to_numpy() / unit_bytes
            lines[flow_id, name].add(known["time_ps"].to_numpy(), windows)
    traces: dict[str, list[Trace]] = {_WINDOW: [], _THRESHOLD: []}
    for flow in run.flows:
        look = flows.look(flow, 0.7)
        thin_look = Look(look.colour, dash=0, width=0.5, opacity=0.5)
        for name, own_look, label in (
            (_WINDOW, look, flows.name(flow)),
            (_THRESHOLD, thin_look, _THRESHOLD),
        ):
            line = lines.get((flow["id"], name))
            if line is not None and line.count:
                traces[name].append(Trace(*line.points(), own_look, label, step=True))
    return traces[_WINDOW] if flows.many else traces[_WINDOW] + traces[_THRESHOLD]


FIGURE = Figure(
    name="cwnd",
    title="Congestion window over time",
    caption="Congestion window (lines) and slow-start threshold (thin, from the first loss on) as "
    "the senders recorded them: in packets where all segments are equal, otherwise in kB. 1 kB = "
    "1000 bytes.",
    needs=("flows",),
    chart=chart,
)
