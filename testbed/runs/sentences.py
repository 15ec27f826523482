"""What a display of progress says of runs, in words."""

from __future__ import annotations

from narrows.testbed.runs.jobs import Outcome

MARKS = {"done": "done", "reused": "there already", "refused": "REFUSED", "failed": "FAILED"}


def time_left(fraction: float, elapsed_s: float) -> str:
    """`about 12 s left`; empty while it is not known."""
    if fraction <= 0.01 or elapsed_s <= 1.0:
        return ""
    return f"about {span(elapsed_s * (1 - fraction) / fraction)} left"


def ending(outcome: Outcome, clock: str) -> str:
    """How a run ended, in a line; its duration is `clock`, "simulated" or "in real time"."""
    what = f"{outcome.job.name}: {MARKS[outcome.state]}"
    if outcome.summary is not None:
        what += f", {outcome.simulated_s:.1f} s {clock}"
        if not outcome.job.target.in_real_time:
            what += f", took {span(outcome.wall_s)}"
    return f"{what}: {outcome.message}" if outcome.message else what


def span(seconds: float) -> str:
    """`12 s`, `3 min 20 s`, `2 h 5 min`."""
    rounded_s = round(seconds)
    if rounded_s < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{rounded_s} s"
    if rounded_s < 3600:
        return f"{rounded_s // 60} min {rounded_s % 60} s"
    return f"{rounded_s // 3600} h {rounded_s % 3600 // 60} min"
