"""Shows the progress of runs: a live bar on a terminal, lines elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from narrows.testbed.runs.jobs import Display, Outcome
from narrows.testbed.runs.sentences import ending, time_left
from narrows.testbed.terminal import console, is_terminal, plain

if TYPE_CHECKING:
    from rich.progress import Progress

PLAIN_EVERY_S = 30.0
"""Seconds of silence after which progress without a terminal prints a line."""
BAR_AFTER_S = 0.2
"""Seconds until a terminal has a bar. A shorter run does not wait for the import of rich."""


class Lines:
    """Progress on standard error, where that is no terminal: a line per run, and now and then one
    about those that go on.
    """

    def __init__(self, total: int, *, in_real_time: bool = False) -> None:
        self.total = total
        self.clock = "in real time" if in_real_time else "simulated"
        self.ended = 0
        self.began = self.printed = time.monotonic()

    def update(self, fraction: float, simulated_s: float) -> None:
        """Prints an occasional line."""
        if time.monotonic() - self.printed > PLAIN_EVERY_S:
            said = [self.points, f"{fraction:.0%}", f"{simulated_s:.0f} s {self.clock}"]
            self.line(", ".join(filter(None, [*said, self.left(fraction)])))

    def finished(self, outcome: Outcome) -> None:
        """Prints one line per run."""
        self.ended += 1
        self.line(f"[{self.ended}/{self.total}] {ending(outcome, self.clock)}")

    def line(self, text: str) -> None:
        """Prints a line."""
        self.printed = time.monotonic()
        print(plain(text), file=sys.stderr, flush=True)

    @property
    def points(self) -> str:
        """How many runs have ended."""
        return f"{self.ended}/{self.total} runs"

    def left(self, fraction: float) -> str:
        """How long the rest takes."""
        return time_left(fraction, time.monotonic() - self.began)


class Bar(Lines):
    """Progress on a terminal: a live bar below the lines, after `BAR_AFTER_S`."""

    def __init__(self, total: int, *, in_real_time: bool = False) -> None:
        super().__init__(total, in_real_time=in_real_time)
        self.bar: Progress | None = None

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def update(self, fraction: float, simulated_s: float) -> None:
        """Updates the bar."""
        if self.bar is None:
            if time.monotonic() - self.began < BAR_AFTER_S:
                return
            self.bar = bar(self.clock)
            self.bar.start()
        self.bar.update(
            self.bar.task_ids[0], completed=fraction, points=self.points, simulated_s=simulated_s,
            left=self.left(fraction),
        )  # fmt: skip

    def line(self, text: str) -> None:
        """Prints a line above the bar."""
        if self.bar is None:
            super().line(text)
        else:
            self.bar.console.print(plain(text), soft_wrap=True)


def bar(clock: str) -> Progress:
    """A bar with its only task: the share that is done, and seconds by this clock."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    made = Progress(
        TextColumn("{task.fields[points]}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TextColumn("{task.fields[simulated_s]:.0f} s " + clock),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
        console=console(stderr=True),
        transient=True,
    )
    made.add_task("", total=1.0, points="", simulated_s=0.0, left="")
    return made


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
    if not is_terminal(sys.stderr):
        yield Lines(total, in_real_time=in_real_time)
        return
    with Bar(total, in_real_time=in_real_time) as display:
        yield display
