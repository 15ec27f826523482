"""A run in virtual time."""

from __future__ import annotations

import json
from pathlib import Path

from narrows.testbed import catalogue
from narrows.testbed.targets.base import Json, Progress
from narrows.testbed.targets.switch_setup import set_up


def run(plan: str, out: Path, progress: Progress) -> Json:
    """Runs a plan; see `Target.run`. The switches have their state before the clock begins."""
    engine = catalogue.engine()
    switches = set_up(engine, json.loads(plan))
    return dict(engine.run(plan, str(out), progress, switches))
