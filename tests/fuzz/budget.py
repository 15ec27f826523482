"""The number of cases in fuzz tests: few in `make test`, many in `make fuzz`."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, settings

SCALE = int(os.environ.get("NARROWS_FUZZ_SCALE", "1"))
"""`make fuzz` sets it."""


def cases(number: int) -> Callable[[Any], Any]:
    """A test with this many cases, times `SCALE`. Failures are kept in `.hypothesis`."""
    return settings(
        max_examples=number * SCALE,
        deadline=timedelta(seconds=20),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
        derandomize=SCALE == 1,
    )
