"""The engine between a shell's two ends, on a thread of its own."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Self

from narrows.testbed import engine
from narrows.testbed.runs.jobs import Job
from narrows.testbed.targets.dpdk import DPDK
from narrows.testbed.tools.shell.network import Ends
from narrows.testbed.tools.shell.processes import interrupted

if TYPE_CHECKING:
    from narrows._engine import Watch
    from narrows.schema.summary import Progress, Summary

POLL_S = 0.02


class Engine:
    """Runs a plan from `__enter__` until `end`."""

    def __init__(self, ends: Ends, out: Path, job: Job, watch: Watch | None) -> None:
        plan = json.dumps(ends.plan)
        self._sockets = engine.Sockets(plan, ends.devices)
        self._is_over = False
        self._is_cancelled = False
        self._summary: Summary | None = None
        self._error: Exception | None = None

        def work() -> None:
            try:
                given = (plan, out, self._tell, job.settings, self._sockets)
                self._summary = DPDK.run(*given, watch)
            except Exception as error:  # raised again by `check`
                self._error = error

        self._thread = threading.Thread(target=work, name="engine")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_cancelled = True
        self._thread.join()

    def wait_until_ready(self) -> int:
        """Waits until packets pass. Returns when the clock began, by CLOCK_MONOTONIC_RAW in ns.
        Raises the engine's error, or `KeyboardInterrupt`.
        """
        while (began_ns := self._sockets.began_ns) is None:
            interrupted()
            self.check()
            self._thread.join(POLL_S)
        return began_ns

    def check(self) -> None:
        """Raises the error that ended the engine."""
        if self._error is not None:
            raise self._error

    def end(self) -> Summary:
        """Ends the run now; returns its summary. Raises the engine's error."""
        self._is_over = True
        self._thread.join()
        self.check()
        assert self._summary is not None
        return self._summary

    def _tell(self, progress: Progress) -> bool:
        if self._is_cancelled:
            return False
        # The engine takes a time as the end of the run.
        return progress["time_ps"] if self._is_over else True  # type: ignore[return-value]
