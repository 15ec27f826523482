"""A run in the format of `iperf3 --json`: a stream per flow, an interval per second.

Names and units are those of iperf3 3.x: bytes, bits per second, round trips in microseconds, the
window in bytes. The bytes sent by a stream are those acknowledged; iperf3 counts those written to
the socket. A flow of datagrams also has the `udp` object of iperf3 -u. Fields that a run does not
know are absent: cookie, time of day, processor load, rttvar, pmtu.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from narrows.analysis import metrics
from narrows.analysis.export.base import Format
from narrows.analysis.export.series import Samples, samples
from narrows.analysis.load import Run
from narrows.analysis.metrics import PS_PER_S
from narrows.analysis.of_summary import follow

if TYPE_CHECKING:
    from narrows.schema.summary import FlowSummary

_PS_PER_US = 1_000_000
_FIRST_SOCKET = 5
"""The number of iperf3's first stream."""


def write(run: Run, path: Path) -> None:
    """Writes one JSON object."""
    path.write_text(json.dumps(as_iperf3(run), indent="\t") + "\n", encoding="utf-8")


def as_iperf3(run: Run) -> dict[str, Any]:
    """The run in the format of iperf3's client."""
    edges = metrics.bin_edges_ps(run.duration_ps, PS_PER_S)
    found = samples(run, edges)
    sockets = {own.flow: _FIRST_SOCKET + 2 * index for index, own in enumerate(found)}
    return {
        "start": {
            "connected": [{"socket": socket} for socket in sockets.values()],
            "version": f"narrows {run.record.get('versions', {}).get('narrows', '')}".strip(),
            "system_info": f"{run.title}, target {run.record['target']}, seed {run.seed}",
            "test_start": {
                "protocol": "TCP",
                "num_streams": len(found),
                "omit": 0,
                "duration": run.duration_ps / PS_PER_S,
                "reverse": 0,
            },
        },
        "intervals": [_interval(found, sockets, second) for second in range(len(edges) - 1)],
        "end": _end(run, found, sockets),
    }


def _interval(found: list[Samples], sockets: dict[int, int], second: int) -> dict[str, Any]:
    span: dict[str, Any] = {"start": second, "end": second + 1, "seconds": 1}
    streams = [
        {
            "socket": sockets[own.flow], **span,
            "bytes": int(own.acked_bytes[second]),
            "bits_per_second": 8 * int(own.acked_bytes[second]),
            "retransmits": int(own.retransmits[second]),
            "snd_cwnd": int(own.cwnd_bytes[second]),
            "rtt": int(own.srtt_ps[second]) // _PS_PER_US,
            "omitted": False, "sender": True,
        }
        for own in found
    ]  # fmt: skip
    totals = {
        key: sum(stream[key] for stream in streams)
        for key in ("bytes", "bits_per_second", "retransmits")
    }
    return {"streams": streams, "sum": {**span, **totals, "omitted": False, "sender": True}}


def _end(run: Run, found: list[Samples], sockets: dict[int, int]) -> dict[str, Any]:
    duration_s = run.duration_ps / PS_PER_S

    def span(moved_bytes: int) -> dict[str, Any]:
        rate_bps = 8 * moved_bytes / duration_s if duration_s else 0.0
        return {"start": 0, "end": duration_s, "seconds": duration_s, "bytes": moved_bytes,
                "bits_per_second": rate_bps}  # fmt: skip

    streams = []
    for flow, own in zip(run.flows, found, strict=True):
        rtt_us = {
            f"{name}_rtt": round(1000 * rtt_ms)
            for name in ("max", "min", "mean")
            if (rtt_ms := follow(flow, ("rtt_ms", name))) is not None
        }
        moved = {"socket": sockets[own.flow], **span(int(flow["delivered_bytes"])), "sender": True}
        largest = int(np.max(own.cwnd_bytes, initial=0))
        sender = {**moved, "retransmits": int(flow["retransmits"]), "max_snd_cwnd": largest}
        streams.append({"sender": sender | rtt_us, "receiver": moved} | _udp(flow, moved))
    totals = span(sum(int(flow["delivered_bytes"]) for flow in run.flows))
    resent = sum(int(flow["retransmits"]) for flow in run.flows)
    variants = ", ".join(sorted({str(flow["variant"]) for flow in run.flows}))
    return {
        "streams": streams,
        "sum_sent": {**totals, "retransmits": resent, "sender": True},
        "sum_received": {**totals, "sender": True},
        "sender_tcp_congestion": variants,
        "receiver_tcp_congestion": variants,
    }


def _udp(flow: FlowSummary, moved: dict[str, Any]) -> dict[str, Any]:
    """The additional report of iperf3 -u for a flow of datagrams."""
    if (counted := flow.get("datagrams")) is None:
        return {}
    packets = counted["received"] + counted["lost"]
    return {
        "udp": {
            **moved,
            "jitter_ms": counted["jitter_ms"],
            "lost_packets": counted["lost"],
            "packets": packets,
            "lost_percent": 100 * counted["lost"] / packets if packets else 0,
            "out_of_order": counted["reordered"],
        }
    }


FORMAT = Format(
    name="iperf3",
    title="a stream per flow and an interval per second, as iperf3 --json has them",
    suffix=".json",
    needs=("flows",),
    write=write,
)
