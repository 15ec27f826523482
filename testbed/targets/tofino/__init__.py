"""The `tofino` target: a Tofino switch between hosts on a lab's network cards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from narrows.testbed.findings import Finding
from narrows.testbed.targets.base import Hosts, Target, Tell
from narrows.testbed.targets.dpdk import setup as dpdk
from narrows.testbed.targets.lab_file import LAB, lab_file

if TYPE_CHECKING:
    from narrows._engine import Sockets, Watch
    from narrows.schema.run import Settings
    from narrows.schema.summary import Summary
    from narrows.testbed.scenario.schema import Scenario
    from narrows.testbed.targets.tofino.lab import Lab


class Tofino(Target):
    """A Tofino switch, described in `lab.toml`."""

    name = "tofino"
    title = "a Tofino switch between our hosts on cards, in real time"
    disciplines = ("drop-tail",)
    ip_versions = (4,)
    lacks = ("queues", "trace", "duplicate")
    no_impairments = "the switch's links are not the engine's"
    no_kernel_hosts = "have no cards; expected narrows"
    options = (LAB,)

    def missing(self) -> list[str]:
        """See `Target`."""
        return dpdk.missing()

    def findings(self, options: Mapping[str, Any]) -> list[Finding]:
        """What the lab lacks. Raises `InputError`."""
        from narrows.testbed.targets.tofino import lab_findings

        path = lab_file(self.name, options)
        return lab_findings.findings(read(path), path)

    def settings(self, hosts: Hosts, options: Mapping[str, Any]) -> Settings:
        """See `Target`."""
        return {"lab": str(lab_file(self.name, options))}

    def ports(self, settings: Settings) -> Sequence[int]:
        """See `Target`."""
        return read(Path(settings["lab"])).device_ports

    def check(self, scenario: Scenario, source: str, settings: Settings) -> None:
        """See `Target`."""
        from narrows.testbed.targets.tofino import lab

        super().check(scenario, source, settings)
        path = Path(settings["lab"])
        lab.check(read(path), path, source, scenario)

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
        from narrows.testbed.targets.tofino.run import run

        return run(plan, out, progress, settings)


def read(path: Path) -> Lab:
    """Reads a lab file. Raises `InputError`."""
    from narrows.testbed.targets.tofino import lab

    return lab.read(path)


TOFINO: Final = Tofino()
