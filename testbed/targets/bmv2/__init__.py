"""The `bmv2` target: `simple_switch_grpc` between a run's hosts, with its timing
errors measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from narrows.testbed.problems import InputError, Problem
from narrows.testbed.targets.base import Hosts, Target, Tell
from narrows.testbed.targets.dpdk import setup as dpdk

if TYPE_CHECKING:
    from narrows._engine import Sockets, Watch
    from narrows.schema.run import Settings
    from narrows.schema.summary import Summary
    from narrows.testbed.scenario.schema import Scenario


class Bmv2(Target):
    """bmv2 as the switch, with our hosts or the kernel's."""

    name = "bmv2"
    title = "bmv2's simple_switch_grpc with our hosts, in real time"
    disciplines = ("drop-tail", "p4-codel", "p4-red", "p4-pie", "p4-dualpi2")
    lacks = ("queues", "trace")
    no_impairments = "the switch's links are not the engine's"

    def missing(self) -> list[str]:
        """See `Target`."""
        from narrows.testbed.targets.bmv2 import switch

        return switch.missing() + dpdk.missing()

    def settings(self, hosts: Hosts, options: Mapping[str, Any]) -> Settings:
        """See `Target`."""
        return {"setup": dpdk.setup().as_text()}

    def check(self, scenario: Scenario, source: str, settings: Settings) -> None:
        """See `Target`. DualPI2's two queues share the rate by copies of scalable packets, of which
        a duplicate has none.
        """
        super().check(scenario, source, settings)
        what = f"--target {self.name} does not duplicate packets of"
        coupled = {
            key: port.discipline.name
            for key, port in scenario.ports().items()
            if len(port.discipline.queues()) > 1
        }
        asked = {key for key in coupled if scenario.ports()[key].duplicate}
        problems = [Problem(f"{key}.duplicate", f"{what} {coupled[key]}") for key in sorted(asked)]
        problems += [
            Problem(f"event.{index}.set.{link}.duplicate", f"{what} {', '.join(coupled.values())}")
            for index, event in enumerate(scenario.event)
            for link, change in event.set.by_link()
            if change.duplicate and coupled
        ]
        if problems:
            raise InputError(source, problems)

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
        from narrows.testbed.targets.bmv2.run import run

        return run(plan, out, progress, settings, sockets)


BMV2: Final = Bmv2()
