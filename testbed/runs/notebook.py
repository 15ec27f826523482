"""Shows the progress of runs in a notebook: a bar in the cell, replaced as runs go on."""

from __future__ import annotations

import time
from typing import Any

from markupsafe import Markup

from narrows.testbed.runs.jobs import Outcome
from narrows.testbed.runs.sentences import ending, time_left
from narrows.testbed.terminal import plain


class NotebookDisplay:
    """A progress bar in the cell that runs a scenario. Failed runs stay below it."""

    def __init__(self, total: int, *, in_real_time: bool = False) -> None:
        from IPython.display import HTML, display

        self.html: Any = HTML
        self.total = total
        self.clock = "in real time" if in_real_time else "simulated"
        self.ended = 0
        self.began = time.monotonic()
        self.title = ""
        self.failures: list[str] = []
        self.handle: Any = display(HTML(""), display_id=True)

    def update(self, fraction: float, simulated_s: float) -> None:
        """Draws the bar."""
        left = time_left(fraction, time.monotonic() - self.began) if fraction < 1 else ""
        parts = [f"{self.ended}/{self.total} runs", f"{simulated_s:.0f} s {self.clock}", left]
        self._show(fraction, ", ".join(filter(None, parts)))

    def finished(self, outcome: Outcome) -> None:
        """Counts a run; keeps a line of one that failed."""
        self.ended += 1
        if outcome.message:
            self.failures.append(ending(outcome, self.clock))
        if self.ended == self.total:
            self._show(1.0, f"{self.ended}/{self.total} runs")

    def line(self, text: str) -> None:
        """Takes the first line as the title; the others are a terminal's."""
        self.title = self.title or text

    def _show(self, fraction: float, text: str) -> None:
        lines = [self.title, *self.failures]
        said = Markup().join(Markup("<div>{}</div>").format(plain(line)) for line in lines if line)
        bar = Markup('<div><progress value="{:.3f}" max="1"></progress> {}</div>')
        self.handle.update(self.html(said + bar.format(fraction, text)))
