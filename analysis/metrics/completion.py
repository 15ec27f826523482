"""Completion, latency and other numbers per flow."""

from __future__ import annotations

import numpy as np
import polars as pl

from narrows.analysis.load import Run
from narrows.analysis.metrics.base import Floats, end_s
from narrows.analysis.of_summary import follow
from narrows.schema.units import PS_PER_MS, PS_PER_S


def message_latencies_ms(run: Run) -> Floats:
    """From writing to reading, in ms, for every message read in the run; empty without messages."""
    latency = (pl.col("read_ps") - pl.col("written_ps")) / PS_PER_MS
    return run.table("messages").select(latency.alias("ms")).collect()["ms"].to_numpy()


def completion_s(run: Run) -> float | None:
    """From the first flow's start to the acknowledgement of the last flow's last byte, in s.

    None if a flow did not finish, or if there are no flows.
    """
    ends = [end for flow in run.flows if (end := end_s(flow)) is not None]
    if not ends or len(ends) < len(run.flows):
        return None
    return max(ends) - min(float(flow["start_s"]) for flow in run.flows)


def completion_bound_s(run: Run) -> float | None:
    """Time that the bottleneck would take to send only the delivered bytes, in s.

    Payload only: headers, acknowledgements and the round trip make every real run longer. The rate
    is that of the port at the end of the run; None if it is not limited.
    """
    rate_bps = run.summary["bottleneck"]["rate_bps"]
    delivered = sum(int(flow["delivered_bytes"]) for flow in run.flows)
    return delivered * 8 / float(rate_bps) if rate_bps else None


def mean_goodput_bps(run: Run) -> float:
    """Bytes that all flows delivered over the length of the run, in bit/s; 0 for an empty run."""
    delivered = sum(int(flow["delivered_bytes"]) for flow in run.flows)
    return delivered * 8 * PS_PER_S / run.duration_ps if run.duration_ps else 0.0


def mean_of_flows(run: Run, *keys: str) -> float | None:
    """Mean over the flows of a number in their summary; None if a flow has none.

    `keys` is its path: `mean_of_flows(run, "rtt_ms", "p95")`.
    """
    numbers = [follow(flow, keys) for flow in run.flows]
    known = [number for number in numbers if number is not None]
    return float(np.mean(known)) if known and len(known) == len(numbers) else None
