"""The `linux` hosts: the kernel's TCP and UDP, each host a network namespace."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from narrows.testbed.targets.base import Hosts, SwitchSide, Tell

if TYPE_CHECKING:
    from narrows._engine import Sockets
    from narrows.schema.plan import Plan
    from narrows.schema.summary import Summary
    from narrows.testbed.problems import Problem
    from narrows.testbed.targets.linux.driver import Driver
    from narrows.testbed.targets.linux.hosts import LinuxHosts


class KernelHosts(Hosts):
    """Hosts with the kernel's TCP. The engine's applications use real sockets."""

    name = "linux"
    title = "the Linux kernel's TCP, each host a network namespace; in real time only"

    def missing(self) -> list[str]:
        """See `Hosts`."""
        from narrows.testbed import needs

        return needs.lacking("--hosts linux")

    def problems(self, plan: Plan) -> list[Problem]:
        """See `Hosts`."""
        from narrows.testbed.targets.linux import hosts

        return hosts.problems(plan) or list(self.application_problems(plan))

    def application_problems(self, plan: Plan) -> Iterator[Problem]:
        """The parts of a plan that the applications on these sockets do not support."""
        yield from ()

    def versions(self) -> dict[str, str]:
        """See `Hosts`."""
        import platform

        return {"linux": platform.release()}

    def run(self, plan: str, out: Path, progress: Tell, switch_side: SwitchSide) -> Summary:
        """See `Hosts`."""
        from narrows.testbed.targets.linux.run import run

        return run(plan, out, self.driver, switch_side, progress)

    def driver(self, plan: Plan, made: LinuxHosts, sockets: Sockets) -> Driver:
        """Returns the driver of the hosts' sockets."""
        from narrows.testbed.targets.linux.driver import Driver

        return Driver(plan, made, sockets)


LINUX: Final = KernelHosts()
