"""The tables that the command prints: of results, of a paper's claims, of a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table

from narrows.testbed.runs.jobs import Outcome

if TYPE_CHECKING:
    from narrows.schema.summary import Summary


def results_table(title: str, outcomes: Sequence[Outcome]) -> Table:
    """One row a run: goodput, completion, queue, losses."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("point", overflow="fold")
    for name in (
        "goodput\nMb/s", "link\nbusy %", "done\nafter s", "queue\ndelay ms", "95 %\nms",
        "queue\npackets", "dropped", "Jain",
    ):  # fmt: skip
        table.add_column(name, justify="right")
    for outcome in outcomes:
        summary = outcome.summary
        if summary is None:
            table.add_row(outcome.job.name, *["-"] * 8)
            continue
        # A run of hosts alone has no queue.
        queue = summary.get("bottleneck")
        delay_ms = queue["queue_delay_ms"] if queue else None
        busy = queue["utilization"] if queue else None
        waiting = queue["queue_packets_mean"] if queue else None
        table.add_row(
            outcome.job.name,
            f"{goodput_bps(summary) / 1e6:.3f}",
            "-" if busy is None else f"{100 * busy:.2f}",
            completion(summary),
            f"{delay_ms['mean']:.2f}" if delay_ms else "-",
            f"{delay_ms['p95']:.2f}" if delay_ms else "-",
            "-" if waiting is None else f"{waiting:.1f}",
            str(queue["dropped"]) if queue else "-",
            f"{summary['jain']:.4f}",
        )
    return table


def claims_table(title: str, claims: Sequence[dict[str, Any]]) -> Table:
    """One row a claim of a paper: the verdict and what it rests on."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("claim", "verdict", "judged by"):
        table.add_column(name, overflow="fold")
    for claim in claims:
        verdict = "\n".join([claim["verdict"], *claim["depends_on"]])
        table.add_row(claim["claim"], verdict, claim["evidence"].replace("; ", "\n"))
    return table


def goodput_bps(summary: Summary) -> float:
    """What all flows delivered together, over the whole run."""
    delivered_bytes = sum(flow["delivered_bytes"] for flow in summary["flows"])
    return float(8 * delivered_bytes / summary["duration_s"]) if summary["duration_s"] else 0.0


def completion(summary: Summary) -> str:
    """When the last flow was done, `-` where one was not."""
    times = [flow["completion_s"] for flow in summary["flows"]]
    ended = [time for time in times if time is not None]
    return f"{max(ended):.2f}" if len(ended) == len(times) else "-"


def list_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """A plain list."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table
