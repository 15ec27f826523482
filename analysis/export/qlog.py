"""A run as a qlog file: a trace per flow, as a QUIC sender would log its congestion control.

The form is that of draft-ietf-quic-qlog-main-schema-14. The events are `recovery_metrics_updated`
and `congestion_state_updated` of draft-ietf-quic-qlog-quic-events-13. A row of the flow table gives
an event with the metrics that changed, and one for a change of state. `pto_count` is absent: our
senders count a connection's time-outs, the draft those in a row. Events of single packets are
absent: a TCP segment has no packet number. Times are milliseconds since the run began. Their epoch
is unknown, because virtual time has none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from narrows.analysis import metrics
from narrows.analysis.export.base import Format
from narrows.analysis.flow_rows import flow_names
from narrows.analysis.load import Run
from narrows.analysis.metrics import PS_PER_MS

if TYPE_CHECKING:
    from narrows.schema.summary import FlowSummary

FILE_SCHEMA: Final = "urn:ietf:params:qlog:file:contained"
EVENT_SCHEMA: Final = "urn:ietf:params:qlog:events:quic-13"
"""A draft's events have its number at the end."""
METRICS: Final = {
    "smoothed_rtt": "srtt_ps",
    "latest_rtt": "rtt_ps",
    "congestion_window": "cwnd_bytes",
    "bytes_in_flight": "in_flight_bytes",
    "ssthresh": "ssthresh_bytes",
}
"""The draft's metrics, and the columns of the flow table that have them."""


def write(run: Run, path: Path) -> None:
    """Writes one JSON object."""
    path.write_text(json.dumps(as_qlog(run)) + "\n", encoding="utf-8")


def as_qlog(run: Run) -> dict[str, Any]:
    """The run as a `QlogFile`."""
    columns = ["flow", "time_ps", "phase", *METRICS.values()]
    rows = dict(metrics.by_flow(run.table("flows").select(columns).collect()))
    names = flow_names(run)
    return {
        "file_schema": FILE_SCHEMA,
        "serialization_format": "application/qlog+json",
        "title": run.title,
        "description": f"{run.name}, target {run.record['target']}, seed {run.seed}",
        "traces": [
            _trace(flow, names.get(int(flow["id"])), rows.get(int(flow["id"])))
            for flow in run.flows
            if "datagrams" not in flow
        ],
    }


def _trace(flow: FlowSummary, name: str | None, rows: pl.DataFrame | None) -> dict[str, Any]:
    number = int(flow["id"])
    return {
        "title": name or f"flow {number}",
        "description": f"{flow['variant']} over TCP",
        "common_fields": {
            "time_format": "relative_to_epoch",
            "reference_time": {"clock_type": "monotonic", "epoch": "unknown"},
            "group_id": str(number),
        },
        "vantage_point": {"name": f"flow {number}'s sender", "type": "client"},
        "event_schemas": [EVENT_SCHEMA],
        "events": [] if rows is None else list(_events(rows)),
    }


def _events(rows: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """The events of a flow's rows, in their order."""
    known: dict[str, Any] = {}
    phase = None
    least_rtt_ps = None
    for row in rows.iter_rows(named=True):
        time_ms = row["time_ps"] / PS_PER_MS
        if row["rtt_ps"] is not None:
            least_rtt_ps = min(row["rtt_ps"], least_rtt_ps or row["rtt_ps"])
        now = _metrics(row, least_rtt_ps)
        if updated := {key: value for key, value in now.items() if known.get(key) != value}:
            yield _event(time_ms, "recovery_metrics_updated", updated)
            known |= updated
        if row["phase"] != phase:
            old: dict[str, str] = {} if phase is None else {"old": phase}
            yield _event(time_ms, "congestion_state_updated", {**old, "new": row["phase"]})
            phase = row["phase"]


def _metrics(row: Mapping[str, Any], least_rtt_ps: int | None) -> dict[str, float]:
    """The metrics of a row that have a value: round trips in milliseconds, the others in bytes."""
    values = {key: row[column] for key, column in METRICS.items()}
    values["min_rtt"] = least_rtt_ps
    return {
        key: value / PS_PER_MS if key.endswith("_rtt") else value
        for key, value in values.items()
        if value is not None
    }


def _event(time_ms: float, name: str, data: dict[str, Any]) -> dict[str, Any]:
    return {"time": time_ms, "name": f"quic:{name}", "data": data}


FORMAT = Format(
    name="qlog",
    title="each sender's window, bytes in flight and round trips as qlog events, for qvis",
    suffix=".qlog",
    needs=("flows",),
    write=write,
)
