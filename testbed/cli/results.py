"""The results of `narrows run`: a row per point, over its seeds, with its quantities; as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from narrows.testbed.runs.jobs import Outcome
from narrows.testbed.terminal import plain

if TYPE_CHECKING:
    from narrows.schema.summary import BottleneckSummary, Summary

Measure = Callable[[Outcome], float | None]


@dataclass(frozen=True)
class Column:
    """A quantity of a run."""

    key: str
    """Its name in the JSON."""
    title: str
    decimals: int
    measure: Measure


@dataclass(frozen=True)
class Row:
    """A point's runs, one for each seed."""

    point: Mapping[str, Any]
    """The swept keys' values, without the seed."""
    outcomes: Sequence[Outcome]

    @property
    def good(self) -> list[Outcome]:
        """The runs that have a summary."""
        return [outcome for outcome in self.outcomes if outcome.summary is not None]

    def values(self, column: Column) -> list[float]:
        """The column's values, from each run that has one."""
        found = (column.measure(outcome) for outcome in self.good)
        return [value for value in found if value is not None]


def results_json(title: str, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The results as plain JSON: each quantity with its mean, minimum and maximum over a point's
    seeds.
    """
    rows = rows_of(outcomes)
    columns = columns_of(rows)
    points = []
    for row in rows:
        figures: dict[str, Any] = {}
        for column in columns:
            if found := row.values(column):
                figures[column.key] = {"mean": fmean(found), "min": min(found), "max": max(found)}
        runs = [
            {
                "seed": outcome.job.record["seed"],
                "state": outcome.state,
                "directory": str(outcome.job.final),
            }
            | ({"message": outcome.message} if outcome.message else {})
            for outcome in row.outcomes
        ]
        points.append({"point": dict(row.point), "figures": figures, "runs": runs})
    return {"schema": 1, "title": title, "points": points}


def rows_of(outcomes: Sequence[Outcome]) -> list[Row]:
    """The runs by point, in the points' order."""
    found: dict[str, tuple[dict[str, Any], list[Outcome]]] = {}
    for outcome in outcomes:
        values = {k: v for k, v in outcome.job.record["point"].items() if k != "seed"}
        name = json.dumps(values, sort_keys=True, default=str)
        found.setdefault(name, (values, []))[1].append(outcome)
    return [Row(values, runs) for values, runs in found.values()]


def fixed_and_swept(rows: Sequence[Row]) -> tuple[dict[str, Any], list[str]]:
    """The keys with one value in all rows (`--set`), with that value, and those that vary."""
    keys = list(dict.fromkeys(key for row in rows for key in row.point))
    first = rows[0].point if rows else {}
    fixed = {k: first.get(k) for k in keys if all(r.point.get(k) == first.get(k) for r in rows)}
    return fixed, [key for key in keys if key not in fixed]


def columns_of(rows: Sequence[Row]) -> list[Column]:
    """Every column, in the order of the table."""
    parts = [part for part in labels(rows) if part]
    return [
        Column("goodput_mbps", "goodput\nMb/s", 3, goodput_mbps),
        *(
            Column(f"goodput_mbps:{part}", f"{plain(part)}\nMb/s", 3, goodput_of(part))
            for part in (parts if len(parts) > 1 else [])
        ),
        Column("link_busy_percent", "link\nbusy %", 2, lambda o: scaled(port(o, "utilization"))),
        Column("queue_delay_ms", "queue\ndelay ms", 2, lambda o: delay_ms(o, "mean")),
        Column("queue_delay_p95_ms", "95 %\nms", 2, lambda o: delay_ms(o, "p95")),
        Column("queue_packets", "queue\npackets", 1, lambda o: port(o, "queue_packets_mean")),
        Column("dropped", "dropped", 0, lambda o: port(o, "dropped")),
        Column("done_s", "done\nafter s", 2, done_s),
        Column("jain", "Jain", 4, lambda o: o.summary["jain"] if o.summary else None),
    ]


ORDER = (
    "goodput_mbps:", "queue_delay_ms", "goodput_mbps", "link_busy_percent", "dropped", "done_s",
    "jain", "queue_delay_p95_ms", "queue_packets",
)  # fmt: skip
"""The columns by importance. The goodput of each name comes before the total."""


def importance(column: Column) -> int:
    """The column's rank among those that a narrow terminal keeps."""
    name, colon, _ = column.key.partition(":")
    return ORDER.index(name + colon)


def labels(rows: Sequence[Row]) -> list[str]:
    """The label of each `[[flow]]` in all rows: its name, or else its variant.

    If the sweep changes the variant, the label is the flow's position in the file.
    """
    by_row = [flow_labels(row.outcomes[0]) for row in rows]
    longest = max(map(len, by_row), default=0)
    found = []
    for index in range(longest):
        here = {names[index] for names in by_row if index < len(names)}
        found.append(here.pop() if len(here) == 1 else f"flow.{index}")
    return list(dict.fromkeys(found))


def flow_labels(outcome: Outcome) -> list[str]:
    """The name or variant of each `[[flow]]` of a run."""
    return [
        str(flow.get("name") or flow["variant"]) for flow in outcome.job.record["scenario"]["flow"]
    ]


def goodput_mbps(outcome: Outcome, ids: range | set[int] | None = None) -> float | None:
    """The goodput of all flows, or of those with these numbers, over the whole run."""
    summary = outcome.summary
    if summary is None:
        return None
    flows = [flow for flow in summary["flows"] if ids is None or flow["id"] in ids]
    delivered_bytes = sum(flow["delivered_bytes"] for flow in flows)
    return 8e-6 * delivered_bytes / summary["duration_s"] if summary["duration_s"] else 0.0


def goodput_of(part: str) -> Measure:
    """The goodput of the flows of one label; None in a run without such flows."""

    def measure(outcome: Outcome) -> float | None:
        ids, first = set[int](), 1
        for index, flow in enumerate(outcome.job.record["scenario"]["flow"]):
            name = str(flow.get("name") or flow["variant"])
            if part in (name, f"flow.{index}"):
                ids |= set(range(first, first + flow["count"]))
            first += flow["count"]
        return goodput_mbps(outcome, ids) if ids else None

    return measure


def bottleneck(summary: Summary | None) -> BottleneckSummary | None:
    """The bottleneck's summary; None for a run of hosts alone."""
    return summary.get("bottleneck") if summary else None


def port(outcome: Outcome, key: str) -> float | None:
    """A quantity of the bottleneck's port."""
    found = bottleneck(outcome.summary)
    value: float | None = found[key] if found else None  # type: ignore[literal-required]
    return value


def delay_ms(outcome: Outcome, key: str) -> float | None:
    """The queueing delay at the bottleneck."""
    found = bottleneck(outcome.summary)
    delays = found["queue_delay_ms"] if found else None
    return delays[key] if delays else None  # type: ignore[literal-required]


def scaled(share: float | None) -> float | None:
    """A share in per cent."""
    return None if share is None else 100 * share


def done_s(outcome: Outcome) -> float | None:
    """The time when the last flow finished; None if one did not."""
    flows = outcome.summary["flows"] if outcome.summary else []
    ended = [time for flow in flows if (time := flow["completion_s"]) is not None]
    return max(ended) if ended and len(ended) == len(flows) else None
