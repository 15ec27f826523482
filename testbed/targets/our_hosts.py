"""The engine's own hosts: our TCP."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from narrows.testbed.targets.base import Hosts, SwitchSide, Tell

if TYPE_CHECKING:
    from narrows.schema.summary import Summary


class OurHosts(Hosts):
    """Hosts inside the engine."""

    name = "narrows"
    title = "our TCP"
    in_kernel = False

    def run(self, plan: str, out: Path, progress: Tell, switch_side: SwitchSide) -> Summary:
        """See `Hosts`."""
        return switch_side(None, progress)


OUR_HOSTS: Final = OurHosts()
