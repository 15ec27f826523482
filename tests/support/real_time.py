"""What measures the running machine: its threads wake late now and then, and its cores are stolen.

Such a test's tolerances are those of the thing measured. A burst may spoil one measurement, and it
is taken again, up to three times, each a little later; what is wrong is wrong each time. The
summary counts the repeated ones. Where the loops under test say themselves that they looked away
for long, what they measured says nothing, and the test is left out by that name.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from narrows.testbed import catalogue

real_time = pytest.mark.flaky(reruns=3, reruns_delay=2)
needs_dpdk = pytest.mark.skipif(
    catalogue.engine().dpdk_version() is None, reason="needs libdpdk: narrows doctor"
)
STOOD_STILL_US = 20_000
"""A loop that looked away for longer says nothing about rates and delays."""


@contextmanager
def judged(*gaps_us: float) -> Iterator[None]:
    """What is asserted within is excused, by name, on a machine that stood still meanwhile: each
    loop's longest time between two looks tells."""
    try:
        yield
    except AssertionError as error:
        if max(gaps_us) > STOOD_STILL_US:
            what = str(error).partition("\n")[0]
            pytest.skip(f"the machine stood still for {max(gaps_us):.0f} us: {what}")
        raise
