"""What measures the running machine: its threads wake late now and then, and its cores are stolen.

Such a test's tolerances are those of the thing measured. A burst may spoil one measurement, and it
is taken again, up to twice; what is wrong is wrong each time. The summary counts the repeated ones.
"""

import pytest

from testbed import catalogue

real_time = pytest.mark.flaky(reruns=2)
needs_dpdk = pytest.mark.skipif(
    catalogue.engine().dpdk_version() is None, reason="needs libdpdk: narrows doctor"
)
