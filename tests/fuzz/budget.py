"""How many cases the fuzz tests try: few in `make test`, many more in `make fuzz`."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, settings

SCALE = int(os.environ.get("NARROWS_FUZZ_SCALE", "1"))
"""`make fuzz` sets it."""


def cases(number: int) -> Callable[[Any], Any]:
    """A test with so many cases, times `SCALE`. What fails is kept in `.hypothesis`."""
    return settings(
        max_examples=number * SCALE,
        deadline=timedelta(seconds=20),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
        derandomize=SCALE == 1,
    )
