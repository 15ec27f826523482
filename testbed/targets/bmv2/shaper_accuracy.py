"""How well bmv2 kept its rate, by its reports."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from narrows.testbed.targets.bmv2.control import Shaped
from narrows.testbed.targets.ledger_from_reports import quantiles

if TYPE_CHECKING:
    from narrows.schema.run import JsonObject

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]

WINDOW_NS = 10**9
"""How long a queue must be busy without a break for its rate to be measured."""


@dataclass(frozen=True)
class ShaperAccuracy:
    """How well a queue kept its rate in packets per second, by every packet's stamps."""

    late_us: Floats
    """How late each left, after the instant that bmv2's rule gives it: when it came, and not before
    one interval after the instant of the one before."""
    rates: Floats
    """Over each second in which it was never idle: packets per second, as a share of the rate."""
    bunched: float
    """The share of packets that left within half an interval after the one before."""

    def as_json(self) -> JsonObject:
        """As the instrument has it."""
        windows = len(self.rates)
        errors = self.rates - 1
        worst = float(errors[np.argmax(np.abs(errors))]) if windows else 0.0
        rate = (
            {"windows": windows, "mean": float(errors.mean()), "worst": worst} if windows else None
        )
        return {
            "departure_error_us": quantiles(self.late_us),
            "rate_error": rate,
            "bunched": self.bunched,
        }


def shaper_accuracy(left: pl.DataFrame, shaped: Shaped) -> ShaperAccuracy:
    """Compares a port's departures, all of them, with the rate that it was given."""
    interval_ns = 1e9 / shaped.packets_per_s
    came, went = (left[name].to_numpy().astype(float) for name in ("enqueue_ns", "egress_ns"))
    # The ideal instant, max(came, the one before + interval), as a running maximum.
    steps = interval_ns * np.arange(len(left))
    spell = np.maximum.accumulate(came - steps)
    ideal = spell + steps
    begins = np.flatnonzero(spell == came - steps)
    rates = []
    for first, after in zip(begins, [*begins[1:], len(left)], strict=True):
        # A busy spell: each ideal instant one interval after the one before.
        busy = went[first:after]
        edges = np.searchsorted(busy, np.arange(busy[0], busy[-1], WINDOW_NS))
        for begin, end in pairwise(edges):
            took_ns = busy[end] - busy[begin]
            rates.append((end - begin) * interval_ns / took_ns)
    gaps = np.diff(went)
    return ShaperAccuracy(
        late_us=(went - ideal) / 1000,
        rates=np.array(rates),
        bunched=float(np.mean(gaps < interval_ns / 2)) if len(gaps) else 0.0,
    )
