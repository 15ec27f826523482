"""What is said of the updates that a switch refused."""

from collections.abc import Sequence

#: So many are named; a full table refuses every entry that is left.
NAMED = 8


def listed(refusals: Sequence[str]) -> str:
    """A line for each of the first, and how many more there are."""
    more = len(refusals) - NAMED
    return "\n".join([*refusals[:NAMED], *([f"and {more} more"] if more > 0 else [])])
