"""A run as flent's data file: its test `tcp_nup`, an upload per flow, five samples a second.

The format is version 4 of flent's `.flent.gz`. "TCP upload::N" is the N-th flow's goodput in Mb/s,
with its window (packets) and round trip (ms) as flent's socket statistics; "Ping (ms) ICMP" is the
flows' mean smoothed round trip, since a run sends no pings. Time 0 of the run is 1970-01-01.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from narrows.analysis import metrics
from narrows.analysis.export.base import Format
from narrows.analysis.export.series import Samples, samples
from narrows.analysis.load import Run
from narrows.analysis.metrics import PS_PER_MS, PS_PER_S

if TYPE_CHECKING:
    from narrows.schema.summary import FlowSummary

_VERSION: Final = 4
_STEP_PS: Final = PS_PER_S // 5
_EPOCH: Final = "1970-01-01T00:00:00.000000Z"

Values = list[float | None]


def write(run: Run, path: Path) -> None:
    """Writes the file; its gzip header contains no date."""
    text = json.dumps(as_flent(run), allow_nan=False)
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def as_flent(run: Run) -> dict[str, Any]:
    """The run as flent's result set."""
    edges = metrics.bin_edges_ps(run.duration_ps, _STEP_PS)
    found = samples(run, edges)
    uploads = {f"TCP upload::{index + 1}": own for index, own in enumerate(found)}
    rates = np.array([own.acked_bytes * 8 / (_STEP_PS / PS_PER_S) / 1e6 for own in found])
    rates = rates.reshape(len(found), len(edges) - 1)
    results: dict[str, Values] = {
        "TCP upload avg": rates.mean(axis=0).tolist() if len(found) else [],
        "TCP upload sum": rates.sum(axis=0).tolist(),
        "TCP upload fairness": [metrics.jain(now) for now in rates.T] if len(found) else [],
        "Ping (ms) ICMP": _mean_srtt_ms(found, len(edges) - 1),
        **{name: row.tolist() for name, row in zip(uploads, rates, strict=True)},
    }
    ends_s = (edges[1:] / PS_PER_S).tolist()
    units = {name: "ms" if "Ping" in name else "Mbits/s" for name in results}
    return {
        "version": _VERSION,
        "metadata": _metadata(run, len(found), units | {"TCP upload fairness": "Idx"}),
        "x_values": ends_s,
        "results": results,
        "raw_values": {
            name: _raw(own, flow, ends_s, results[name])
            for (name, own), flow in zip(uploads.items(), run.flows, strict=True)
        },
    }


def _metadata(run: Run, streams: int, units: dict[str, str]) -> dict[str, Any]:
    duration_s = run.duration_ps / PS_PER_S
    version = run.record.get("versions", {}).get("narrows", "")
    return {
        "NAME": "tcp_nup", "TITLE": f"{run.title}: {run.name}", "NOTE": f"narrows {version}",
        "HOST": "narrows", "HOSTS": ["narrows"], "LOCAL_HOST": str(run.record["target"]),
        "TIME": _EPOCH, "T0": _EPOCH, "LENGTH": duration_s, "TOTAL_LENGTH": duration_s,
        "STEP_SIZE": _STEP_PS / PS_PER_S, "IP_VERSION": 4, "FLENT_VERSION": "2.0.0",
        "DATA_FILENAME": None, "TEST_PARAMETERS": {"upload_streams": str(streams)},
        "SERIES_META": {name: {"UNITS": unit} for name, unit in units.items()},
    }  # fmt: skip


def _mean_srtt_ms(found: list[Samples], count: int) -> Values:
    """Mean over the flows that have a round trip; None without such flows."""
    means: Values = []
    for index in range(count):
        known = [int(own.srtt_ps[index]) for own in found if own.srtt_ps[index]]
        means.append(sum(known) / len(known) / PS_PER_MS if known else None)
    return means


def _raw(
    own: Samples, flow: FlowSummary, ends_s: list[float], rates: Values
) -> list[dict[str, Any]]:
    """The flow's samples, with flent's socket statistics; the window is in mean segments."""
    fresh = int(flow["sent_segments"]) - int(flow["retransmits"])
    segment_bytes = int(flow["delivered_bytes"]) / fresh if fresh > 0 else 0
    rows = zip(ends_s, rates, own.cwnd_bytes.tolist(), own.srtt_ps.tolist(), strict=True)
    return [
        {
            "t": at_s, "val": rate, "tcp_rtt": srtt_ps / PS_PER_MS,
            "tcp_cwnd": cwnd_bytes / segment_bytes if segment_bytes else 0,
        }
        for at_s, rate, cwnd_bytes, srtt_ps in rows
    ]  # fmt: skip


FORMAT = Format(
    name="flent",
    title="goodput, windows and round trips as flent's test tcp_nup, for its plots",
    suffix=".flent.gz",
    needs=("flows",),
    write=write,
)
