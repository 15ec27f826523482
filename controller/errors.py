"""Errors of clients and drivers, and the message about refused updates."""

from collections.abc import Sequence

NAMED = 8
"""Limits the message: a full table refuses every remaining entry."""


class ControllerError(Exception):
    """The switch refused a request or is unreachable."""


class LateError(ControllerError):
    """A switch did not answer in time."""


class DriverError(Exception):
    """The target refused a setting or cannot express it."""


def listed(refusals: Sequence[str]) -> str:
    """One line for each of the first refusals, then the number of others."""
    more = len(refusals) - NAMED
    return "\n".join([*refusals[:NAMED], *([f"and {more} more"] if more > 0 else [])])
