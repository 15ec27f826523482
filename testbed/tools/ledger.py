"""The ledger of switches that run without a scenario: `queue.parquet` and `summary.json`.

`summary.json` has each port's figures and each switch's counts. It is written last, so a directory
without it is unfinished.
"""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from narrows.schema.units import PS_PER_S
from narrows.testbed import engine
from narrows.testbed.files import sync_directory
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.scenario.schema import Instrument as Limits

if TYPE_CHECKING:
    from narrows._engine import Switch
    from narrows.schema.summary import Instrument

SCHEMA: Final = 1
INTERVAL_S: Final = 0.1
"""How often the rows leave the data path."""
TABLE: Final = "queue.parquet"
SUMMARY: Final = "summary.json"
US_PER_PS: Final = 1e-6


def new_directory(path: Path, option: str) -> None:
    """Makes the directory, in place of an earlier ledger. Raises `InputError` where something else
    is there, or nothing can be made.
    """
    try:
        if path.is_dir() and any(path.iterdir()):
            if not (path / TABLE).is_file():
                what = "has other files; expected a new directory, or an earlier ledger"
                raise InputError(option, [Problem(str(path), what)])
            shutil.rmtree(path)
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = f"cannot create this directory ({error.strerror}); expected a writable place"
        raise InputError(option, [Problem(str(path), what)]) from None


class Ledger:
    """Writes the rows of some switches to a directory, on a thread, until `finish`.

    The switches are configured with `record_queue`.
    """

    def __init__(self, directory: Path, switches: Mapping[str, Switch]) -> None:
        self.directory = directory
        self.error: Exception | None = None
        """Why rows are missing; None if none are."""
        self._switches = switches
        self._ledger = engine.Ledger(str(directory), list(switches.items()))
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="ledger", daemon=True)

    def __enter__(self) -> Self:
        self.begin()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def begin(self) -> None:
        """Takes rows from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Stops the thread that takes rows. Call it before the data path ends."""
        self._is_over.set()
        if self._thread.is_alive():
            self._thread.join()

    def finish(self, instrument: Instrument | None, more: Mapping[str, Any]) -> dict[str, Any]:
        """Takes the last rows, and writes the summary with `more` in it; returns the summary.

        `instrument` has the errors of a data path in real time. Raises `RunError` if a row could
        not be written.
        """
        self.stop()
        if self.error is not None:
            raise self.error
        ports = self._ledger.finish() or []
        reasons = excesses(instrument) if instrument is not None else []
        summary: dict[str, Any] = {
            "schema": SCHEMA,
            "valid": not reasons,
            "invalid_reason": "; ".join(reasons) or None,
            "duration_s": max(one.now_ps() for one in self._switches.values()) / PS_PER_S,
            **more,
            "ports": ports,
            "switches": {name: one.statistics() for name, one in self._switches.items()},
        }
        if instrument is not None:
            summary["instrument"] = instrument
        text = json.dumps(summary, indent=2, ensure_ascii=False)
        (self.directory / SUMMARY).write_text(text + "\n", encoding="utf-8")
        sync_directory(self.directory)
        return summary

    def _watch(self) -> None:
        try:
            while not self._is_over.wait(INTERVAL_S):
                self._ledger.take()
        except Exception as error:  # raised again by `finish`
            self.error = error


def excesses(instrument: Instrument) -> list[str]:
    """What the data path did worse than a scenario's default limits allow."""
    limits = Limits()
    found = []
    gap_us, most_us = instrument["polls"]["gap_max_us"], limits.poll_gap * US_PER_PS
    if gap_us > most_us:
        found.append(f"the loop did not poll for {gap_us:.1f} us, at most {most_us:g} us")
    most_us = limits.departure_error * US_PER_PS
    for wire in instrument["wires"]:
        late_us = wire["departure_error_us"]["p99"]
        if late_us > most_us:
            what = f"1 % of packets left over {late_us:.1f} us late, at most {most_us:g} us"
            found.append(f"{wire['name']}: {what}")
        lost = wire["not_sent"] + wire["without_memory"] + wire["missed"]
        if lost > limits.lost_packets:
            found.append(f"{wire['name']}: the instrument lost {lost} packets")
    return found
