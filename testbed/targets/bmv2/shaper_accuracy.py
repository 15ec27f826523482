"""The accuracy of bmv2's rate, by its reports."""

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
"""The shortest continuous busy period over which a rate is measured."""


@dataclass(frozen=True)
class ShaperAccuracy:
    """The accuracy of a queue's rate in packets per second, by every packet's stamps."""

    late_us: Floats
    """The delay of each departure after its ideal instant. By bmv2's rule that is its arrival, but
    at least one interval after the previous ideal instant.
    """
    rates: Floats
    """For each second without idle time: packets per second, as a share of the rate."""
    bunched: float
    """The share of packets that left within half an interval of the previous one."""

    def as_json(self) -> JsonObject:
        """The values for the summary's instrument."""
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
    """Compares all departures of a port with its configured rate."""
    interval_ns = 1e9 / shaped.packets_per_s
    came, went = (left[name].to_numpy().astype(float) for name in ("enqueue_ns", "egress_ns"))
    # The ideal instant, max(arrival, previous + interval), as a running maximum.
    steps = interval_ns * np.arange(len(left))
    spell = np.maximum.accumulate(came - steps)
    ideal = spell + steps
    begins = np.flatnonzero(spell == came - steps)
    rates = []
    for first, after in zip(begins, [*begins[1:], len(left)], strict=True):
        # A busy period: ideal instants are one interval apart.
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
