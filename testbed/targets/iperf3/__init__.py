"""The `iperf3` hosts: the kernel's, with iperf3 as the application."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from narrows.testbed.problems import Problem
from narrows.testbed.targets.linux import KernelHosts

if TYPE_CHECKING:
    from narrows._engine import Sockets
    from narrows.schema.plan import Plan
    from narrows.testbed.targets.linux.driver import Driver
    from narrows.testbed.targets.linux.hosts import LinuxHosts


def lacking() -> list[str]:
    """What this machine lacks for iperf3, besides the needs of the kernel's hosts."""
    import shutil

    return [] if shutil.which("iperf3") else ["iperf3 is not installed"]


class Iperf3Hosts(KernelHosts):
    """The kernel's hosts, with bulk flows by iperf3."""

    name = "iperf3"
    title = "the Linux kernel's TCP, with iperf3 for bulk flows"

    def missing(self) -> list[str]:
        """See `Hosts`."""
        return super().missing() + lacking()

    def application_problems(self, plan: Plan) -> Iterator[Problem]:
        """See `KernelHosts`."""
        from narrows.testbed.targets.iperf3 import sockets

        for lack in lacking():
            yield Problem("", f"{lack}; narrows doctor shows the remedy")
        yield from sockets.problems(plan)

    def driver(self, plan: Plan, made: LinuxHosts, sockets: Sockets) -> Driver:
        """See `KernelHosts`."""
        from narrows.testbed.targets.iperf3.sockets import Iperf3

        return Iperf3(plan, made, sockets)


IPERF3: Final = Iperf3Hosts()
