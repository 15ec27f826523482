"""Shows how far runs are: a live bar on a terminal, lines elsewhere."""

from __future__ import annotations

import time

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from narrows.testbed.runs.jobs import Outcome, simulated
from narrows.testbed.terminal import console, plain

PLAIN_EVERY_S = 30.0
"""Seconds of silence after which progress without a terminal prints a line."""

MARKS = {"done": "done", "reused": "there already", "refused": "REFUSED", "failed": "FAILED"}


class ProgressDisplay:
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

    def __enter__(self) -> ProgressDisplay:
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
        self.console.print(plain(text), soft_wrap=True)


def span(seconds: float) -> str:
    """`12 s`, `3 min 20 s`, `2 h 5 min`."""
    rounded_s = round(seconds)
    if rounded_s < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{rounded_s} s"
    if rounded_s < 3600:
        return f"{rounded_s // 60} min {rounded_s % 60} s"
    return f"{rounded_s // 3600} h {rounded_s % 3600 // 60} min"


class Silent:
    """A display that shows nothing."""

    def update(self, fraction: float, simulated_s: float) -> None:
        """Nothing to show."""

    def finished(self, outcome: Outcome) -> None:
        """Nothing to show."""
