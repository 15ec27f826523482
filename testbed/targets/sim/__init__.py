"""The `sim` target: the software P4 target and our TCP under a virtual clock."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from narrows.testbed import needs
from narrows.testbed.problems import InputError, Problem
from narrows.testbed.targets.base import Hosts, Option, Target, Tell

if TYPE_CHECKING:
    from narrows._engine import Sockets, Watch
    from narrows.schema.run import Settings
    from narrows.schema.summary import Summary


class Sim(Target):
    """The software P4 target under a virtual clock."""

    name = "sim"
    title = "the software P4 target and our TCP under a virtual clock"
    in_real_time = False
    can_watch = True
    no_kernel_hosts = "is in real time: --target dpdk"
    options = (
        Option(
            "--cores",
            "with --target sim: share one run out among so many cores, with the same results "
            "(default 1); several runs share them, each on one core",
            metavar="N",
        ),
    )

    def settings(self, hosts: Hosts, options: Mapping[str, Any]) -> Settings:
        """See `Target`."""
        cores = options.get("cores")
        if cores is None:
            return {}
        if not str(cores).isascii() or not str(cores).isdigit() or int(cores) < 1:
            raise InputError("--cores", [Problem(str(cores), "expected a number from 1 on")])
        return {"cores": int(cores)}

    def settings_of_each(self, settings: Settings, runs: int) -> Settings:
        """See `Target`. A sweep is fastest with one core for each run."""
        cores = int(str(settings.get("cores", 1)))
        return settings | {"cores": max(1, cores // runs)} if settings else settings

    def prepare(self) -> None:
        """See `Target`. Also loads the program of most scenarios."""
        super().prepare()
        from narrows.testbed.targets.direct_setup import load_ahead

        load_ahead()

    def run(
        self,
        plan: str,
        out: Path,
        progress: Tell,
        settings: Settings,
        sockets: Sockets | None = None,
        watch: Watch | None = None,
    ) -> Summary:
        """See `Target`. Threads that outnumber the cores of this process would take turns."""
        from narrows.testbed.targets.sim.run import run

        cores = min(int(str(settings.get("cores", 1))), needs.cores())
        return run(plan, out, progress, cores, watch)


SIM: Final = Sim()
