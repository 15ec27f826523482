"""The `sim` target: the software P4 target and our TCP under a virtual clock."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from narrows.testbed.targets.base import Target, Tell

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
        from narrows.testbed.targets.sim.run import run

        return run(plan, out, progress, watch)


SIM: Final = Sim()
