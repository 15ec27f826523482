"""A run in virtual time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from narrows.testbed import engine
from narrows.testbed.targets.base import Tell
from narrows.testbed.targets.direct_setup import set_up

if TYPE_CHECKING:
    from narrows._engine import Watch
    from narrows.schema.summary import Summary


def run(
    plan: str, out: Path, progress: Tell, cores: int = 1, watch: Watch | None = None
) -> Summary:
    """Runs a plan on so many cores; see `Target.run`. The switches have their state before the
    clock begins.
    """
    switches = set_up(json.loads(plan))
    summary: Summary = engine.run(plan, str(out), progress, switches, watch=watch, threads=cores)
    return summary
