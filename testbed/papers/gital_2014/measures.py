"""Quantities and evidence from the runs of Gital et al. 2014."""

from __future__ import annotations

from functools import partial
from typing import Final

import numpy as np
import polars as pl

from narrows.analysis import metrics
from narrows.analysis.load import Run
from narrows.schema.units import parse_duration
from narrows.testbed.papers.finished_runs import FinishedRuns, listed, ranking, shown
from narrows.testbed.papers.grade import Margin, above, lead, least
from narrows.testbed.papers.quantity import Quantity

TABLE_II: Final = {
    "vegas": {"200": 1130.872, "600": 1468.377},
    "fack": {"200": 997.6375, "600": 1235.005},
    "linux": {"200": 1100.007, "600": 1191.41},
    "tahoe": {"200": 1100.415, "600": 1134.994},
    "reno": {"200": 1097.21, "600": 1240.135},
    "newreno": {"200": 1225.435, "600": 1329.895},
    "sack1": {"200": 1090.798, "600": 1176.02},
}
"""Table II: average throughput by variant and users."""
TEXT_ORDER: Final = {
    "200": ["vegas", "newreno", "tahoe", "linux", "reno", "sack1", "fack"],
    "600": ["newreno", "vegas", "reno", "fack", "sack1", "linux", "tahoe"],
}
"""The order in which section VI names the variants, best first."""

SETTLED_S: Final = 1.0
"""Updates written in the last second of a run are excluded, since they may be in flight."""


def throughput_kbps(run: Run) -> float:
    """Payload readable at all users' servers, over the whole run, in kb/s."""
    return float(metrics.mean_goodput_bps(run) / 1e3)


def throughput_over_time(run: Run) -> tuple[list[float], list[float]]:
    """Throughput in bins of 10 s: seconds, kb/s."""
    total = (
        metrics.goodput_bps(run, 10 * metrics.PS_PER_S)
        .group_by("time_ps")
        .agg(pl.col("bps").sum())
        .sort("time_ps")
    )
    seconds = total["time_ps"] / metrics.PS_PER_S
    return seconds.to_list(), (total["bps"] / 1e3).to_list()


def settled_latencies_ms(run: Run) -> metrics.Floats:
    """Write-to-read latency of the counted updates, without updates that were never read."""
    end_ps = run.duration_ps - int(SETTLED_S * metrics.PS_PER_S)
    rows = run.table("messages").filter(pl.col("written_ps") < end_ps)
    latency = (pl.col("read_ps") - pl.col("written_ps")) / metrics.PS_PER_MS
    return rows.select(latency.alias("ms")).collect()["ms"].to_numpy()


def in_time_percent(limit_ms: float, run: Run) -> float:
    """Share of updates read within a limit; an update never read counts as late."""
    flow = run.scenario["flow"][0]
    app = flow["app"]
    interval_ms = parse_duration(app["interval"]) / metrics.PS_PER_MS
    span_ms = (run.duration_ps / metrics.PS_PER_S - SETTLED_S) * 1e3
    # A relayed update is read by all users but its writer.
    each = flow["count"] - 1 if app["kind"] == "cve-server" else int(app.get("users", 1))
    to_be_read = flow["count"] * each * span_ms / interval_ms
    in_time = int((settled_latencies_ms(run) <= limit_ms).sum())
    return float(min(100.0, 100 * in_time / to_be_read))


def jitter_ms(run: Run) -> float | None:
    """Standard deviation of the latency."""
    latencies = settled_latencies_ms(run)
    return float(np.std(latencies)) if latencies.size else None


def superseded_percent(run: Run) -> float | None:
    """Share of read updates that arrived no earlier than a newer one of the same user."""
    messages = [flow["messages"] for flow in run.flows]
    read = sum(each["read"] for each in messages)
    return 100 * sum(each["superseded"] for each in messages) / read if read else None


THROUGHPUT: Final = Quantity("Average throughput", "kb/s", throughput_kbps)
WITHIN_100: Final = Quantity("Updates within 100 ms", "%", partial(in_time_percent, 100.0))
WITHIN_200: Final = Quantity("Updates within 200 ms", "%", partial(in_time_percent, 200.0))
JITTER: Final = Quantity("Jitter of the updates", "ms", jitter_ms)
SUPERSEDED: Final = Quantity("Superseded updates", "%", superseded_percent)


def is_first(users: str, variant: str, finished: FinishedRuns) -> bool | None:
    """True if a variant has the highest throughput; None if the runs cannot decide."""
    values = finished.values(THROUGHPUT, "throughput", "choice.tcp", users=users)
    best = ranking(values)[0]
    if best != variant:
        return False if values[best].low > values[variant].high else None
    second = ranking(values)[1]
    return True if values[variant].low > values[second].high else None


def first_margin(users: str, variant: str, finished: FinishedRuns) -> Margin:
    """How far a variant is before all others."""
    return lead(finished.values(THROUGHPUT, "throughput", "choice.tcp", users=users), {variant})


def throughputs(users: str, finished: FinishedRuns) -> str:
    """All variants' throughput, best first."""
    return listed(finished.values(THROUGHPUT, "throughput", "choice.tcp", users=users), 1, "kb/s")


def grows_with_users(finished: FinishedRuns) -> bool:
    """True if every variant delivers more with 600 users than with 200."""
    few = finished.values(THROUGHPUT, "throughput", "choice.tcp", users="200")
    many = finished.values(THROUGHPUT, "throughput", "choice.tcp", users="600")
    return all(many[name].low > few[name].high for name in few)


def growth_margin(finished: FinishedRuns) -> Margin:
    """How far the intervals with 600 users are above those with 200, of the nearest variant."""
    few = finished.values(THROUGHPUT, "throughput", "choice.tcp", users="200")
    many = finished.values(THROUGHPUT, "throughput", "choice.tcp", users="600")
    return least(above(many[name].low, few[name].high) for name in few)


def spread_percent(users: str, finished: FinishedRuns) -> float:
    """Difference between the best and the worst variant, in percent of the worst."""
    values = finished.values(THROUGHPUT, "throughput", "choice.tcp", users=users)
    means = [value.mean for value in values.values()]
    return 100 * (max(means) / min(means) - 1)


def label_evidence(_: FinishedRuns) -> str:
    """Agreement of table and text, with the rows as printed and with two of them swapped."""
    swapped = TABLE_II | {"vegas": TABLE_II["newreno"], "newreno": TABLE_II["vegas"]}
    parts = []
    for users, order in TEXT_ORDER.items():
        for what, table in (("as printed", TABLE_II), ("swapped", swapped)):
            by_table = sorted(order, key=lambda name: -table[name][users])
            same = sum(a == b for a, b in zip(order, by_table, strict=True))
            parts.append(f"{users} users, {what}: {same} of 7 places agree")
    return "; ".join(parts)


def works(finished: FinishedRuns, limit: Quantity, experiment: str, by: str, tcp: str) -> str:
    """The share of updates in time at each number of users."""
    values = finished.values(limit, experiment, by, tcp=tcp)
    return ", ".join(f"{users}: {shown(value, 1)} %" for users, value in values.items())
