"""What the command prints: progress while runs go on, a table of results, lists."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from narrows.testbed.runs.jobs import Outcome, simulated

PLAIN_WIDTH = 140
PLAIN_EVERY_S = 30.0
"""Seconds of silence after which progress without a terminal prints a line."""

MARKS = {"done": "done", "reused": "there already", "refused": "REFUSED", "failed": "FAILED"}


def console(*, stderr: bool = False) -> Console:
    """A console as wide as the terminal; 140 columns where there is none."""
    made = Console(stderr=stderr, highlight=False)
    return made if made.is_terminal else Console(stderr=stderr, highlight=False, width=PLAIN_WIDTH)


class Shown:
    """Progress on standard error: a live bar on a terminal, a line per run elsewhere."""

    def __init__(self, total: int) -> None:
        self.console = console(stderr=True)
        self.total = total
        self.ended = 0
        self.began = self.printed = time.monotonic()
        self.bar = Progress(
            TextColumn("{task.fields[points]}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TextColumn("simulated {task.fields[simulated_s]:.0f} s"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=self.console,
            transient=True,
            disable=not self.console.is_terminal,
        )
        self.task = self.bar.add_task("", total=1.0, points="", simulated_s=0.0, left="")

    def __enter__(self) -> Shown:
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def update(self, fraction: float, simulated_s: float) -> None:
        """The bar; without a terminal a line now and then."""
        elapsed_s = time.monotonic() - self.began
        left = ""
        if fraction > 0.01 and elapsed_s > 1.0:
            left = f"about {span(elapsed_s * (1 - fraction) / fraction)} left"
        points = f"{self.ended}/{self.total} points"
        self.bar.update(
            self.task, completed=fraction, points=points, simulated_s=simulated_s, left=left
        )
        if not self.console.is_terminal and time.monotonic() - self.printed > PLAIN_EVERY_S:
            self.line(f"{points}, {fraction:.0%}, simulated {simulated_s:.0f} s, {left}")

    def finished(self, outcome: Outcome) -> None:
        """One line a run."""
        self.ended += 1
        what = f"[{self.ended}/{self.total}] {outcome.job.name}: {MARKS[outcome.state]}"
        if outcome.summary is not None:
            what += f", {simulated(outcome):.1f} s simulated in {span(outcome.wall_s)}"
        if outcome.message:
            what += f": {outcome.message}"
        self.line(what)

    def line(self, text: str) -> None:
        """A line above the bar."""
        self.printed = time.monotonic()
        self.console.print(text, markup=False, soft_wrap=True)


def span(seconds: float) -> str:
    """`12 s`, `3 min 20 s`, `2 h 5 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


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
        queue = summary.get("bottleneck") or {}
        delay_ms = queue.get("queue_delay_ms")
        table.add_row(
            outcome.job.name,
            f"{goodput_bps(summary) / 1e6:.3f}",
            f"{100 * queue['utilization']:.2f}" if queue else "-",
            completion(summary),
            f"{delay_ms['mean']:.2f}" if delay_ms else "-",
            f"{delay_ms['p95']:.2f}" if delay_ms else "-",
            f"{queue['queue_packets_mean']:.1f}" if queue else "-",
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


def goodput_bps(summary: dict[str, Any]) -> float:
    """What all flows delivered together, over the whole run."""
    delivered_bytes = sum(flow["delivered_bytes"] for flow in summary["flows"])
    return float(8 * delivered_bytes / summary["duration_s"]) if summary["duration_s"] else 0.0


def completion(summary: dict[str, Any]) -> str:
    """When the last flow was done, `-` where one was not."""
    times = [flow["completion_s"] for flow in summary["flows"]]
    return "-" if None in times else f"{max(times):.2f}"


def list_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """A plain list."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table
