"""The list of targets (what a scenario runs on) and of hosts (which TCP its ends use)."""

from __future__ import annotations

from typing import Final

from narrows.testbed.targets.base import Hosts, Target
from narrows.testbed.targets.bmv2 import BMV2
from narrows.testbed.targets.dpdk import DPDK
from narrows.testbed.targets.fpga import FPGA
from narrows.testbed.targets.iperf3 import IPERF3
from narrows.testbed.targets.linux import LINUX
from narrows.testbed.targets.our_hosts import OUR_HOSTS
from narrows.testbed.targets.rtl import RTL
from narrows.testbed.targets.sim import SIM
from narrows.testbed.targets.tofino import TOFINO

_TARGETS: Final[tuple[Target, ...]] = (
    SIM,
    DPDK,
    BMV2,
    TOFINO,
    RTL,
    FPGA,
)
TARGETS: Final[dict[str, Target]] = {each.name: each for each in _TARGETS}
"""By name; the first is the default."""
HOSTS: Final[dict[str, Hosts]] = {each.name: each for each in (OUR_HOSTS, LINUX, IPERF3)}
"""By name; the first is the default."""
