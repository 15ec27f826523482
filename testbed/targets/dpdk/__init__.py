"""The `dpdk` target: the software P4 target on DPDK ports, in real time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from narrows.schema.budgets import LIVE_PORTS
from narrows.testbed import needs
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.targets.base import Hosts, Option, Target, Tell
from narrows.testbed.targets.dpdk import setup as dpdk

if TYPE_CHECKING:
    from narrows._engine import Sockets, Watch
    from narrows.schema.plan import Plan
    from narrows.schema.run import Settings
    from narrows.schema.summary import Summary


class Dpdk(Target):
    """The software P4 target on DPDK ports."""

    name = "dpdk"
    can_watch = True
    title = "the software P4 target on DPDK ports, in real time"
    options = (
        Option(
            "--processes",
            "with --target dpdk: run switches and hosts in two processes, joined by shared memory "
            "(default with three cores or more)",
        ),
    )

    def missing(self) -> list[str]:
        """See `Target`."""
        return dpdk.missing()

    def settings(self, hosts: Hosts, options: Mapping[str, Any]) -> Settings:
        """See `Target`. With three cores, switches and hosts get a process each unless
        `--processes` decides.
        """
        processes = options.get("processes")
        if processes is None:
            processes = not hosts.in_kernel and needs.cores() > 2
        if processes and hosts.in_kernel:
            problem = Problem(f"{self.name}, {hosts.name}", "requires our hosts and --target dpdk")
            raise InputError("--processes", [problem])
        return dpdk.RunSettings(dpdk.setup(), processes).as_json()

    def problems(self, plan: Plan, settings: Settings) -> list[Problem]:
        """See `Target`. DPDK opens so many ports in a process."""
        if settings["devices"]:
            return []
        both = 2 * len(plan["cables"])
        if settings["processes"]:
            # A cable of a host or collector has one of its ports in the hosts' process.
            both -= sum("switch" not in cable["b"] for cable in plan["cables"])
        if both <= LIVE_PORTS:
            return []
        what = f"needs {both} DPDK ports in a process: expected at most {LIVE_PORTS}"
        remedy = "use --target sim" if settings["processes"] else "try --processes, or --target sim"
        return [Problem("cables", f"{what}; {remedy}", len(plan["cables"]))]

    def run(
        self,
        plan: str,
        out: Path,
        progress: Tell,
        settings: Settings,
        sockets: Sockets | None = None,
        watch: Watch | None = None,
    ) -> Summary:
        """See `Target`."""
        from narrows.testbed.targets.dpdk.run import run

        return run(plan, out, progress, settings, sockets, watch)


DPDK: Final = Dpdk()
