"""A run in virtual time whose ports with a rate are cores of the RTL."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from narrows.testbed import engine
from narrows.testbed.targets.base import Tell
from narrows.testbed.targets.direct_setup import set_up
from narrows.testbed.targets.rtl.library import BuildError, library

if TYPE_CHECKING:
    from narrows.schema.summary import Summary


def run(plan: str, out: Path, progress: Tell) -> Summary:
    """Runs a plan; see `Target.run`. The controller sets up the switches before they get cores."""
    try:
        cores = library()
    except BuildError as error:
        raise engine.RunError(f"the model of fpga/rtl: {error}") from None
    switches = set_up(json.loads(plan))
    summary: Summary = engine.run(plan, str(out), progress, switches, cores=cores)
    return summary
