"""The `fpga` target: the hardware bottleneck on a board between a lab's two ports."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from narrows.testbed.findings import Finding
from narrows.testbed.targets.base import Hosts, Target, Tell
from narrows.testbed.targets.dpdk import setup as dpdk
from narrows.testbed.targets.lab_file import LAB, lab_file

if TYPE_CHECKING:
    from narrows._engine import Sockets, Watch
    from narrows.schema.plan import Plan
    from narrows.schema.run import Settings
    from narrows.schema.summary import Summary
    from narrows.testbed.problems import Problem
    from narrows.testbed.scenario.schema import Scenario
    from narrows.testbed.targets.fpga.lab import Lab


class Fpga(Target):
    """A board with the core of fpga/rtl, described in `lab.toml`."""

    name = "fpga"
    title = "the hardware bottleneck on an FPGA board between two ports, in real time"
    records = ("queue", "flows", "messages", "capture")
    disciplines: ClassVar[tuple[str, ...]] = ("drop-tail", "ecn-threshold", "codel")
    ip_versions = (4,)
    lacks = ("queues", "trace", "ecn_threshold", "duplicate")
    no_impairments = "the board has a fixed delay"
    options = (LAB,)

    def missing(self) -> list[str]:
        """See `Target`."""
        return dpdk.missing()

    def findings(self, options: Mapping[str, Any]) -> list[Finding]:
        """What the lab lacks. Raises `InputError`."""
        from narrows.testbed.targets.fpga import lab_findings

        return lab_findings.findings(read(lab_file(self.name, options)))

    def settings(self, hosts: Hosts, options: Mapping[str, Any]) -> Settings:
        """See `Target`."""
        path = lab_file(self.name, options)
        read(path)
        return {"lab": str(path)}

    def check(self, scenario: Scenario, source: str, settings: Settings) -> None:
        """See `Target`."""
        from narrows.testbed.targets.fpga import checks

        super().check(scenario, source, settings)
        checks.check(scenario, source, self.name, self.disciplines)

    def planned(self, plan: Plan) -> Plan:
        """See `Target`. A board forwards frames as they are, so hosts know each other's address."""
        from narrows.testbed.targets.fpga.hosts import with_peers

        return with_peers(plan)

    def problems(self, plan: Plan, settings: Settings) -> list[Problem]:
        """See `Target`."""
        from narrows.testbed.targets.fpga.hosts import problems

        return problems(plan)

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
        from narrows.testbed.targets.fpga.run import run

        return run(plan, out, progress, settings, sockets)


def read(path: Path) -> Lab:
    """Reads a lab file. Raises `InputError`."""
    from narrows.testbed.targets.fpga import lab

    return lab.read(path)


FPGA: Final = Fpga()
"""A run through the board of a lab."""
