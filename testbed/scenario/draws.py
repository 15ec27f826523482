"""Random numbers of a scenario: each is a function of the run's seed and its own name."""

from __future__ import annotations

import hashlib
from decimal import Decimal


def draw(seed: int, name: str, below: int) -> int:
    """A uniform integer in `0..below`, a function of seed and name (0 for 0).

    64 bits of SHA-256, scaled; the bias is below `below` / 2^64.
    """
    digest = hashlib.sha256(f"{seed} {name}".encode()).digest()
    return int.from_bytes(digest[:8], "big") * below >> 64


def exponential(seed: int, name: str, mean: int) -> int:
    """An exponential integer with this mean, a function of seed and name (0 for 0).

    `-mean ln(u)`, u uniform in (0, 1] in steps of 2^-64; `Decimal`'s logarithm is the same on
    every machine.
    """
    if mean == 0:
        return 0
    share = Decimal(1 + draw(seed, name, 2**64)) / Decimal(2**64)
    return int(-mean * share.ln())
