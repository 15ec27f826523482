"""Metrics of a run: rates, fairness, queue, delay, convergence.

Definitions follow RFC 5166 (metrics for the evaluation of congestion control) where it has one;
each function names its source. Recorded times are in picoseconds. The names of results end in their
unit. `load.COLUMNS` describes the tables.
"""

from narrows.analysis.metrics.base import (
    Floats,
    Ints,
    by_flow,
    end_s,
    percentile,
    together,
)
from narrows.analysis.metrics.completion import (
    completion_bound_s,
    completion_s,
    mean_goodput_bps,
    mean_of_flows,
    message_latencies_ms,
)
from narrows.analysis.metrics.fairness import (
    alive,
    convergence_time_s,
    jain,
    jain_over_time,
    variation,
)
from narrows.analysis.metrics.ledger import (
    Arrivals,
    bottleneck_ledger,
    flow_parts,
    last_departure_ps,
    ledger_parts,
)
from narrows.analysis.metrics.queue import (
    MeanOverTime,
    depth,
    depth_parts,
    loss_ratio,
    mean_delay_by_round,
    queue_delay_by_round,
    queue_delays_ms,
    time_weighted_mean,
)
from narrows.analysis.metrics.rates import (
    bin_edges_ps,
    flow_throughput_bps,
    goodput_bps,
    link_rates_bps,
    nice_bin_ps,
    progress,
    rise_time_s,
    throughput_bps,
    throughputs_bps,
)
from narrows.analysis.of_summary import (
    BOTTLENECK,
    REVERSE,
    link_use_percent,
    loss_percent,
    mean_queue_delay_ms,
)
from narrows.schema.units import PS_PER_MS, PS_PER_S

__all__ = [
    "BOTTLENECK",
    "PS_PER_MS",
    "PS_PER_S",
    "REVERSE",
    "Arrivals",
    "Floats",
    "Ints",
    "MeanOverTime",
    "alive",
    "bin_edges_ps",
    "bottleneck_ledger",
    "by_flow",
    "completion_bound_s",
    "completion_s",
    "convergence_time_s",
    "depth",
    "depth_parts",
    "end_s",
    "flow_parts",
    "flow_throughput_bps",
    "goodput_bps",
    "jain",
    "jain_over_time",
    "last_departure_ps",
    "ledger_parts",
    "link_rates_bps",
    "link_use_percent",
    "loss_percent",
    "loss_ratio",
    "mean_delay_by_round",
    "mean_goodput_bps",
    "mean_of_flows",
    "mean_queue_delay_ms",
    "message_latencies_ms",
    "nice_bin_ps",
    "percentile",
    "progress",
    "queue_delay_by_round",
    "queue_delays_ms",
    "rise_time_s",
    "throughput_bps",
    "throughputs_bps",
    "time_weighted_mean",
    "together",
    "variation",
]
