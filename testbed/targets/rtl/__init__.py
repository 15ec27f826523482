"""The `rtl` target: the hardware bottleneck's RTL in place of the queues, under a virtual clock."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from narrows.testbed.problems import InputError, Problem
from narrows.testbed.targets.base import Target, Tell

if TYPE_CHECKING:
    from narrows._engine import Sockets, Watch
    from narrows.schema.run import Settings
    from narrows.schema.summary import Summary
    from narrows.testbed.scenario.schema import Scenario

STEP = {"ramp": 1.0, "max-p": 1.0}
"""Parameters of `ecn-threshold` that the core does not have, and the values that it stands for."""
RATES = 1 << 40
"""Rates are below this, in bits per second; fpga/rtl/narrows_pkg.sv has the width."""


class Rtl(Target):
    """The core of fpga/rtl as a model by Verilator."""

    name = "rtl"
    title = "the hardware bottleneck's RTL, by Verilator, with our TCP under a virtual clock"
    in_real_time = False
    no_kernel_hosts = "is in real time: --target dpdk"
    disciplines = ("drop-tail", "ecn-threshold", "codel")
    lacks = ("queues", "trace")

    def missing(self) -> list[str]:
        """See `Target`."""
        from narrows.testbed.targets.rtl.library import missing

        return missing()

    def check(self, scenario: Scenario, source: str, settings: Settings) -> None:
        """See `Target`. A discipline cannot change to another one while packets wait."""
        super().check(scenario, source, settings)
        problems = list[Problem]()
        for key, port in scenario.ports().items():
            given = port.discipline.model_extra or {}
            problems += [
                Problem(
                    f"{key}.discipline.{name}", f"--target {self.name} marks in a step: {step:g}"
                )
                for name, step in STEP.items()
                if given.get(name, step) != step
            ]
            if port.rate >= RATES:
                what = f"--target {self.name} supports rates below 2^40 bit/s"
                problems.append(Problem(f"{key}.rate", what, str(port.rate)))
        names = {port.discipline.name for port in scenario.ports().values()}
        for index, event in enumerate(scenario.event):
            problems += [
                Problem(
                    f"event.{index}.set.{link}.discipline",
                    f"--target {self.name} keeps a port's discipline",
                    change.discipline.name,
                )
                for link, change in event.set.by_link()
                if change.discipline and change.discipline.name not in names
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
        from narrows.testbed.targets.rtl.run import run

        return run(plan, out, progress)


RTL: Final = Rtl()
"""A run in virtual time through the RTL."""
