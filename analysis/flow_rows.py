"""A row per flow and run: the swept keys, the flow's numbers and the bottleneck's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from narrows.analysis import of_summary
from narrows.analysis.load import Run
from narrows.analysis.of_summary import follow

if TYPE_CHECKING:
    import polars as pl

OF_FLOW: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("goodput_bps", ("goodput_bps",)),
    ("throughput_bps", ("throughput_bps",)),
    ("delivered_bytes", ("delivered_bytes",)),
    ("sent_segments", ("sent_segments",)),
    ("retransmits", ("retransmits",)),
    ("timeouts", ("timeouts",)),
    ("rtt_min_ms", ("rtt_ms", "min")),
    ("rtt_mean_ms", ("rtt_ms", "mean")),
    ("rtt_p95_ms", ("rtt_ms", "p95")),
    ("one_way_delay_mean_ms", ("one_way_delay_ms", "mean")),
    ("one_way_delay_p95_ms", ("one_way_delay_ms", "p95")),
    ("datagrams_lost", ("datagrams", "lost")),
    ("start_s", ("start_s",)),
    ("completion_s", ("completion_s",)),
)
"""Columns with numbers of a summary's flow, and their paths in it."""
OF_RUN: Final = {
    "run": "the run's directory",
    "seed": "the run's seed",
    "valid": "false if the run's figures must not be used",
    "flow": "the flow's number",
    "name": "the name of its `[[flow]]`; null if it has none",
    "variant": "its congestion control",
    "link_use_percent": "share of the bottleneck's rate that was used",
    "queue_delay_mean_ms": "mean queueing delay at the bottleneck",
    "queue_delay_p95_ms": "95th percentile of that delay",
    "loss_percent": "share of the bottleneck's packets that were dropped",
    "jain": "Jain's fairness index of the run",
}
"""The other columns, but for the swept keys, and their meanings."""
TEXTS: Final = ("run", "name", "variant")
"""The columns of text. Those of `OF_FLOW`, and figures of the run, are of numbers."""


def rows(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """A row per flow of each run, in the order of runs and flows.

    `run`, the swept keys by their dotted paths, `seed`, `valid`, `flow`, `name` (of its
    `[[flow]]`), `variant`, `OF_FLOW`, and for the run's bottleneck `link_use_percent`,
    `queue_delay_mean_ms`, `queue_delay_p95_ms`, `loss_percent`, and `jain` of the run.
    """
    keys = swept_keys(runs)
    return [row for run in runs for row in _rows(run, keys)]


def swept_keys(runs: Sequence[Run]) -> list[str]:
    """The keys of the runs' points by their dotted paths, in the sweep's order; no seed."""
    return list(dict.fromkeys(key for run in runs for key in run.point if key != "seed"))


def _rows(run: Run, keys: Sequence[str]) -> list[dict[str, Any]]:
    names = flow_names(run)
    point = {key: plain(run.point.get(key)) for key in keys}
    shared = {
        "link_use_percent": of_summary.link_use_percent(run),
        "queue_delay_mean_ms": of_summary.mean_queue_delay_ms(run),
        "queue_delay_p95_ms": follow(run.summary, ("bottleneck", "queue_delay_ms", "p95")),
        "loss_percent": of_summary.loss_percent(run),
        "jain": follow(run.summary, ("jain",)),
    }
    return [
        {
            "run": run.name, **point, "seed": run.seed, "valid": run.valid, "flow": int(flow["id"]),
            "name": names.get(int(flow["id"])), "variant": str(flow["variant"]),
            **{column: follow(flow, path) for column, path in OF_FLOW}, **shared,
        }
        for flow in run.flows
    ]  # fmt: skip


def flow_names(run: Run) -> dict[int, str]:
    """The names of the flows' `[[flow]]` by the flows' numbers; flows without one are omitted."""
    return {int(flow["id"]): name for name, own in run.named.items() for flow in own}


def plain(value: Any) -> Any:
    """A swept value as a cell: numbers and text as they are, tables and lists as text."""
    return value if isinstance(value, (str, int, float, bool)) or value is None else repr(value)


def columns(runs: Sequence[Run]) -> dict[str, list[Any]]:
    """`rows` by column. The values of a column are of one type, or None: a swept key whose values
    are of several types is text.
    """
    found = rows(runs)
    by_name = {name: [row[name] for row in found] for name in (found[0] if found else ())}
    for values in by_name.values():
        if len({type(value) for value in values if value is not None}) > 1:
            values[:] = [None if value is None else str(value) for value in values]
    return by_name


def frame(runs: Sequence[Run]) -> pl.DataFrame:
    """`columns` as a data frame. A column without values is of numbers, or text (`TEXTS`)."""
    import polars as pl

    found = columns(runs)
    unknown = [name for name, values in found.items() if all(value is None for value in values)]
    types = {name: pl.String if name in TEXTS else pl.Float64 for name in unknown}
    return pl.DataFrame(found, schema_overrides=types)
