"""Numbers of a run's summary. This module imports little: `narrows run` reads it at every start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from narrows.analysis.load import Run

BOTTLENECK: Final = "bottleneck"
"""The bottleneck's port in the direction of the data, in a run's summary."""
REVERSE: Final = "reverse"
"""The port of the other direction, in the summary of a run that recorded it."""


def follow(value: Any, keys: tuple[str, ...]) -> float | None:
    """The number at the end of a path of keys in a summary; None if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return None if value is None else float(value)


def link_use_percent(run: Run, port: str = BOTTLENECK) -> float | None:
    """Share of its rate that a port used over the run, in %; None if it has no limit."""
    used = follow(run.summary, (port, "utilization"))
    return None if used is None else 100 * used


def mean_queue_delay_ms(run: Run, port: str = BOTTLENECK) -> float | None:
    """Mean queueing delay at a port by the run's summary; None if no packet left it."""
    return follow(run.summary, (port, "queue_delay_ms", "mean"))


def loss_percent(run: Run, port: str = BOTTLENECK) -> float | None:
    """Packets dropped at a port's queue over those that arrived, in %, by the summary.

    None if none arrived.
    """
    enqueued, dropped = (follow(run.summary, (port, key)) for key in ("enqueued", "dropped"))
    if enqueued is None or dropped is None or not enqueued + dropped:
        return None
    return float(100 * dropped / (enqueued + dropped))
