"""Shows the progress of runs: a live bar on a terminal, lines elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import Protocol

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from narrows.testbed.runs.jobs import Display, Outcome
from narrows.testbed.runs.sentences import ending, time_left
from narrows.testbed.terminal import console, plain

PLAIN_EVERY_S = 30.0
"""Seconds of silence after which progress without a terminal prints a line."""


class ProgressDisplay:
    """Progress on standard error: a live bar on a terminal, a line per run elsewhere."""

    def __init__(self, total: int, *, in_real_time: bool = False) -> None:
        self.console = console(stderr=True)
        self.total = total
        self.clock = "in real time" if in_real_time else "simulated"
        self.ended = 0
        self.began = self.printed = time.monotonic()
        self.bar = Progress(
            TextColumn("{task.fields[points]}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TextColumn("{task.fields[simulated_s]:.0f} s " + self.clock),
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
        """Updates the bar; without a terminal, prints an occasional line."""
        left = time_left(fraction, time.monotonic() - self.began)
        points = f"{self.ended}/{self.total} runs"
        self.bar.update(
            self.task, completed=fraction, points=points, simulated_s=simulated_s, left=left
        )
        if not self.console.is_terminal and time.monotonic() - self.printed > PLAIN_EVERY_S:
            said = [points, f"{fraction:.0%}", f"{simulated_s:.0f} s {self.clock}", left]
            self.line(", ".join(filter(None, said)))

    def finished(self, outcome: Outcome) -> None:
        """Prints one line per run."""
        self.ended += 1
        self.line(f"[{self.ended}/{self.total}] {ending(outcome, self.clock)}")

    def line(self, text: str) -> None:
        """Prints a line above the bar."""
        self.printed = time.monotonic()
        self.console.print(plain(text), soft_wrap=True)


def in_notebook() -> bool:
    """True in a Jupyter kernel, whose cells show HTML."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and hasattr(shell, "kernel")


class FullDisplay(Display, Protocol):
    """A display that also prints lines."""

    def line(self, text: str) -> None:
        """Shows a line of text."""


class Silent:
    """A display that shows nothing."""

    def update(self, fraction: float, simulated_s: float) -> None:
        """Does nothing."""

    def finished(self, outcome: Outcome) -> None:
        """Does nothing."""

    def line(self, text: str) -> None:
        """Does nothing."""


@contextlib.contextmanager
def progress_display(
    total: int, *, in_real_time: bool = False, quiet: bool = False
) -> Iterator[FullDisplay]:
    """Shows the progress of so many runs, unless it is to be quiet."""
    if quiet:
        yield Silent()
        return
    if in_notebook():
        from narrows.testbed.runs.notebook import NotebookDisplay

        yield NotebookDisplay(total, in_real_time=in_real_time)
        return
    with ProgressDisplay(total, in_real_time=in_real_time) as display:
        yield display
