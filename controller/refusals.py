"""Messages about updates that a switch refused."""

from collections.abc import Sequence

#: Limits the message: a full table refuses every remaining entry.
NAMED = 8


def listed(refusals: Sequence[str]) -> str:
    """One line for each of the first refusals, then the number of others."""
    more = len(refusals) - NAMED
    return "\n".join([*refusals[:NAMED], *([f"and {more} more"] if more > 0 else [])])
