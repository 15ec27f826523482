"""The engine's own hosts: our TCP."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from narrows.testbed.targets.base import Hosts, Json, Progress, SwitchSide


class OurHosts(Hosts):
    """Hosts that the engine has beside its switches."""

    name = "narrows"
    title = "our TCP"
    in_kernel = False

    def run(self, plan: str, out: Path, progress: Progress, switch_side: SwitchSide) -> Json:
        """See `Hosts`."""
        return switch_side(None, progress)


OUR_HOSTS: Final = OurHosts()
